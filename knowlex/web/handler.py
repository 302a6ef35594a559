"""Serving one request: resolve, read the body within limits, run the view where its kind belongs, respond.

It stands in the place of Django's ASGIHandler, under which these of tests/edges go red. It gives each request
a thread of its own (test_serving, test_two_hundred_who_wait_take_no_thread); it reads the whole body before
anything can refuse it, for as long as the client likes (test_bodies, test_a_client_that_trickles_...); it
closes the connection behind a refusal while the client still sends (test_bodies,
test_who_sends_everything_before_reading_is_told_why_it_is_too_large, test_a_small_refused_body_...). What it
does besides, such as sending a response in parts, is fifteen lines.
"""

import asyncio
import contextvars
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, nullcontext
from functools import cached_property, partial
from io import BytesIO
from time import monotonic
from typing import Any, TypeVar, cast

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.core import signals
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import get_resolver
from django.utils.module_loading import import_string

from knowlex.base.errors import DependencyUnavailable
from knowlex.db.silence import notice_silence
from knowlex.db.threads import note_wait
from knowlex.runtime.admission import elsewhere
from knowlex.runtime.threads import RestingThreads
from knowlex.web.body import ClientGone, Message, Receive, RequestBody, cancelled_when_gone
from knowlex.web.methods import chosen
from knowlex.web.middleware import Serve
from knowlex.web.responses import problem_response
from knowlex.web.sse import EventStream

WAIT_S = 30.0  # for a free thread, or for a turn among uploads
RECEIVED = 64  # bodies of megabytes, which lie on disk meanwhile
SERVED = 24  # of the threads for sync views; the others stay free for short requests
RETRY_AFTER_S = 5


class Uploads:
    """Limits how many uploads a process receives, and serves, at once (tests/edges/test_crowding.py); web
    processes that share a socket share the numbers.
    """

    def __init__(self, received: int = RECEIVED, served: int = SERVED, wait_s: float = WAIT_S) -> None:
        self._room, self._wait_s = received, wait_s
        self._free = asyncio.Semaphore(served)

    @asynccontextmanager
    async def received(self) -> AsyncIterator[None]:
        """Hold a place from before the body is read to the answer. Raises DependencyUnavailable if all are
        taken.
        """
        if not self._room:
            raise _too_many_uploads()
        self._room -= 1
        try:
            yield
        finally:
            self._room += 1

    @asynccontextmanager
    async def served(self) -> AsyncIterator[None]:
        """Hold a turn, waited for on the loop. Raises DependencyUnavailable if that takes too long."""
        try:
            async with asyncio.timeout(self._wait_s):
                await self._free.acquire()
        except TimeoutError:
            raise _too_many_uploads() from None
        try:
            yield
        finally:
            self._free.release()


def _too_many_uploads() -> DependencyUnavailable:
    return DependencyUnavailable("The server is busy with other uploads.", retry_after_s=RETRY_AFTER_S)


T = TypeVar("T")
THREADS = 32


class ThreadPool:
    """Runs at most THREADS calls at once; one that finds no thread in WAIT_S raises DependencyUnavailable."""

    def __init__(self, threads: int = THREADS) -> None:
        self._executor = RestingThreads(threads, "knowlex-sync")
        self._free = asyncio.Semaphore(threads)

    async def run(self, call: Callable[[], T]) -> T:
        """Run the call to its end even if the caller is cancelled; nothing it does is left half done."""
        try:
            async with asyncio.timeout(WAIT_S):
                await self._free.acquire()
        except TimeoutError:
            raise DependencyUnavailable("The server is busy, try again later.", retry_after_s=5) from None
        context = contextvars.copy_context()
        running = asyncio.get_running_loop().run_in_executor(self._executor, partial(context.run, call))
        running.add_done_callback(lambda _: self._free.release())
        return await asyncio.shield(running)


class SyncHandler(BaseHandler):
    """Serves a resolved sync view in the calling thread."""

    def __init__(self) -> None:
        super().__init__()
        notice_silence()
        self.load_middleware(is_async=False)

    def serve_plain(self, request: ASGIRequest) -> HttpResponseBase:
        """Run the view alone, without settings.MIDDLEWARE; what it raises is the caller's to handle."""
        match = request.resolver_match
        assert match is not None, "the route is resolved before"
        return self._serve_between_signals(request, lambda: match.func(request, *match.args, **match.kwargs))

    def serve_with_middleware(self, request: ASGIRequest) -> HttpResponseBase:
        """Serve it in Django's own way, with settings.MIDDLEWARE: sessions, users, CSRF, messages."""
        return self._serve_between_signals(request, lambda: self.get_response(request))

    def _serve_between_signals(
        self, request: ASGIRequest, serve: Callable[[], HttpResponseBase]
    ) -> HttpResponseBase:
        """Serve it between Django's signals; the connection is given back in this thread."""
        signals.request_started.send(sender=self.__class__, scope=request.scope)
        try:
            response = serve()
            render = getattr(response, "render", None)
            if callable(render):
                response = render()
        except BaseException:
            signals.request_finished.send(sender=self.__class__)
            raise
        if response.streaming:
            close_old_connections()  # its content is read later, in another thread
        else:
            response.close()
        return response


Send = Callable[[Message], Awaitable[None]]

WITH_DJANGO_MIDDLEWARE = ("/admin/", "/login", "/logout", "/accounts/", "/static/")
SMALL_BYTES = 64 * 1024  # of an unread rest that is read away first, so that the connection can stay
DRAIN_BYTES, DRAIN_S = 256 * 1024 * 1024, 10.0


class KnowlexRequest(ASGIRequest):
    """A request whose body is still on the wire until `load_body`."""

    def __init__(self, scope: dict[str, Any], incoming: RequestBody, threads: ThreadPool) -> None:
        super().__init__(scope, BytesIO())
        self.incoming, self._threads = incoming, threads

    async def load_body(self) -> None:
        """Raises PayloadTooLarge, RequestTimeout, ClientGone."""
        self._stream = await self.incoming.read(self._body_limit, settings.SPOOL_DIR)

    async def run_in_thread(self, call: Callable[[], T]) -> T:
        """Run what an async view has to call, but waits for the database. Raises DependencyUnavailable."""
        came = monotonic()

        def run() -> T:
            note_wait(came)
            close_old_connections()
            try:
                return call()
            finally:
                close_old_connections()

        return await self._threads.run(run)

    @property
    def is_upload(self) -> bool:
        """Return whether it may bring more than others, however much it does bring."""
        return self._body_limit > settings.MAX_BODY_BYTES

    @property
    def is_large(self) -> bool:
        """Return whether its body is that of an upload, or may be: the client does not say."""
        declared = self.incoming.declared
        return self.is_upload and (declared is None or declared > settings.MAX_BODY_BYTES)

    @cached_property
    def _body_limit(self) -> int:
        """Return the bytes of the first row of settings.LARGE_BODIES that fits, else of any other request."""
        for method, path, limit in settings.LARGE_BODIES:
            if self.method == method and re.fullmatch(path, self.path_info):
                return int(limit)
        return int(settings.MAX_BODY_BYTES)


class Handler:
    """The ASGI application for HTTP: settings.EDGE_MIDDLEWARE around the view. Built once a process."""

    def __init__(self) -> None:
        shared = settings.SHARING_PROCESSES
        self._threads = ThreadPool(max(8, THREADS // shared))
        self._sync = SyncHandler()
        self._uploads = Uploads(-(-RECEIVED // shared), -(-SERVED // shared))
        serve: Serve = self._view
        for dotted in reversed(settings.EDGE_MIDDLEWARE):
            serve = import_string(dotted)(serve)
        self._serve = serve

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        incoming = RequestBody(scope["headers"], receive, patience_s=settings.CLIENT_PATIENCE_S)
        request = KnowlexRequest(scope, incoming, self._threads)
        try:
            response = await self._get_response(request)
            try:
                await self._respond(incoming, response, send)
            finally:
                # Ends with what it comes from, also if it was not begun:
                # tests/answers/test_streams.py, test_the_access_line_tells_the_whole_stream.
                if isinstance(response, EventStream):
                    await response.aclose()
        except ClientGone:
            return
        finally:
            request.close()

    async def _get_response(self, request: KnowlexRequest) -> HttpResponseBase:
        """Run middleware and view; a middleware that fails is no reason for a bare 500."""
        try:
            return await self._serve(request)
        except ClientGone:
            raise
        except Exception as exc:  # noqa: BLE001
            return problem_response(request, exc)

    async def _view(self, request: HttpRequest) -> HttpResponseBase:
        request = cast(KnowlexRequest, request)
        request.get_host()  # raises DisallowedHost
        async with self._uploads.received() if request.is_large else nullcontext():
            return await self._serve_route(request)

    async def _serve_route(self, request: KnowlexRequest) -> HttpResponseBase:
        if request.path_info.startswith(WITH_DJANGO_MIDDLEWARE):
            await request.load_body()
            return await self._serve_in_thread(request, self._sync.serve_with_middleware)
        match = request.resolver_match = get_resolver().resolve(request.path_info)
        match.func = chosen(match.func, request.method)
        with elsewhere():
            await request.load_body()
        if not iscoroutinefunction(match.func):
            return await self._serve_in_thread(request, self._sync.serve_plain)
        async with cancelled_when_gone(request.incoming):
            return cast(HttpResponseBase, await match.func(request, *match.args, **match.kwargs))

    async def _serve_in_thread(
        self, request: KnowlexRequest, serve: Callable[[KnowlexRequest], HttpResponseBase]
    ) -> HttpResponseBase:
        came = monotonic()

        def serve_now() -> HttpResponseBase:
            note_wait(came)
            return serve(request)

        async with self._uploads.served() if request.is_upload else nullcontext():
            return await self._threads.run(serve_now)

    async def _respond(self, incoming: RequestBody, response: HttpResponseBase, send: Send) -> None:
        """Send it. One that was made before the whole body came closes the connection behind it."""
        if incoming.declared is not None and incoming.declared <= SMALL_BYTES:
            await incoming.discard(max_bytes=SMALL_BYTES, seconds=1.0)
        closing = not incoming.complete
        if closing:
            response["Connection"] = "close"
        content = response.content if isinstance(response, HttpResponse) else b""
        if not response.streaming and response.status_code not in (204, 304):
            response.headers.setdefault("Content-Length", str(len(content)))
        await send(
            {"type": "http.response.start", "status": response.status_code, "headers": _raw_headers(response)}
        )
        if isinstance(response, StreamingHttpResponse):
            await self._stream(incoming, response, send)
        elif closing:
            await send({"type": "http.response.body", "body": content, "more_body": True})
            await incoming.discard(max_bytes=DRAIN_BYTES, seconds=DRAIN_S)
            content = b""
        await send({"type": "http.response.body", "body": content})

    async def _stream(self, incoming: RequestBody, response: StreamingHttpResponse, send: Send) -> None:
        if response.is_async:
            async with cancelled_when_gone(incoming), aclosing(aiter(response)) as parts:  # type: ignore[type-var]
                async for part in parts:
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            return
        blocks = iter(response)
        try:
            while (part := await self._threads.run(partial(next, blocks, None))) is not None:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        finally:
            await self._threads.run(response.close)


def _raw_headers(response: HttpResponseBase) -> list[tuple[bytes, bytes]]:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    cookies = [cookie.OutputString().encode("ascii") for cookie in response.cookies.values()]
    return headers + [(b"Set-Cookie", cookie) for cookie in cookies]
