"""Sync views (DRF, the admin) on a bounded pool of threads, each request wholly in one of them.

Django's own ASGI handler gives every request a thread, so 500 uploads would be 500 threads and as many
database connections.
"""

import asyncio
import contextvars
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from django.core import signals
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.db import close_old_connections
from django.http import HttpResponseBase

from knowlex.common.errors import DependencyUnavailable
from knowlex.common.silence import notice_silence
from knowlex.common.threads import RestingThreads

T = TypeVar("T")
THREADS = 32
WAIT_S = 30.0  # for a free thread


class ThreadPool:
    """At most THREADS calls at once; one that finds no thread in WAIT_S raises DependencyUnavailable."""

    def __init__(self, threads: int = THREADS) -> None:
        self._executor = RestingThreads(threads, "knowlex-sync")
        self._free = asyncio.Semaphore(threads)

    async def run(self, call: Callable[[], T]) -> T:
        """The call runs to its end even if the caller is cancelled; nothing it does is left half done."""
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
        """The view alone, without settings.MIDDLEWARE; what it raises is the caller's to handle."""
        match = request.resolver_match
        assert match is not None, "the route is resolved before"
        return self._in_request(request, lambda: match.func(request, *match.args, **match.kwargs))

    def serve_with_middleware(self, request: ASGIRequest) -> HttpResponseBase:
        """Django's own way, with settings.MIDDLEWARE: sessions, users, CSRF, messages."""
        return self._in_request(request, lambda: self.get_response(request))

    def _in_request(self, request: ASGIRequest, serve: Callable[[], HttpResponseBase]) -> HttpResponseBase:
        """Between request_started and request_finished; the connection is given back in this thread."""
        signals.request_started.send(sender=self.__class__, scope=request.scope)
        try:
            response = serve()
            render = getattr(response, "render", None)
            if callable(render):
                response = render()
        except BaseException:
            signals.request_finished.send(sender=self.__class__)
            raise
        _let_go(response)
        if response.streaming:
            close_old_connections()  # its content is read later, in another thread
        else:
            response.close()
        return response


def _let_go(response: HttpResponseBase) -> None:
    """Cuts the circle in which DRF keeps view, request, response and its data.

    Until the garbage is collected it held 3 MB for each list of 2,000 documents: 1.2 GB after 260 of them.
    """
    vars(response).pop("data", None)
    context = vars(response).pop("renderer_context", None) or {}
    view = context.get("view")
    if view is not None:
        view.request.parser_context = {}
        vars(view).clear()
