"""The routes of asking."""

from django.urls import path

from rag.api.ask import ask
from rag.api.health import health
from rag.api.metrics import metrics
from rag.api.query import query
from rag.api.v1.urls import urlpatterns as platform

urlpatterns = [
    path("api/v1/rag/ask", ask, name="ask"),
    path("api/v1/rag/query", query, name="rag-query"),
    path("query", query, name="query"),
    path("health", health, name="health"),
    path("metrics", metrics, name="metrics"),
    *platform,
]
