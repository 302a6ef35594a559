"""The real routes, and before them views that fail in every way, wait, and report on the process."""

import asyncio
import hashlib
import os
import tempfile
import threading
from contextlib import suppress
from typing import Any

import psycopg_pool
import redis.exceptions
from django.conf import settings
from django.core import exceptions as django_exceptions
from django.db import DataError, OperationalError, connection
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path
from rest_framework import exceptions as drf
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from knowlex import urls
from knowlex.base import errors
from knowlex.web.json_body import json_object
from knowlex.web.responses import allow, json_response

SECRET = "s3cret /home/someone SELECT password FROM users"  # must never reach a client
RAISED: dict[str, Any] = {
    "unexpected": lambda: RuntimeError(SECRET),
    "data": lambda: DataError(SECRET),
    "operational": lambda: OperationalError(SECRET),
    "pool": lambda: psycopg_pool.PoolTimeout(SECRET),
    "redis": lambda: redis.exceptions.ConnectionError(SECRET),
    "disk_full": lambda: OSError(28, SECRET),
    "suspicious": lambda: django_exceptions.SuspiciousOperation(SECRET),
    "http404": lambda: Http404(SECRET),
    "denied": lambda: django_exceptions.PermissionDenied(SECRET),
    "throttled": lambda: drf.Throttled(7),
    "drf_validation": lambda: drf.ValidationError({"name": ["This field is required."]}),
    "drf_unauthenticated": lambda: drf.NotAuthenticated(),
    "field": lambda: errors.InvalidInput("k is wrong.", field="k"),
    "question": lambda: errors.InvalidQuestion("Query is blank.", field="query"),
    "unauthorized": lambda: errors.Unauthorized("Invalid or expired API key."),
    "forbidden": lambda: errors.Forbidden("No."),
    "not_found": lambda: errors.NotFound("Resource not found"),
    "duplicate": lambda: errors.Duplicate("There.", details={"documentId": "1"}),
    "too_large": lambda: errors.PayloadTooLarge("Too large."),
    "media_type": lambda: errors.UnsupportedMediaType("JSON, please."),
    "unreadable": lambda: errors.UnreadableDocument("No text."),
    "rate": lambda: errors.RateLimited("Slow down.", retry_after_s=9),
    "database": lambda: errors.DatabaseUnavailable("The database cannot be reached."),
    "broker": lambda: errors.BrokerUnavailable("The broker cannot be reached."),
    "retrieval": lambda: errors.RetrievalFailed("The search failed."),
    "synthesis": lambda: errors.SynthesisFailed("No answer."),
    "timeout": lambda: errors.SynthesisTimeout("Too slow."),
    "embedding": lambda: errors.EmbeddingIncomplete("Embedded 3 chunk(s), 2 left."),
    "embedder": lambda: errors.EmbedderUnavailable("The model does not answer."),
}
state = {"waiting": 0, "cancelled": 0, "finished": 0}
released = asyncio.Event()


@allow("POST")
async def fail(request: HttpRequest) -> HttpResponse:
    raise RAISED[request.headers["X-Raise"]]()


class FailInDrf(APIView):
    def post(self, request: Request) -> Response:
        raise RAISED[request.headers["X-Raise"]]()


class EchoInDrf(APIView):
    def post(self, request: Request) -> Response:
        return Response({"received": request.data, "thread": threading.current_thread().name})


@allow("POST")
async def echo(request: HttpRequest) -> HttpResponse:
    return json_response({"received": json_object(request), "thread": threading.current_thread().name})


@allow("POST")
async def wait(request: HttpRequest) -> HttpResponse:
    """Waits as for a model, for `seconds` at most."""
    seconds = json_object(request)["seconds"]
    state["waiting"] += 1
    try:
        async with asyncio.timeout(seconds):
            await released.wait()
        state["finished"] += 1
    except asyncio.CancelledError:
        state["cancelled"] += 1
        raise
    finally:
        state["waiting"] -= 1
    return json_response({})


@allow("POST")
async def release(request: HttpRequest) -> HttpResponse:
    """Lets go of all who wait."""
    released.set()
    released.clear()
    return json_response({})


@allow("GET")
async def stream(request: HttpRequest) -> StreamingHttpResponse:
    """Endless, until the client leaves."""

    async def parts() -> Any:
        state["waiting"] += 1
        try:
            while True:
                yield b"more\n"
                await asyncio.sleep(0.01)
        finally:
            state["waiting"] -= 1
            state["cancelled"] += 1

    return StreamingHttpResponse(parts(), content_type="text/plain")


@allow("GET")
async def parts(request: HttpRequest) -> StreamingHttpResponse:
    """Two, of a body whose length nobody tells."""

    async def both() -> Any:
        yield b"one\n"
        yield b"two\n"

    return StreamingHttpResponse(both(), content_type="text/plain")


@allow("GET")
async def report(request: HttpRequest) -> HttpResponse:
    return json_response(
        {
            **state,
            "threads": threading.active_count(),
            "connections_of_loop_thread": connection.connection is not None,
            "spools": _open_spools(),
        }
    )


def _open_spools() -> int:
    """Files of the spool folder that are open; they have no name any more, so that a kill leaves none."""
    targets = []
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the listing's own
            targets.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return sum(target.startswith(f"{settings.SPOOL_DIR}/") for target in targets)


class Upload(APIView):
    """Reads the raw body from where the handler spooled it."""

    def post(self, request: Request) -> Response:
        body = request._request._stream
        digest = hashlib.sha256()
        size = 0
        while block := body.read(65536):
            digest.update(block)
            size += len(block)
        return Response(
            {"bytes": size, "sha256": digest.hexdigest(), "on_disk": getattr(body, "_rolled", False)}
        )


def slow_thread(request: HttpRequest) -> HttpResponse:
    with tempfile.TemporaryFile() as file:
        file.write(request.body)
    return json_response({"thread": threading.current_thread().name, "method": request.method})


probes = [
    path("query", fail),
    path("api/v1/rag/query", fail),
    path("v1/query", fail),
    path("v1/documents", fail),
    path("api/v1/probe/fail", fail),
    path("api/v1/probe/fail-in-drf", FailInDrf.as_view()),
    path("api/v1/probe/echo", echo),
    path("api/v1/probe/echo-in-drf", EchoInDrf.as_view()),
    path("api/v1/probe/wait", wait),
    path("api/v1/probe/release", release),
    path("api/v1/probe/stream", stream),
    path("api/v1/probe/parts", parts),
    path("api/v1/probe/report", report),
    path("api/v1/probe/upload", Upload.as_view()),
    path("api/v1/probe/sync", slow_thread),
]
urlpatterns = [*probes, *urls.urlpatterns]
handler400 = urls.handler400
handler403 = urls.handler403
handler404 = urls.handler404
handler500 = urls.handler500
