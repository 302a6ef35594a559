"""The routes of asking."""

from django.urls import path

from rag.contracts.ask import ask
from rag.contracts.health import health
from rag.contracts.metrics import metrics
from rag.contracts.query import query
from rag.contracts.v1.urls import urlpatterns as platform

urlpatterns = [
    path("api/v1/rag/ask", ask, name="ask"),
    path("api/v1/rag/query", query, name="rag-query"),
    path("query", query, name="query"),
    path("health", health, name="health"),
    path("metrics", metrics, name="metrics"),
    *platform,
]
