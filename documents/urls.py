from django.urls import path

from documents.views import DocumentChunksView, DocumentListView, DocumentView

# Ids are taken as plain text: the view answers a malformed one with 400, where <uuid:…> would make it a 404.
urlpatterns = [
    path("api/v1/documents", DocumentListView.as_view()),
    path("api/v1/documents/<str:document_id>", DocumentView.as_view()),
    path("api/v1/documents/<str:document_id>/chunks", DocumentChunksView.as_view()),
]
