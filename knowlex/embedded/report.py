"""What `doctor` tells: each part, what it is set to, and whether it answers now. Starts nothing."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, LiteralString
from urllib.parse import urlsplit

import psycopg
import redis
from celery import Celery
from django.conf import settings
from kombu.exceptions import OperationalError
from redis.backoff import NoBackoff
from redis.retry import Retry

from documents.library import storage
from embeddings.external import configuration
from knowlex.base.errors import DependencyUnavailable, VectorStoreFailed
from knowlex.embedded.data_folder import served_at
from knowlex.net.json_client import JsonWire, Unreachable

TIMEOUT_S = 3
_FILES = {
    "writable": "can be written to",
    "full": "There is no room left.",
    "read_only": "The key may not write.",
    "missing": "There is no such bucket.",
    "refused": "The key is not accepted, or the bucket is another Knowlex's (docs/scaling.md).",
}
_FOLDER = {
    "full": "There is no room for the largest upload.",
    "read_only": "It cannot be written to.",
    "missing": "It is not there, or holds none of the files on record.",
}
_WELL = {"connected", "loaded", "not_configured", "accepted", "writable", "left"}  # of what /health says
LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]"}  # noqa: S104 (asked, not bound)
FAILURES = (OSError, psycopg.Error, redis.RedisError, OperationalError, Unreachable)
IN_POSTGRES = {"pgvector": "in the database", "memory": "in each process's memory"}
STORE_STATE = """
    SELECT s.fingerprint, s.kind || ' at ' || s.place, s.error,
        (SELECT count(*) FROM embeddings_outboxentry), (SELECT count(*) FROM embeddings_embedding)
    FROM (SELECT) one LEFT JOIN embeddings_outsidestore s ON true
"""
StoreRow = tuple[str | None, str | None, str | None, int, int]


@dataclass(frozen=True, slots=True)
class Finding:
    """`ok` None: the part is not running, and nothing says that it should."""

    part: str
    configured: str
    ok: bool | None
    says: str


class Unwell(Exception):
    """The part answers, and says what is wrong."""


def check_parts(app: Celery) -> Iterator[Finding]:
    """Check everything but the servers of models."""
    environment = settings.ENV
    is_writable = os.access(settings.DATA_DIR, os.W_OK | os.X_OK)
    yield Finding(
        "data folder",
        str(settings.DATA_DIR),
        is_writable,
        "can be written to" if is_writable else "cannot be written to",
    )
    for place, is_well, says in check_files():
        yield Finding("files", place, is_well, says)
    yield _check_service(
        "database",
        settings.DATABASE_URL,
        environment.database_url,
        lambda: _check_database(settings.DATABASE_URL),
    )
    if replica := environment.database_read_url:
        yield _check("replica", without_password(replica), lambda: _check_database(replica), must_run=True)
    yield Finding("vector store", *check_vector_store())
    yield _check_service("broker", settings.REDIS_URL, environment.redis_url, _check_broker)
    yield _check("workers", "Celery", lambda: _check_workers(app), must_run=False)
    address = _web_address()
    yield _check("web server", address, lambda: asyncio.run(_check_web(address)), must_run=False)


def check_vector_store() -> tuple[str, bool, str]:
    """Return what it is set to, whether it can be used, and what is to be said."""
    store, row = configuration.configured_store(), _store_row()
    if store is None:
        kind = settings.ENV.knowlex_vector_store
        gives_up = f"; the next start gives up {row[1]}" if row and row[1] else ""
        return kind, True, IN_POSTGRES[kind] + gives_up
    try:
        asyncio.run(_ping_store())
    except VectorStoreFailed as exc:
        return str(store), False, exc.message
    return str(store), True, "answers" + _describe_plan(store, row)


def without_password(url: str) -> str:
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=login.partition(":")[0] + at + host).geturl()


def _describe_plan(store: configuration.StoreIdentity, row: StoreRow | None) -> str:
    if row is None:
        return ""
    fingerprint, former, error, waiting, vectors = row
    if fingerprint != store.fingerprint:
        instead = f" instead of {former}" if former else ""
        return f"; the next start takes it into use{instead}, and sends it all {vectors} vectors"
    return f", in use, {waiting} vectors on their way" + (f"; its last failure: {error}" if error else "")


async def _ping_store() -> None:
    store = configuration.external_store()
    try:
        await store.ping()
    finally:
        await store.aclose()


def _store_row() -> StoreRow | None:
    rows = _fetch(STORE_STATE)
    return rows[0] if rows else None


def _fetch(statement: LiteralString) -> list[Any]:
    """Return no rows where the database cannot tell, or has no tables yet."""
    with (
        suppress(psycopg.Error),
        psycopg.connect(settings.DATABASE_URL, connect_timeout=TIMEOUT_S) as connection,
    ):
        return connection.execute(statement).fetchall()
    return []


def _check_service(part: str, url: str, external: str, check: Callable[[], str]) -> Finding:
    return _check(part, without_password(url) if external else "embedded", check, must_run=bool(external))


def _check(part: str, configured: str, check: Callable[[], str], *, must_run: bool) -> Finding:
    try:
        return Finding(part, configured, True, check())
    except Unwell as exc:
        return Finding(part, configured, False, str(exc))
    except FAILURES as exc:
        if not must_run:
            return Finding(part, configured, None, "not running")
        return Finding(part, configured, False, str(exc).strip().split("\n")[0])


def _check_database(url: str) -> str:
    with psycopg.connect(url, connect_timeout=TIMEOUT_S) as connection:
        version = str(connection.info.server_version // 10000)
        row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    return f"PostgreSQL {version}, pgvector {row[0] if row else 'not there yet'}"


def check_files() -> Iterator[tuple[str, bool, str]]:
    """Yield where files are stored, whether they can be written there, and what to say; nothing of a folder
    that a server makes when it starts.
    """
    store = storage.file_store()
    if not store.is_service:
        latest = [name for (name,) in _fetch(storage.LATEST_FILES)]
        state = storage.check_files(latest)
        if latest or state != "missing":
            yield store.place, state == "writable", _FOLDER.get(state, _FILES[state])
        return
    try:
        state = store.check()
    except DependencyUnavailable as exc:
        yield store.place, False, exc.message
        return
    yield store.place, state == "writable", _FILES[state]


def _check_broker() -> str:
    with redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=TIMEOUT_S, retry=Retry(NoBackoff(), 0)
    ) as client:
        info = client.info("server")
    return f"{info.get('server_name', 'redis')} {info.get('valkey_version', info.get('redis_version'))}"


def _check_workers(app: Celery) -> str:
    """Tell what runs, which is not what KNOWLEX_WORKERS says: `up --workers`, and other hosts' workers."""
    groups = app.control.inspect(timeout=1.0).stats()
    if not groups:
        raise OSError("no worker answers")
    counts = {name: group["pool"]["max-concurrency"] for name, group in groups.items()}
    return ", ".join(f"{name} with {n} process{'es' * (n != 1)}" for name, n in sorted(counts.items()))


async def _check_web(address: str) -> str:
    wire = JsonWire(address)
    try:
        reply = await wire.send("GET", "/health", timeout_s=TIMEOUT_S)
    finally:
        await wire.aclose()
    said = f"answers {reply.status}"
    if isinstance(reply.body, dict) and reply.body.get("status") in ("degraded", "unhealthy"):
        raise Unwell(f"{said}, {reply.body['status']}: {', '.join(_list_unwell(reply.body))}")
    return said


def _list_unwell(health: dict[str, Any]) -> Iterator[str]:
    """Yield the parts that /health finds amiss, each with its state."""
    for name, state in health.items():
        if isinstance(state, str) and state not in _WELL and name not in ("status", "timestamp"):
            yield f"{name} {state}"
    if not health.get("workers"):
        yield "no workers"
    for name, part in health.get("parts", {}).items():
        if part["state"] != "running":
            yield f"{name} {part['state']}"


def _web_address() -> str:
    """Return that of the `up` that runs in this data folder, wherever it serves; else where it would."""
    address = served_at(settings.DATA_DIR) or f"http://{_bracketed(settings.HOST)}:{settings.PORT}"
    host = urlsplit(address).hostname or ""
    return address.replace(_bracketed(host), LOOPBACK[host], 1) if host in LOOPBACK else address


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
