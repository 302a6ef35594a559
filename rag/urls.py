"""The routes of all faces that ask, and of the Platform API.

Ids are plain text, so that a malformed one is a 400 and no 404.
"""

from django.urls import path

from knowlex.web.methods import methods
from knowlex.web.openapi import renamed
from rag.api.ask import ask
from rag.api.dify import retrieve
from rag.api.health import health, metrics
from rag.api.login import LogIn, log_out
from rag.api.mcp import mcp
from rag.api.openai import completions, embeddings, models
from rag.api.page import page
from rag.api.query import query as ask_query
from rag.api.v1 import (
    collections,
    conversations,
    documents,
    evaluations,
    feedback,
    ingest,
    pages,
    queries,
    query,
    question_sets,
    search,
    sources,
    spelling,
    webhooks,
)

_COLLECTION = "v1/collections/<str:collection_id>"
_EVALUATION = "v1/evaluations/<str:evaluation_id>"
_DOCUMENT = "v1/documents/<str:document_id>"
_SOURCE = "v1/sources/<str:source_id>"
_QUERY = "v1/queries/<str:query_id>"
_WEBHOOK = "v1/webhooks/<str:webhook_id>"

urlpatterns = [
    path("", page),
    path("documents", page),
    path("documents/<str:document_id>", page),
    path("d/<str:document_id>", page),
    path("login", LogIn.as_view(), name="login"),
    path("logout", log_out),
    path("api/v1/rag/ask", ask, name="ask"),
    path("api/v1/rag/query", renamed(ask_query, "ragQuery"), name="rag-query"),
    path("query", ask_query, name="query"),
    path("health", health, name="health"),
    path("metrics", metrics, name="metrics"),
    path("v1/collections", methods(GET=collections.index, POST=collections.create)),
    path(
        _COLLECTION,
        methods(GET=collections.show, PATCH=collections.change, DELETE=collections.remove),
    ),
    path(f"{_COLLECTION}/stats", methods(GET=collections.stats)),
    path("v1/ingest", methods(GET=ingest.index, POST=ingest.create)),
    path("v1/ingest/<str:job_id>", methods(GET=ingest.show)),
    path("v1/ingest/<str:job_id>/retry", methods(POST=ingest.retry)),
    path("mcp", methods(POST=mcp), name="mcp"),
    path("v1/query", methods(POST=query.create)),
    path("v1/search", methods(POST=search.create)),
    path("v1/spelling", methods(GET=spelling.show)),
    path("v1/documents", methods(GET=documents.index)),
    path(_DOCUMENT, methods(GET=documents.show, PUT=documents.replace, DELETE=documents.remove)),
    path(f"{_DOCUMENT}/retry", methods(POST=documents.retry)),
    path(f"{_DOCUMENT}/chunks", methods(GET=documents.chunks)),
    path(f"{_DOCUMENT}/pages", methods(GET=documents.pages)),
    path(f"{_DOCUMENT}/pages/<str:number>", methods(GET=pages.show)),
    path(f"{_DOCUMENT}/pages/<str:number>/image", methods(GET=pages.image)),
    path(f"{_DOCUMENT}/highlights", methods(GET=pages.highlights)),
    path(f"{_DOCUMENT}/file", methods(GET=pages.file)),
    path("v1/sources", methods(GET=sources.index, POST=sources.create)),
    path(_SOURCE, methods(GET=sources.show, PATCH=sources.change, DELETE=sources.remove)),
    path(f"{_SOURCE}/sync", methods(POST=sources.sync)),
    path(f"{_SOURCE}/items", methods(GET=sources.items)),
    path("v1/models", methods(GET=models.index)),
    path("v1/models/<path:model>", methods(GET=models.show)),
    path("v1/chat/completions", methods(POST=completions.create)),
    path("v1/embeddings", methods(POST=embeddings.create)),
    path("v1/dify/retrieval", methods(POST=retrieve)),
    path("v1/conversations", methods(GET=conversations.index)),
    path("v1/conversations/<path:conversation_id>", methods(GET=conversations.show)),
    path("v1/queries", methods(GET=queries.index)),
    path(_QUERY, methods(GET=queries.show, DELETE=queries.remove)),
    path(f"{_QUERY}/replay", methods(POST=queries.ask_again)),
    path("v1/feedback", methods(POST=feedback.create)),
    path("v1/webhooks", methods(GET=webhooks.index, POST=webhooks.create)),
    path(_WEBHOOK, methods(GET=webhooks.show, PATCH=webhooks.change, DELETE=webhooks.remove)),
    path("v1/question_sets", methods(GET=question_sets.index, POST=question_sets.create)),
    path("v1/question_sets/<str:set_id>", methods(GET=question_sets.show, DELETE=question_sets.remove)),
    path("v1/evaluations", methods(GET=evaluations.index, POST=evaluations.create)),
    path(_EVALUATION, methods(GET=evaluations.show, DELETE=evaluations.remove)),
    path(f"{_EVALUATION}/plot.svg", methods(GET=evaluations.plot)),
]
