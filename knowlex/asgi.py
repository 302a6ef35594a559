"""The ASGI application: requests go to `knowlex.web.handler`, and what is slow at first is warmed up.

A coroutine view runs on the event loop alone, a sync view (DRF, the admin) wholly in one thread of a bounded
pool. With Django's own ASGI handler 475 threads were measured for 500 clients that wait.
"""

import asyncio
import gc
import logging
import os
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import django
from django.core.exceptions import ImproperlyConfigured
from django.urls import get_resolver

# What is imported stays: looking for garbage among it takes a sixth of the start. And a few hundred questions
# at once are no garbage, either. (A command would lose Ctrl-C that comes while it looks through so many.)
gc.set_threshold(50_000, 20, 50)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "knowlex.settings")
django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

from documents.library import page_cache, storage  # noqa: E402
from knowlex.base.errors import DatabaseUnavailable, KnowlexError  # noqa: E402
from knowlex.db.pool import close_pool  # noqa: E402
from knowlex.web.body import Message, Receive  # noqa: E402
from knowlex.web.handler import Handler, Send  # noqa: E402
from rag import health  # noqa: E402
from rag.answering import lifecycle, parts  # noqa: E402
from rag.api import mcp  # noqa: E402

SWEEP_EVERY_S = 300.0
log = logging.getLogger(__name__)


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await _handler(scope, receive, send)
    elif scope["type"] == "lifespan":
        await _serve_lifespan(receive, send)
    else:
        await send({"type": "websocket.close"})


async def _serve_lifespan(receive: Receive, send: Send) -> None:
    """Start at once: a database that comes later is found by the first request that needs it."""
    tasks: list[asyncio.Task[None]] = []
    while True:
        message: Message = await receive()
        if message["type"] == "lifespan.startup":
            tasks = [asyncio.create_task(_warm_up()), asyncio.create_task(_keep_host_clean())]
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            for task in tasks:
                task.cancel()
            await _close()
            await send({"type": "lifespan.shutdown.complete"})
            return


async def _warm_up() -> None:
    await _log_failure(asyncio.to_thread(_import_pipeline))
    await asyncio.gather(_log_failure(health.load_models()), _log_failure(_warm_up_models()))
    await asyncio.to_thread(mcp.preload)


def _import_pipeline() -> None:
    """Import what the first question would: that takes half a second, which the loop has not to spare."""
    parts.build_pipeline()
    _ = get_resolver().url_patterns


async def _warm_up_models() -> None:
    await health.warm_up()
    await health.warm_up_reranker()


async def _keep_host_clean() -> None:
    """Sweep this host's folder at the start and every 5 min; a host may have no workers, which do it, too."""
    while settings.WEB_PROCESS in ("", "0"):
        await asyncio.to_thread(_sweep_host)
        await asyncio.sleep(SWEEP_EVERY_S)


def _sweep_host() -> None:
    """Remove what crashes have left, and the pictures of documents that were deleted on another host."""
    try:
        storage.sweep_incoming()
        page_cache.sweep()
    except (DatabaseUnavailable, OSError) as exc:
        log.warning("sweep put off", extra={"error": type(exc).__name__})
    finally:
        connection.close()


async def _log_failure(loading: Awaitable[None]) -> None:
    try:
        await loading
    except (KnowlexError, ImproperlyConfigured) as exc:
        log.error("a model cannot be loaded", extra={"reason": str(exc)})


def _make_folders() -> None:
    try:
        storage.make_folder()
        Path(settings.SPOOL_DIR).mkdir(parents=True, exist_ok=True)
    except OSError as exc:  # /health tells it, too, and all that needs no files is served
        log.error("files cannot be stored", extra={"reason": str(exc)})


async def _close() -> None:
    await lifecycle.close()
    await close_pool()


_make_folders()
_handler = Handler()
gc.freeze()  # what is here now lives as long as the process
