"""Which answers are the worst.

`WORST` is their order: rated down first; then those that say what the passages contradict; then by the lower
one of faithfulness and answer relevance; then by how many claims are unverified or without a marker; then
the newest. `rated_or_doubtful` chooses them by indexes, and only what it chooses is sorted.
"""

from typing import Any

from django.db.models import F, IntegerField, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Least, Sign

from rag.models import Query


def _count(state: str) -> Any:
    """Of the claims in this state; 0 for an answer whose claims were not counted."""
    return Coalesce(Cast(KeyTextTransform(state, "response__verification"), IntegerField()), 0)


WORST = (
    "-rated_down",
    Sign(_count("contradicted")).desc(),
    Least(F("response__faithfulness_score"), F("response__answer_relevance")).asc(nulls_last=True),
    (_count("unverified") + _count("uncited")).desc(),
    "-created_at",
)
SHOWN = 10
NEEDED = (
    "original_query", "latency_ms", "created_at", "response__faithfulness_score",
    "response__answer_relevance", "response__verification",
)  # fmt: skip


def with_rated_down(rows: QuerySet[Any]) -> QuerySet[Any]:
    annotated: QuerySet[Any] = rows.annotate(rated_down=Query.objects.has_rating("thumbs_down"))
    return annotated


def worst_answers(days: int, collection: Any = None) -> list[Any]:
    """A few of the last days, with their responses; those that nobody minds are not among them."""
    rows = Query.objects.rated_or_doubtful().asked_within(days)
    rows = rows if collection is None else rows.filter(collection_ids__contains=[collection])
    shown = with_rated_down(rows).select_related("response").only(*NEEDED)
    return list(shown.order_by(*WORST)[:SHOWN])
