"""What workers do about the vector indexes every few minutes, if rows were written since."""

from datetime import timedelta

from django.utils import timezone

from embeddings.indexing import records
from embeddings.indexing.building import count_rows, drop_orphans, ensure_index, hold_build_lock
from embeddings.indexing.measuring import measure
from embeddings.models import EmbeddingModel, IndexMeasurement, VectorIndex
from knowlex.db.threads import execute

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
    """Whether rows have changed that only a later measurement will take in."""
    state = VectorIndex.objects.filter(model=model).first()
    if state is None or state.measured_at is None or not _has_changed(state):
        return False
    if timezone.now() - state.measured_at < MEASURED_EVERY:
        return True
    return measure_now(model, reason="schedule") is None


def measure_now(model: EmbeddingModel, *, reason: str) -> IndexMeasurement | None:
    """None without an index, while another process is at it, or where it takes too long."""
    with hold_build_lock() as is_alone:
        state = VectorIndex.objects.select_related("model").filter(model=model).first()
        if not is_alone or state is None:
            return None
        index, (rows, _) = records.index_of(state), count_rows(model.pk)
        found = measure(index, rows=rows, effort=state.effort)
        return records.record_measurement(index, rows, found, reason) if found else None


def _has_changed(state: VectorIndex) -> bool:
    last = IndexMeasurement.objects.filter(model=state.model_id).first()
    before = last.rows if last else state.rows
    rows, came = count_rows(state.model_id, since=state.measured_at)
    gone = before - (rows - came)
    return came + max(0, gone) > CHANGED * before
