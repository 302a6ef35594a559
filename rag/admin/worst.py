"""Which answers are the worst: rated down, then the least faithful."""

from typing import Any

from django.db.models import F, QuerySet

from rag.models import Query

WORST = ("-rated_down", F("response__faithfulness_score").asc(nulls_last=True), "-created_at")
SHOWN = 10
NEEDED = ("original_query", "latency_ms", "created_at", "response__faithfulness_score")


def with_rated_down(rows: QuerySet[Any]) -> QuerySet[Any]:
    annotated: QuerySet[Any] = rows.annotate(rated_down=Query.objects.has_rating("thumbs_down"))
    return annotated


def worst_answers(days: int, collection: Any = None) -> list[Any]:
    """A few of the last days, with their responses; those that nobody minds are not among them."""
    rows = Query.objects.rated_or_doubtful().asked_within(days)
    rows = rows if collection is None else rows.filter(collection_ids__contains=[collection])
    shown = with_rated_down(rows).select_related("response").only(*NEEDED)
    return list(shown.order_by(*WORST)[:SHOWN])
