from django.urls import path

from embeddings.views import generate, generate_document, search

urlpatterns = [
    path("api/v1/embeddings/generate", generate),
    path("api/v1/embeddings/generate/<str:documentId>", generate_document),
    path("api/v1/embeddings/search", search),
]
