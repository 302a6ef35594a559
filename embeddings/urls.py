from django.urls import path

from embeddings.views import generate, search

urlpatterns = [
    path("api/v1/embeddings/generate", generate),
    path("api/v1/embeddings/generate/<str:document_id>", generate),
    path("api/v1/embeddings/search", search),
]
