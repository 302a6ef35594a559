"""Whether Knowlex and what it stands on can work: all parts asked at once, none for more than a second."""

import asyncio
import time
from collections.abc import Coroutine, Sequence
from dataclasses import asdict
from typing import Any, Literal, NamedTuple

import psycopg
import redis.asyncio
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from psycopg.rows import dict_row
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from documents.library import storage
from documents.library.storage import LATEST_FILES
from embeddings import registry
from embeddings.indexing.measuring import INDEX_STATE, describe_index
from embeddings.search import vector_store
from embeddings.search.dense import fetch_active_spec
from embeddings.types import ModelSpec
from knowlex.base.errors import KnowlexError
from knowlex.base.event_loops import PerLoop
from knowlex.base.time_limits import finish_within
from knowlex.base.times import utc_timestamp
from knowlex.net.model_servers import ollama_state, takes_connections
from knowlex.runtime import liveness, parts
from knowlex.runtime.components import component
from knowlex.runtime.spending import daily_tokens
from knowlex.runtime.threads import RestingThreads
from rag.answering import lifecycle
from rag.protocols import ModelBacked, Reranker

LIMIT_S, MODEL_LIMIT_S = 1.0, 0.3
RERANKS = ("connected", "loaded")
FRESH_S = 0.5  # so that a crowd of probes asks each part but twice a second
UNREACHABLE = (psycopg.Error, RedisError, OSError, EOFError, ValueError, KnowlexError, ImproperlyConfigured)


class _Model(NamedTuple):
    """state: connected, loaded, not_configured; or not_loaded, unreachable."""

    state: str
    of_ollama: bool = False

    @property
    def serves(self) -> bool:
        return self.state not in ("not_loaded", "unreachable")


class _Database(NamedTuple):
    """writes: accepted, refused, no_room. latest_files: names of files that should be in the folder."""

    vector_index: dict[str, Any]
    writes: str
    latest_files: Sequence[str]


async def health_check() -> dict[str, Any]:
    """Return the Service's `health_check()`, and besides: database, broker, workers (their number),
    chat_model, and vector_index, which says whether searches go through one, and what share of the
    neighbours it finds, or which store they go to. vector_store: connected where both the database and
    such a store can be reached. database_writes, files: whether these can be written, or else why not.

    reranker, only where a model reranks: "connected" or "loaded"; or else why the order is the sentences'.
    parts, only under `up`: each that it keeps running, with its state and its restarts.
    daily_tokens, only where they have a ceiling: "left" or "spent".
    chat_model is not_loaded, too, where Ollama answers but does not have it.
    unhealthy: nothing can be answered. degraded: storing, embedding, or answering by the chat model, cannot
    be done, the day's tokens are spent, the reranker's model is not there, or a part is being started again.
    """
    async with _turn.get():
        measured_at, result = _latest
        if time.monotonic() - measured_at > FRESH_S:
            result = await _measure()
            _remember(result)
        return {**result, "timestamp": utc_timestamp()}


async def load_models() -> None:
    """Load those of Ollama, so that the first question does not wait. Raises ImproperlyConfigured."""
    await lifecycle.load_models(await _searched_model())


async def warm_up() -> None:
    """Load the local embedding model, so that the first question does not wait for it."""
    model = await _searched_model()
    if not registry.is_remote(model) and model not in _loaded:
        await registry.embedder_for(model).aembed_query("warm up")
        _loaded.add(model)


async def _searched_model() -> ModelSpec:
    """Return the active one; where the database does not say so at once, the configured one."""
    try:
        async with asyncio.timeout(MODEL_LIMIT_S):
            return await fetch_active_spec()
    except (*UNREACHABLE, TimeoutError):
        return registry.configured_model()


async def warm_up_reranker() -> None:
    """Load its model, if it has one of its own. Raises ImproperlyConfigured."""
    try:
        await _reranker()
    except (OSError, ValueError) as exc:
        raise ImproperlyConfigured(f"The reranker: {exc}") from exc


async def _measure() -> dict[str, Any]:
    checks = (
        _database(),
        vector_store.ping_store(),
        _broker(),
        _workers(),
        _embedder(),
        _chat_model(),
        _reranker(),
    )
    database, store, broker, workers, embedder, chat, reranker = await asyncio.gather(
        *(_within_limit(check) for check in checks)
    )
    files = await _within_limit(_files(database.latest_files if database else ()))
    embedder, chat = embedder or _unanswered("EMBEDDER"), chat or _unanswered("SYNTHESIZER")
    result: dict[str, Any] = {
        "ollama": _ollama(embedder, chat),
        "vector_store": _word(database and store),  # in the database: there once it is migrated
        "embedding_model": "loaded" if embedder.serves else "not_loaded",
        "chat_model": chat.state,
        "database": _word(database is not None),
        "broker": _word(broker),
        "workers": workers or 0,
        "vector_index": database.vector_index if database else None,
        "database_writes": database.writes if database else "unreachable",
        "files": files or "unreachable",
    }
    if reranker != "":
        result["reranker"] = reranker or ("unreachable" if _is_remote("RERANKER") else "not_loaded")
    if settings.DAILY_TOKENS is not None:
        result["daily_tokens"] = "spent" if await daily_tokens.is_spent() else "left"
    kept = parts.read_states(settings.DATA_DIR)
    if kept:
        result["parts"] = {name: asdict(state) for name, state in kept.items()}
    if not (database and store):
        return {"status": "unhealthy", **result}
    stores = (result["database_writes"], result["files"]) == ("accepted", "writable")
    serves = embedder.serves and chat.serves and reranker in ("", *RERANKS)
    serves = serves and result.get("daily_tokens") != "spent"
    whole = (
        stores and broker and workers and serves and all(part.state == "running" for part in kept.values())
    )
    return {"status": "healthy" if whole else "degraded", **result}


async def _within_limit(check: Coroutine[Any, Any, Any]) -> Any:
    """Return the check's answer, or None."""
    try:
        return await finish_within(check, within_s=LIMIT_S)
    except UNREACHABLE:  # a TimeoutError is an OSError
        return None


async def _database() -> _Database | Literal[False]:
    """Return its state; False where there is no place for vectors yet.

    A connection of its own: a busy pool is not an absent database.
    """
    connection = await psycopg.AsyncConnection.connect(
        settings.DATABASE_URL, autocommit=True, row_factory=dict_row
    )
    async with connection:
        try:
            index = describe_index(await (await connection.execute(INDEX_STATE)).fetchone())
        except psycopg.errors.UndefinedTable:
            return False
        latest = await (await connection.execute(LATEST_FILES)).fetchall()
        return _Database(index, await _writes(connection), [row["file"] for row in latest])


async def _writes(connection: psycopg.AsyncConnection[Any]) -> str:
    """Return whether it accepts them; a replica and one that is set to read only refuse them.

    Room is asked for by rows that do not fit into memory: they cost neither the log nor a wait for the disk.
    """
    try:
        async with connection.transaction():
            await connection.execute("SET LOCAL work_mem = '64kB'")
            row = await (await connection.execute(_WRITES)).fetchone()
    except psycopg.errors.DiskFull:
        return "no_room"
    return "accepted" if row and row["accepted"] else "refused"


async def _files(latest: Sequence[str]) -> str:
    """Return the store's state. latest: files that should be in it."""
    return await asyncio.wrap_future(_look.submit(storage.check_files, latest))


async def _broker() -> bool:
    return bool(await _valkey.get().ping())


async def _workers() -> int:
    return await liveness.alive(_valkey.get())


async def _embedder() -> _Model:
    model = await _searched_model()
    wire = registry.connection_options(model)
    if registry.is_ollama(model):
        return _Model(await ollama_state(wire["host"], registry.server_name(model)), of_ollama=True)
    if registry.is_remote(model):
        return _Model(_word(await takes_connections(wire["base_url"])))
    await warm_up()
    return _Model("loaded")


async def _chat_model() -> _Model:
    options = _options("SYNTHESIZER")
    if "host" in options:
        return _Model(await ollama_state(options["host"], options["model_name"]), of_ollama=True)
    if not _is_remote("SYNTHESIZER"):
        return _Model("not_configured")
    return _Model(_word(await takes_connections(options["base_url"])))


def _unanswered(role: str) -> _Model:
    """Return what did not answer in time."""
    return _Model("unreachable", of_ollama="host" in _options(role))


async def _reranker() -> str:
    """Return its state, "" where no model is configured."""
    reranker = component("RERANKER", Reranker)
    return await reranker.state() if isinstance(reranker, ModelBacked) else ""


def _options(role: str) -> dict[str, Any]:
    options: dict[str, Any] = settings.KNOWLEX[role].get("options", {})
    return options


def _is_remote(role: str) -> bool:
    return bool({"host", "base_url"} & _options(role).keys())


def _ollama(*models: _Model) -> str:
    """Return whether it can be reached, with the models or without."""
    states = [model.state for model in models if model.of_ollama]
    return _word("unreachable" not in states) if states else "not_configured"


def _word(reachable: object) -> str:
    return "connected" if reachable else "unreachable"


def _connect() -> redis.asyncio.Redis:
    return redis.asyncio.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=LIMIT_S,
        socket_connect_timeout=LIMIT_S,
        retry=Retry(NoBackoff(), 1),
    )


def _remember(result: dict[str, Any]) -> None:
    global _latest
    _latest = time.monotonic(), result


_WRITES = """
    SELECT current_setting('transaction_read_only') = 'off' AS accepted, max(n) AS n
    FROM generate_series(1, 4000) AS n
"""
_look = RestingThreads(1, "files")
_valkey: PerLoop[Any] = PerLoop(_connect)
_turn: PerLoop[asyncio.Lock] = PerLoop(asyncio.Lock)
_latest: tuple[float, dict[str, Any]] = (float("-inf"), {})
_loaded: set[ModelSpec] = set()
