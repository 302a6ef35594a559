"""The life of the vector index: none until there is data for one, then one for the number of rows there are.

It is built under a new name beside the old one, measured, and only then used: there is never a moment
without. Workers see to it every few minutes, if rows were written since. Each statement names by its
predicate which of the two it means.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path

import psutil
import psycopg
from django.conf import settings
from django.db import OperationalError, connection
from django.utils import timezone
from psycopg.sql import SQL, Composed, Identifier

from embeddings.external.configuration import store_name
from embeddings.indexing import measuring
from embeddings.indexing.kinds import PREFIX, Index, explain_unsupported, ivfflat_build_bytes, lists_for
from embeddings.indexing.measuring import measure
from embeddings.models import EmbeddingModel, IndexMeasurement, VectorIndex
from embeddings.queue import INDEX_LOCK
from knowlex.db.threads import execute

log = logging.getLogger(__name__)

GROWTH = 4  # built anew when there are so many times the rows it was built for
REPLACED = 0.5  # or this share of them has gone
_MOST_MEMORY_MB, _LEAST_MEMORY_MB = 4096, 64
_ELSEWHERE_MB = 1024  # where PostgreSQL has a machine of its own, whose memory is not known here
_CGROUP = Path("/sys/fs/cgroup")
_DROP = SQL("DROP INDEX CONCURRENTLY IF EXISTS {name}")
_COUNT = "SELECT count(*) FROM embeddings_embedding WHERE model_id = %s"
_COUNT_SINCE = """
    SELECT count(*), count(*) FILTER (WHERE created_at > %s) FROM embeddings_embedding WHERE model_id = %s
"""
_RELATIONS = """
    SELECT c.relname, x.indisvalid FROM pg_class c JOIN pg_index x ON x.indexrelid = c.oid
    WHERE x.indrelid = 'embeddings_embedding'::regclass AND starts_with(c.relname, %s)
"""


def ensure_index(model: EmbeddingModel | None = None, *, min_rows: int | None = None) -> str | None:
    """Build or rebuild a model's index if its data or the settings ask for it; the name of the one built.

    model: None for the active one; any other may have one too. min_rows: None for what was measured to pay.
    Searches and writes go on meanwhile; another process that is at it is left to it. Not in a transaction.
    """
    model = model or EmbeddingModel.objects.active().first()
    if model is None:
        return None
    with hold_build_lock() as is_alone:
        return _ensure(model, min_rows) if is_alone else None


def rebuild(model: EmbeddingModel) -> str | None:
    """Build it whatever the number of rows; return None while another process is at it, or without a row."""
    with hold_build_lock() as is_alone:
        rows, _ = count_rows(model.pk)
        if not is_alone or not rows or explain_refusal(model):
            return None
        return _build(model, VectorIndex.objects.filter(model=model).first(), rows, "asked for")


def drop_index(model_id: int) -> None:
    """Drop the index of a model that goes, or has gone: its searches are exact from now on. Not in a
    transaction.
    """
    VectorIndex.objects.filter(model=model_id).delete()
    _drop_others(model_id, keep="")


def explain_refusal(model: EmbeddingModel) -> str:
    """Explain why the settings allow this model no index; "" if they do."""
    if store := store_name():
        return f"Vectors are searched in {store} (KNOWLEX_VECTOR_STORE)."
    kind, storage = settings.VECTOR_INDEX, settings.VECTOR_INDEX_STORAGE
    return explain_unsupported(model.dimensions, kind, storage)


@contextmanager
def hold_build_lock() -> Iterator[bool]:
    """Yield whether this session is the only builder; the lock ends with the session at the latest."""
    (is_alone,) = execute("SELECT pg_try_advisory_lock(%s)", [INDEX_LOCK])[0]
    try:
        yield is_alone
    finally:
        if is_alone and connection.connection and not connection.connection.closed:
            execute("SELECT pg_advisory_unlock(%s)", [INDEX_LOCK])


def is_being_built() -> bool:
    """Tell whether another process builds or measures an index now."""
    with hold_build_lock() as is_alone:
        return not is_alone


def drop_orphans() -> None:
    """Drop the indexes of models that are gone. The caller holds the build lock."""
    models = {str(pk) for pk in EmbeddingModel.objects.values_list("pk", flat=True)}
    for name, _ in execute(_RELATIONS, [PREFIX]):
        match = re.match(rf"{PREFIX}(\d+)", name)
        if match and match[1] not in models:
            _run(_DROP.format(name=Identifier(name)))


def _ensure(model: EmbeddingModel, min_rows: int | None) -> str | None:
    state = VectorIndex.objects.filter(model=model).first()
    enough = measuring.min_rows(model.dimensions) if min_rows is None else min_rows
    rows, since = count_rows(model.pk, since=state.built_at if state else None)
    reason = explain_refusal(model)
    if reason or rows < enough // 2:
        if state is not None:
            log.info("vector index dropped", extra={"model": model.name, "rows": rows, "reason": reason})
        drop_index(model.pk)  # without a state, too: one of an earlier release, or what a crash left
        return None
    reason = _due(state, rows, since) if state else ("first" if rows >= enough else "")
    if reason:
        return _build(model, state, rows, reason)
    _drop_others(model.pk, keep=measuring.index_of(state).name if state else "")
    return None


def count_rows(model_id: int, *, since: datetime | None = None) -> tuple[int, int]:
    """Count the model's rows, and how many of them came since then."""
    if since is None:
        return int(execute(_COUNT, [model_id])[0][0]), 0
    rows, came = execute(_COUNT_SINCE, [since, model_id])[0]
    return rows, came


def _due(state: VectorIndex, rows: int, since: int) -> str:
    """Explain why the index is to be built anew; "" if it is not."""
    if (state.kind, state.storage) != (settings.VECTOR_INDEX, settings.VECTOR_INDEX_STORAGE):
        return "settings changed"
    name = measuring.index_of(state).name
    if (name, True) not in execute(_RELATIONS, [name]):
        return "lost"
    if state.kind == "ivfflat" and rows > GROWTH * state.rows:
        return "grown"
    return "replaced" if state.rows - (rows - since) > REPLACED * state.rows else ""


def _build(model: EmbeddingModel, state: VectorIndex | None, rows: int, reason: str) -> str:
    # What earlier builds that failed have left costs every write, and is only more with each try.
    _drop_others(model.pk, keep=measuring.index_of(state).name if state else "")
    kind, storage = settings.VECTOR_INDEX, settings.VECTOR_INDEX_STORAGE
    number = _last_number(model.pk) + 1
    memory = _usable_memory_mb() << 20
    lists = lists_for(rows, model.dimensions, storage, memory) if kind == "ivfflat" else 0
    index = Index(model.pk, model.dimensions, number, kind, storage, lists)
    log.info("building the vector index", extra={"index": index.name, "rows": rows, "reason": reason})
    _create(index, rows, memory)
    measuring.record_build(index, rows, measure(index, rows=rows, effort=None), reason)
    _drop_others(model.pk, keep=index.name)
    return index.name


def _usable_memory_mb() -> int:
    """Return how much a build may take: a quarter of what is free on PostgreSQL's machine."""
    if not str(settings.DATABASES["default"]["HOST"]).startswith("/"):
        return _ELSEWHERE_MB
    free = psutil.virtual_memory().available
    with suppress(OSError, ValueError):  # not in a container, or one without a limit ("max")
        limit, used = (int((_CGROUP / name).read_text()) for name in ("memory.max", "memory.current"))
        free = min(free, limit - used)
    return max(_LEAST_MEMORY_MB, min(_MOST_MEMORY_MB, free // 4 >> 20))


def _create(index: Index, rows: int, usable: int) -> None:
    """Create it by one process, in no more memory than its vectors take: searches go on beside it.

    usable: bytes. An ANALYZE by hand waits for the build's lock, and the build for the ANALYZE: one of them
    is ended. What that leaves of the index is invalid, and goes before the next try.
    """
    if index.kind == "hnsw":
        wanted = rows * (4 * index.dimensions + 512) * 3 // 2
    else:
        wanted = ivfflat_build_bytes(index.lists, index.dimensions, index.storage) + (16 << 20)
    memory = max(_LEAST_MEMORY_MB, min(usable, wanted) >> 20)
    _run(SQL(f"SET maintenance_work_mem = '{memory}MB'"))
    _run(SQL("SET max_parallel_maintenance_workers = 0"))
    try:
        for tries_left in (2, 1, 0):
            try:
                return _run(index.creation())
            except OperationalError as exc:
                if not tries_left or not isinstance(exc.__cause__, psycopg.errors.DeadlockDetected):
                    raise
                log.warning("the vector index is built again after a deadlock", extra={"index": index.name})
                _run(_DROP.format(name=Identifier(index.name)))
    finally:
        _run(SQL("RESET maintenance_work_mem"))
        _run(SQL("RESET max_parallel_maintenance_workers"))


def _last_number(model_id: int) -> int:
    """Return the highest number of all its indexes, those in the making, left over or invalid included."""
    names = [name for name, _ in execute(_RELATIONS, [f"{PREFIX}{model_id}_"])]
    numbers = [int(name.rsplit("_", 1)[1]) for name in names]
    recorded = VectorIndex.objects.filter(model=model_id).values_list("number", flat=True)
    return max([0, *numbers, *recorded])


def _drop_others(model_id: int, *, keep: str) -> None:
    """Drop earlier indexes of the model, and what a crash left invalid."""
    for name, _ in execute(_RELATIONS, [f"{PREFIX}{model_id}"]):
        if name != keep and re.fullmatch(rf"{PREFIX}{model_id}(_\d+)?", name):
            _run(_DROP.format(name=Identifier(name)))


def _run(statement: SQL | Composed) -> None:
    execute(statement.as_string(None))


MEASURED_EVERY = timedelta(hours=1)
CHANGED = 0.01  # share of the rows; a smaller change since the last measurement asks for none
_WRITES = """
    SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) FROM pg_stat_user_tables
    WHERE relname = 'embeddings_embedding'
"""
# Of the last pass that left nothing for later: how many writes there were, and the models that it looked at.
_seen: tuple[int, list[EmbeddingModel]] | None = None


def maintain_indexes() -> None:
    """Build what is due, and measure what has changed: for the active model, and those to go back to."""
    global _seen
    writes = int(execute(_WRITES)[0][0])
    models = list(EmbeddingModel.objects.filter(wanted=True, activated_at__isnull=False).order_by("pk"))
    if _seen == (writes, models):
        return
    postponed = False
    for model in models:
        ensure_index(model)
        postponed |= measure_if_due(model)
    with hold_build_lock() as is_alone:
        if is_alone:
            drop_orphans()
    _seen = None if postponed else (writes, models)


def measure_if_due(model: EmbeddingModel) -> bool:
    """Return whether rows have changed that only a later measurement will take in."""
    state = VectorIndex.objects.filter(model=model).first()
    if state is None or state.measured_at is None or not _has_changed(state):
        return False
    if timezone.now() - state.measured_at < MEASURED_EVERY:
        return True
    return measure_now(model, reason="schedule") is None


def measure_now(model: EmbeddingModel, *, reason: str) -> IndexMeasurement | None:
    """Return None without an index, while another process is at it, or where it takes too long."""
    with hold_build_lock() as is_alone:
        state = VectorIndex.objects.select_related("model").filter(model=model).first()
        if not is_alone or state is None:
            return None
        index, (rows, _) = measuring.index_of(state), count_rows(model.pk)
        measurement = measure(index, rows=rows, effort=state.effort)
        return measuring.record_measurement(index, rows, measurement, reason) if measurement else None


def _has_changed(state: VectorIndex) -> bool:
    last = IndexMeasurement.objects.filter(model=state.model_id).first()
    before = last.rows if last else state.rows
    rows, came = count_rows(state.model_id, since=state.measured_at)
    gone = before - (rows - came)
    return came + max(0, gone) > CHANGED * before
