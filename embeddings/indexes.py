"""The life of the vector index: none until there is data for one, then one for the number of rows there are.

Measured: IVFFlat built on an empty table finds a tenth of what it should; lists = sqrt(rows), 32 probes: .96.
"""

import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from psycopg.sql import SQL, Composed, Identifier, Literal

from embeddings.models import EmbeddingModel
from embeddings.queue import INDEX_LOCK
from knowlex.common.database import execute

log = logging.getLogger(__name__)

PREFIX = "embeddings_vectors_"  # and the model's id
MIN_ROWS = 20_000  # below, an exact scan takes under 10 ms
MAX_DIMENSIONS = 2000  # what pgvector can index as `vector`
GROWTH = 4  # built anew when there are so many times the rows it was built for
SETUP = (
    SQL("SET LOCAL ivfflat.probes = 32"),
    SQL("SET LOCAL ivfflat.iterative_scan = relaxed_order"),  # goes on until there are enough rows
)
_CREATE = SQL("""
    CREATE INDEX CONCURRENTLY {name} ON embeddings_embedding
    USING ivfflat ((vector::vector({size})) vector_cosine_ops) WITH (lists = {lists}) WHERE model_id = {model}
""")
_DROP = SQL("DROP INDEX CONCURRENTLY IF EXISTS {name}")
_STATE = """
    SELECT x.indisvalid, (SELECT option_value::int FROM pg_options_to_table(c.reloptions)
                          WHERE option_name = 'lists')
    FROM pg_class c JOIN pg_index x ON x.indexrelid = c.oid WHERE c.relname = %s
"""


def ensure_index(*, min_rows: int = MIN_ROWS) -> str | None:
    """Build or rebuild the active model's index if its data ask for it; returns the name of the one built.

    Searches and writes go on meanwhile; another process that is at it is left to it. Not in a transaction.
    """
    model = EmbeddingModel.objects.active().first()
    if model is None or not 0 < model.dimensions <= MAX_DIMENSIONS:
        return None
    with _alone() as alone:
        if not alone:
            return None
        rows = execute("SELECT count(*) FROM embeddings_embedding WHERE model_id = %s", [model.pk])[0][0]
        if rows < min_rows or not _is_due(model.pk, rows):
            return None
        return _build(model, rows)


def lists_for(rows: int) -> int:
    return max(1, min(32_768, round(math.sqrt(rows))))


def _is_due(model_id: int, rows: int) -> bool:
    state = execute(_STATE, [f"{PREFIX}{model_id}"])
    if not state:
        return True
    valid, lists = state[0]
    return not valid or rows > GROWTH * max(1, lists or 0) ** 2


def _build(model: EmbeddingModel, rows: int) -> str:
    name = f"{PREFIX}{model.pk}"
    log.info("building the vector index", extra={"model": model.name, "rows": rows})
    _run(SQL("SET maintenance_work_mem = '512MB'"))
    try:
        _run(_DROP.format(name=Identifier(name)))  # too coarse by now, or left invalid by a crash
        _run(
            _CREATE.format(
                name=Identifier(name),
                size=Literal(model.dimensions),
                lists=Literal(lists_for(rows)),
                model=Literal(model.pk),
            )
        )
    finally:
        _run(SQL("RESET maintenance_work_mem"))
    return name


def _run(statement: SQL | Composed) -> None:
    execute(statement.as_string(None))


@contextmanager
def _alone() -> Iterator[bool]:
    """Whether this session is the only builder; the lock ends with the session at the latest."""
    (alone,) = execute("SELECT pg_try_advisory_lock(%s)", [INDEX_LOCK])[0]
    try:
        yield alone
    finally:
        if alone and connection.connection and not connection.connection.closed:
            execute("SELECT pg_advisory_unlock(%s)", [INDEX_LOCK])
