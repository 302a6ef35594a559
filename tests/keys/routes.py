"""Every route of the URL conf with its methods, and how a request to each is filled in.

Nothing is listed that the URL conf knows itself. What it cannot know stands in Side.ids and BODIES; a new
route that needs an entry there fails the tests of test_every_route.py with the words of `say_how`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import pytest
from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver

from knowlex.base.ids import new_id
from tests.support.api import UNKNOWN_ID

CHANGING = ("POST", "PUT", "PATCH", "DELETE")
METHODS = ("GET", "HEAD", *CHANGING, "OPTIONS")
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
Request = dict[str, Any]
QUESTION = "What is the secret word of the vault?"
TEXT = {"content": QUESTION.encode(), "headers": {"Content-Type": "text/plain"}}
FILE = {"files": {"file": ("new.md", b"# New\n\nText.\n")}}


@dataclass(frozen=True)
class Side:
    """One collection and what lies in it. marker: stands in every text, name and error of this side."""

    name: str
    marker: str
    collection_id: str
    document_id: str
    job_id: str
    set_id: str = UNKNOWN_ID
    evaluation_id: str = UNKNOWN_ID
    query_id: str = UNKNOWN_ID
    source_id: str = UNKNOWN_ID

    @property
    def ids(self) -> dict[str, str]:
        """By the names that routes give their parameters."""
        return {
            "documentId": self.document_id,
            "document_id": self.document_id,
            "collection_id": self.collection_id,
            "job_id": self.job_id,
            "set_id": self.set_id,
            "evaluation_id": self.evaluation_id,
            "query_id": self.query_id,
            "source_id": self.source_id,
            "conversation_id": self.query_id,  # of its first question
            "webhook_id": UNKNOWN_ID,
            "number": "1",
            "model": f"knowlex/{self.collection_id}",
        }


def _ingest(side: Side) -> Request:
    source = {"type": "text", "content": "Some text that is new."}
    return {"json": {"collection_id": side.collection_id, "documents": [{"source": source}]}}


def _tool_call(side: Side) -> Request:
    arguments = {"query": QUESTION, "collections": [side.name]}
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search", "arguments": arguments},
    }
    return {"json": call, "headers": {"Accept": "application/json"}}


def _questions(side: Side) -> Request:
    question = {"question": QUESTION, "answers": ["nobody knows"]}
    return {"json": {"name": f"New {new_id()}", "collection": side.name, "questions": [question]}}


def _evaluation(side: Side) -> Request:
    return {"json": {"question_set": side.set_id, "collections": [side.collection_id]}}


def _feedback(side: Side) -> Request:
    return {"json": {"query_id": side.query_id, "rating": "thumbs_up"}}


def _source(side: Side) -> Request:
    config = {"path": "/srv/papers"}
    return {"json": {"name": f"New {new_id()}", "collection": side.name, "kind": "folder", "config": config}}


def _chat(side: Side) -> Request:
    model = f"knowlex/{side.collection_id}"
    return {"json": {"model": model, "messages": [{"role": "user", "content": QUESTION}]}}


# What is sent where a collection is named, or to a route with an id whose body must be right.
BODIES: dict[tuple[str, str], Callable[[Side], Request]] = {
    ("POST", "/api/v1/documents"): lambda side: {**FILE, "data": {"collection": side.name}},
    ("POST", "/api/v1/embeddings/search"): lambda side: {**TEXT, "params": {"collection": side.name}},
    ("POST", "/api/v1/rag/ask"): lambda side: {"json": {"query": QUESTION, "collection": side.name}},
    ("POST", "/api/v1/rag/query"): lambda side: {"json": {"query": QUESTION, "collection": side.name}},
    ("POST", "/query"): lambda side: {"json": {"query": QUESTION, "collection": side.collection_id}},
    ("POST", "/v1/search"): lambda side: {"json": {"query": QUESTION, "collections": [side.name]}},
    ("POST", "/v1/query"): lambda side: {"json": {"query": QUESTION, "collections": [side.name]}},
    ("POST", "/v1/chat/completions"): _chat,
    ("POST", "/v1/dify/retrieval"): lambda side: {
        "json": {"knowledge_id": side.name, "query": QUESTION, "retrieval_setting": {"top_k": 5}}
    },
    ("POST", "/mcp"): _tool_call,
    ("POST", "/v1/ingest"): _ingest,
    ("POST", "/v1/question_sets"): _questions,
    ("POST", "/v1/evaluations"): _evaluation,
    ("POST", "/v1/feedback"): _feedback,
    ("POST", "/v1/sources"): _source,
    ("PUT", "/v1/documents/<document_id>"): lambda _: FILE,
    ("PATCH", "/v1/collections/<collection_id>"): lambda _: {"json": {"description": "changed"}},
    ("PATCH", "/v1/webhooks/<webhook_id>"): lambda _: {"json": {"events": ["job.ended"]}},
}
# Bodies that name an id instead.
IDS_IN_BODY = {("POST", "/v1/feedback"), ("POST", "/v1/chat/completions")}
# They answer nothing where the document is no PDF.
OF_PDF = {("GET", "/v1/documents/<document_id>/pages/<number>/image")}
# Changes that name neither a collection nor an id; test_every_route.py says what a bound key gets there.
UNNAMED = {
    ("POST", "/api/v1/embeddings/generate"),
    ("POST", "/v1/collections"),
    ("POST", "/v1/embeddings"),
    ("POST", "/v1/webhooks"),
}
# Of all collections: keys that are bound to some may not use them, whatever the id.
OF_ALL = {"/v1/webhooks", "/v1/webhooks/<webhook_id>"}


@dataclass(frozen=True)
class Route:
    """path: with <name> for each parameter."""

    path: str
    methods: tuple[str, ...]

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"<(\w+)>", self.path)

    def filled(self, side: Side) -> str:
        path = self.path
        for name in self.parameters:
            if name not in side.ids:
                say_how(f"in Side.ids, what <{name}> of {path} stands for")
            path = path.replace(f"<{name}>", side.ids[name])
        return path

    def request(self, method: str, side: Side) -> Request:
        """What to send so that only the key can be wrong."""
        if (method, self.path) in BODIES:
            return BODIES[method, self.path](side)
        if method != "GET" and not self.parameters and (method, self.path) not in UNNAMED:
            say_how(
                f"in BODIES, how {method} {self.path} names a collection (or in UNNAMED that it does not)"
            )
        return {} if method in ("GET", "DELETE") else {"json": {}}

    def names_collection(self, method: str) -> bool:
        if "collection_id" in self.parameters:
            return True
        return not self.parameters and (method, self.path) in BODIES.keys() - IDS_IN_BODY

    def refusal(self, method: str) -> int:
        """The status for who is bound to another collection."""
        return 403 if self.names_collection(method) or self.path in OF_ALL else 404

    def names_id(self, method: str) -> bool:
        return bool(self.parameters) or (method, self.path) in IDS_IN_BODY


def say_how(what: str) -> NoReturn:
    pytest.fail(f"A new route: say in tests/keys/routes.py, {what}.")


def all_routes() -> list[Route]:
    """All that need a key."""
    found = (route for route in _walk(get_resolver().url_patterns, "/") if not _is_open(route.path))
    return sorted(found, key=lambda route: route.path)


def _is_open(path: str) -> bool:
    return path in settings.OPEN_PATHS or path.startswith(settings.OPEN_FOLDERS)


def _walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[Route]:
    for item in patterns:
        path = prefix + _PARAMETER.sub(r"<\1>", str(item.pattern))
        if isinstance(item, URLResolver):
            yield from _walk(item.url_patterns, path)
        else:
            yield Route(path, _methods(item.callback))


def _methods(view: Any) -> tuple[str, ...]:
    """Those that the view has, of METHODS; of a view that does not say, all."""
    allowed = getattr(view, "allowed_methods", None)
    if allowed is None and (kind := getattr(view, "view_class", None)):
        allowed = [name.upper() for name in kind.http_method_names if hasattr(kind, name)]
    return METHODS if allowed is None else tuple(method for method in METHODS if method in allowed)
