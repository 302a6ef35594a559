"""Whether a service and what it stands on can work: all asked at once, none for much more than a second."""

import asyncio
import logging
from collections.abc import Collection, Coroutine
from typing import Any, TypeVar

from knowlex.base.errors import KnowlexError
from knowlex.base.time_limits import finished
from knowlex.net.json_client import JsonWire, Unreachable
from knowlex.net.ollama import is_not_pulled, names_model
from rag.service.environment import ServiceEnvironment
from rag.service.parts import Parts
from rag.service.reports import report

T = TypeVar("T")
log = logging.getLogger(__name__)
LIMIT_S = 1.0
NOT_IMPLEMENTED = 501  # what only generates may stand in Ollama's place
LOADING_S = 2.0  # for the local model, when it is first asked for; the loading goes on afterwards
FAILURES = (Unreachable, TimeoutError, OSError, ValueError, ImportError, KnowlexError)


async def health_of(parts: Parts, settings: ServiceEnvironment) -> dict[str, str]:
    """unhealthy: nothing can be looked up. degraded: no answer can be written, or no question be embedded."""
    store, lacking, loaded = await asyncio.gather(
        _within(LIMIT_S, _reached(parts)), _lacking(parts, settings), _loaded(parts, settings)
    )
    if settings.embeds_by_ollama:
        loaded = lacking is not None and settings.embedding_model not in lacking
    answers = parts.chat is None or (lacking is not None and settings.ollama_model not in lacking)
    status = "unhealthy" if not store else "healthy" if answers and loaded else "degraded"
    told = "not_configured" if parts.ollama is None else "unreachable" if lacking is None else "connected"
    return report(status, ollama=told, vector_store=bool(store), embedding_model=bool(loaded))


async def _reached(parts: Parts) -> bool:
    await parts.reader.ping()
    return True


async def _loaded(parts: Parts, settings: ServiceEnvironment) -> bool:
    """Of the local model."""
    if settings.embeds_by_ollama:
        return False
    return await _within(LOADING_S, parts.embedder.aembed_query("warm up")) is not None


async def _lacking(parts: Parts, settings: ServiceEnvironment) -> set[str] | None:
    """Which of the models that are needed Ollama does not have; None where it cannot be reached."""
    if parts.ollama is None:
        return None
    needed = [settings.ollama_model] if parts.chat else []
    needed += [settings.embedding_model] if settings.embeds_by_ollama else []
    return await _within(LIMIT_S, _missing(parts.ollama, needed))


async def _missing(ollama: JsonWire, models: Collection[str]) -> set[str]:
    """Those that it says it does not have. One that lists none is asked for each."""
    reply = await ollama.send("GET", "/api/tags", timeout_s=LIMIT_S)
    if reply.status >= 500 and reply.status != NOT_IMPLEMENTED:
        raise Unreachable(f"HTTP {reply.status}")
    listed = {name for name in models if reply.ok and names_model(reply.body, name)}
    return {name for name in models if name not in listed and not await _shows(ollama, name)}


async def _shows(ollama: JsonWire, model: str) -> bool:
    reply = await ollama.send("POST", "/api/show", {"model": model}, timeout_s=LIMIT_S)
    told = reply.body.get("error") if isinstance(reply.body, dict) else None
    return not (reply.status == 404 and is_not_pulled(told))


async def _within(limit_s: float, check: Coroutine[Any, Any, T]) -> T | None:
    """The check's result; None if it fails, or takes longer: then it is left to itself."""
    try:
        return await finished(check, within_s=limit_s)
    except FAILURES:
        return None
    except Exception:
        log.exception("health check failed")
        return None
