"""How the admin puts states, times and receipts."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from documents.admin.words import count_noun
from knowlex.runtime.liveness import count_alive_now


def state_of(progress: dict[str, Any]) -> str:
    """Of a job, from `with_progress`: completed (some of it may have failed), failed (all of it), stalled
    (who had a document in hand is gone, or it waits and no worker is alive), processing or pending.
    """
    if progress["ended"] == progress["total"]:
        return "failed" if progress["total"] and progress["failed"] == progress["total"] else "completed"
    if progress["stalled"] or (progress["neglected"] and not count_alive_now()):
        return "stalled"
    return "processing" if progress["started"] else "pending"


def duration(start: datetime | None, end: datetime | None) -> str:
    """As `1 h 2 min`, `2 min 5 s` or `0.8 s`; until now, if there is no end; a dash without a start."""
    if start is None:
        return "–"
    seconds = max(0.0, ((end or timezone.now()) - start).total_seconds())
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes else f"{rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def receipt_text(receipt: Any) -> str:
    """What a deletion took along (embeddings.work.ingestion.Receipt), for a person."""
    parts = [
        count_noun(receipt.documents, "document"),
        count_noun(receipt.pages, "page"),
        count_noun(receipt.chunks, "chunk"),
        count_noun(receipt.vectors, "vector"),
    ]
    return f"Deleted: {', '.join(parts[:-1])} and {parts[-1]}."
