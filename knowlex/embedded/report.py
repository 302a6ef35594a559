"""What `doctor` tells: each part, what it is set to, and whether it answers now. Starts nothing."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import psycopg
import redis
from celery import Celery
from django.conf import settings
from kombu.exceptions import OperationalError
from redis.backoff import NoBackoff
from redis.retry import Retry

from embeddings.external import configuration
from knowlex.base.errors import VectorStoreFailed
from knowlex.embedded.data_folder import served_at
from knowlex.net.model_servers import ollama_state_once
from knowlex.net.ollama import not_pulled

IN_POSTGRES = {"pgvector": "in the database", "memory": "in each process's memory"}
_STATE = """
    SELECT s.fingerprint, s.kind || ' at ' || s.place, s.error,
        (SELECT count(*) FROM embeddings_outboxentry), (SELECT count(*) FROM embeddings_embedding)
    FROM (SELECT) one LEFT JOIN embeddings_outsidestore s ON true
"""
Row = tuple[str | None, str | None, str | None, int, int]


def vector_store() -> tuple[str, bool, str]:
    """What it is set to, whether it can be used, and what is to be said."""
    used, row = configuration.configured_store(), _state()
    if used is None:
        kind = settings.ENV.knowlex_vector_store
        gives_up = f"; the next start gives up {row[1]}" if row and row[1] else ""
        return kind, True, IN_POSTGRES[kind] + gives_up
    try:
        asyncio.run(_ping())
    except VectorStoreFailed as exc:
        return str(used), False, exc.message
    return str(used), True, "answers" + _plan(used, row)


def _plan(used: configuration.StoreIdentity, row: Row | None) -> str:
    if row is None:
        return ""
    fingerprint, former, error, waiting, vectors = row
    if fingerprint != used.fingerprint:
        instead = f" instead of {former}" if former else ""
        return f"; the next start takes it into use{instead}, and sends it all {vectors} vectors"
    return f", in use, {waiting} vectors on their way" + (f"; its last failure: {error}" if error else "")


async def _ping() -> None:
    store = configuration.external_store()
    try:
        await store.ping()
    finally:
        await store.aclose()


def _state() -> Row | None:
    """None where the database cannot tell, or has no tables yet."""
    with (
        suppress(psycopg.Error),
        psycopg.connect(settings.DATABASE_URL, connect_timeout=TIMEOUT_S) as connection,
    ):
        return connection.execute(_STATE).fetchone()
    return None


TIMEOUT_S = 3
ANY = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]"}  # noqa: S104 (asked, not bound)
FAILURES = (OSError, psycopg.Error, redis.RedisError, OperationalError, ValueError)


@dataclass(frozen=True, slots=True)
class Finding:
    """`ok` None: the part is not running, and nothing says that it should."""

    part: str
    configured: str
    ok: bool | None
    says: str


def findings(app: Celery) -> Iterator[Finding]:
    environment = settings.ENV
    yield Finding("data folder", str(settings.DATA_DIR), *_data_folder())
    yield _service(
        "database", settings.DATABASE_URL, environment.database_url, lambda: _database(settings.DATABASE_URL)
    )
    if replica := environment.database_read_url:
        yield _asked("replica", without_password(replica), lambda: _database(replica), must_run=True)
    yield Finding("vector store", *vector_store())
    yield _service("broker", settings.REDIS_URL, environment.redis_url, _broker)
    yield _asked("workers", "Celery", lambda: _workers(app), must_run=False)
    address = _address()
    yield _asked("web server", address, lambda: _get(f"{address}/health"), must_run=False)
    yield _provider("embedder", environment.embedder, settings.EMBEDDERS)
    yield _provider("synthesizer", environment.synthesizer, settings.SYNTHESIZERS)


def _service(part: str, url: str, external: str, ask: Callable[[], str]) -> Finding:
    return _asked(part, without_password(url) if external else "embedded", ask, must_run=bool(external))


def _asked(part: str, configured: str, ask: Callable[[], str], *, must_run: bool) -> Finding:
    try:
        return Finding(part, configured, True, ask())
    except FAILURES as exc:
        reason = str(exc).strip().split("\n")[0]
        return Finding(part, configured, False if must_run else None, reason if must_run else "not running")


def _data_folder() -> tuple[bool, str]:
    writable = os.access(settings.DATA_DIR, os.W_OK | os.X_OK)
    return writable, "can be written to" if writable else "cannot be written to"


def _database(url: str) -> str:
    with psycopg.connect(url, connect_timeout=TIMEOUT_S) as connection:
        version = str(connection.info.server_version // 10000)
        row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    return f"PostgreSQL {version}, pgvector {row[0] if row else 'not there yet'}"


def _broker() -> str:
    with redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=TIMEOUT_S, retry=Retry(NoBackoff(), 0)
    ) as client:
        info = client.info("server")
    return f"{info.get('server_name', 'redis')} {info.get('valkey_version', info.get('redis_version'))}"


def _workers(app: Celery) -> str:
    """What runs, which is not what KNOWLEX_WORKERS says: `up --workers`, and other hosts' workers."""
    groups = app.control.inspect(timeout=1.0).stats()
    if not groups:
        raise OSError("no worker answers")
    counts = {name: group["pool"]["max-concurrency"] for name, group in groups.items()}
    return ", ".join(f"{name} with {n} process{'es' * (n != 1)}" for name, n in sorted(counts.items()))


def _address() -> str:
    """Of the `up` that runs in this data folder, wherever it was told to serve; else where it would."""
    at = served_at(settings.DATA_DIR) or f"http://{_shown(settings.HOST)}:{settings.PORT}"
    host = urlsplit(at).hostname or ""
    return at.replace(_shown(host), ANY[host], 1) if host in ANY else at


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _provider(part: str, name: str, choices: dict[str, dict[str, Any]]) -> Finding:
    if name == "openai":
        base = settings.ENV.openai_base_url or "https://api.openai.com/v1"
        key = settings.ENV.openai_api_key
        return _asked(
            part,
            f"openai at {without_password(base)}",
            lambda: _get(f"{base}/models", key=key),
            must_run=True,
        )
    if name == "ollama":
        options = choices[name]["options"]
        host, model = options["host"], options["model_name"]
        return _asked(part, f"{model} of ollama at {host}", lambda: _ollama(host, model), must_run=True)
    return Finding(part, name, True, "in this process")


def _ollama(host: str, model: str) -> str:
    """Raises OSError; ValueError if it does not have the model."""
    match asyncio.run(ollama_state_once(host, model)):
        case "connected":
            return "has the model"
        case "not_loaded":
            raise ValueError(not_pulled(model))
    raise OSError("cannot be reached")


def _get(url: str, *, key: str = "") -> str:
    """Any answer but a refusal of the key counts: not every compatible server has every path."""
    request = Request(url, headers={"Authorization": f"Bearer {key}"} if key else {})  # noqa: S310 (http, checked)
    try:
        with urlopen(request, timeout=TIMEOUT_S) as response:  # noqa: S310
            return f"answers {response.status}"
    except HTTPError as exc:
        if exc.code in {401, 403}:
            raise ValueError(f"refuses the key ({exc.code})") from exc
        return f"answers {exc.code}"
    except URLError as exc:
        raise OSError(f"cannot be reached: {exc.reason}") from exc


def without_password(url: str) -> str:
    parts = urlsplit(url)
    login, at, place = parts.netloc.rpartition("@")
    return parts._replace(netloc=login.partition(":")[0] + at + place).geturl()
