"""What `doctor` tells of the vector store: whether it answers, and what the next start does about it."""

import asyncio
from contextlib import suppress

import psycopg
from django.conf import settings

from embeddings import outside
from knowlex.common.errors import VectorStoreFailed

TIMEOUT_S = 3
IN_POSTGRES = {"pgvector": "in the database", "memory": "in each process's memory"}
_STATE = """
    SELECT s.fingerprint, s.kind || ' at ' || s.place, s.error,
        (SELECT count(*) FROM embeddings_outboxentry), (SELECT count(*) FROM embeddings_embedding)
    FROM (SELECT) one LEFT JOIN embeddings_outsidestore s ON true
"""
Row = tuple[str | None, str | None, str | None, int, int]


def vector_store() -> tuple[str, bool, str]:
    """What it is set to, whether it can be used, and what is to be said."""
    used, row = outside.in_use(), _state()
    if used is None:
        kind = settings.ENV.knowlex_vector_store
        gives_up = f"; the next start gives up {row[1]}" if row and row[1] else ""
        return kind, True, IN_POSTGRES[kind] + gives_up
    try:
        asyncio.run(_ping())
    except VectorStoreFailed as exc:
        return str(used), False, exc.message
    return str(used), True, "answers" + _plan(used, row)


def _plan(used: outside.Used, row: Row | None) -> str:
    if row is None:
        return ""
    fingerprint, former, error, waiting, vectors = row
    if fingerprint != used.fingerprint:
        instead = f" instead of {former}" if former else ""
        return f"; the next start takes it into use{instead}, and sends it all {vectors} vectors"
    return f", in use, {waiting} vectors on their way" + (f"; its last failure: {error}" if error else "")


async def _ping() -> None:
    store = outside.outside_store()
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
