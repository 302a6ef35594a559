from django.urls import path

from documents.views import DocumentChunksView, DocumentListView, DocumentPagesView, DocumentView

# Ids are taken as plain text: the view answers a malformed one with 400, where <uuid:…> would make it a 404.
# Their name is the one that the API and its schema use.
urlpatterns = [
    path("api/v1/documents", DocumentListView.as_view()),
    path("api/v1/documents/<str:documentId>", DocumentView.as_view()),
    path("api/v1/documents/<str:documentId>/chunks", DocumentChunksView.as_view()),
    path("api/v1/documents/<str:documentId>/pages", DocumentPagesView.as_view()),
]
