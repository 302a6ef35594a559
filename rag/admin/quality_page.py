"""How answers were over the last days, as the page with the charts shows it."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from django.db.models import F, IntegerField, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Least, Sign

from documents.models import Collection
from rag.admin.query_filters import MOST_COLLECTIONS, humanize, parse_id_or_none
from rag.charts import DayChart, Series, draw_lines, stack_bars
from rag.history.statistics import DayStatistics, fetch_days, fetch_outcomes
from rag.models import Query
from rag.relevance import answers
from rag.types import claims
from rag.types.answer import Reason

PERIODS = (7, 30, 90, 365)
DEFAULT_PERIOD = 30
OUTCOMES = ("answered", "cached", *get_args(Reason), "left", "failed")
HOW = (("Faithfulness", claims.HOW), ("Answer relevance", answers.HOW))
OUTCOME_NAMES = {"cached": "answered from the cache", "left": "client left"}


def build_quality_page(asked: Mapping[str, str]) -> dict[str, Any]:
    """Build the template's context. asked: `days`, one of the periods, and `collection`, an id; what is
    unknown is ignored.
    """
    days = next((period for period in PERIODS if str(period) == asked.get("days")), DEFAULT_PERIOD)
    collections = list(Collection.objects.order_by("name").values_list("id", "name")[:MOST_COLLECTIONS])
    chosen = parse_id_or_none(asked.get("collection"))
    chosen = chosen if chosen in {id_ for id_, _ in collections} else None
    told_days, outcomes = fetch_days(days, chosen), fetch_outcomes(days, chosen)
    return {
        "days": days,
        "periods": PERIODS,
        "collections": collections,
        "chosen": chosen,
        "charts": _build_charts(told_days, outcomes),
        "sums": _list_sums(told_days),
        "rows": list(reversed(told_days)),
        "reasons": _count_reasons(outcomes),
        "worst": find_worst_answers(days, chosen),
        "how": HOW,
    }


def _build_charts(days: Sequence[DayStatistics], outcomes: Mapping[Any, Mapping[str, int]]) -> list[DayChart]:
    dates = [one.day for one in days]
    of_outcome = [
        Series(
            OUTCOME_NAMES.get(name, humanize(name)),
            f"rq-{name}",
            [outcomes.get(day, {}).get(name, 0) for day in dates],
        )
        for name in OUTCOMES
    ]
    latency = [
        Series("median", "rq-answered", [_seconds(one.median_ms) for one in days]),
        Series("95 %", "rq-failed", [_seconds(one.p95_ms) for one in days]),
    ]
    faithful = [Series("mean", "rq-answered", [one.faithfulness for one in days])]
    relevant = [Series("mean", "rq-answered", [one.answer_relevance for one in days])]
    thumbs = [
        Series("thumbs up", "rq-answered", [one.thumbs_up for one in days]),
        Series("thumbs down", "rq-failed", [one.thumbs_down for one in days]),
    ]
    return [
        stack_bars("Questions per day", dates, of_outcome),
        draw_lines("Latency, without what failed or came from the cache", dates, latency, " s"),
        draw_lines("Faithfulness: do the passages support what is claimed?", dates, faithful, top=1),
        draw_lines("Answer relevance: does the answer answer the question?", dates, relevant, top=1),
        stack_bars("Feedback per day", dates, thumbs),
    ]


def _seconds(ms: float | None) -> float | None:
    return None if ms is None else ms / 1000


def _list_sums(days: Sequence[DayStatistics]) -> list[tuple[str, Any]]:
    questions = sum(one.questions for one in days)
    answered = sum(one.answered for one in days)
    faithful = _format_mean([(one.faithfulness, one.judged) for one in days])
    relevant = _format_mean([(one.answer_relevance, one.relevance_judged) for one in days])
    return [
        ("Questions", f"{questions:,}"),
        ("Answered", f"{answered / questions:.0%}" if questions else "–"),
        ("From the cache", f"{sum(one.cached for one in days):,}"),
        ("Failed", f"{sum(one.failed for one in days):,}"),
        ("Mean faithfulness", faithful),
        ("Mean answer relevance", relevant),
        ("Thumbs up", f"{sum(one.thumbs_up for one in days):,}"),
        ("Thumbs down", f"{sum(one.thumbs_down for one in days):,}"),
        ("Tokens in", f"{sum(one.input_tokens for one in days):,}"),
        ("Tokens out", f"{sum(one.output_tokens for one in days):,}"),
    ]


def _format_mean(of_days: Sequence[tuple[float | None, int]]) -> str:
    """Format the mean over all days. of_days: the mean of each day, and of how many answers it is."""
    judged = sum(count for _, count in of_days)
    return f"{sum((mean or 0) * count for mean, count in of_days) / judged:.2f}" if judged else "–"


def _count_reasons(outcomes: Mapping[Any, Mapping[str, int]]) -> list[tuple[str, int]]:
    """Count why there was no answer, the most frequent reason first."""
    counts: dict[str, int] = {}
    for of_day in outcomes.values():
        for name, count in of_day.items():
            if name not in ("answered", "cached"):
                counts[name] = counts.get(name, 0) + count
    return sorted(
        ((OUTCOME_NAMES.get(name) or humanize(name) or "not told", count) for name, count in counts.items()),
        key=lambda one: -one[1],
    )


def _count(state: str) -> Any:
    """Count the claims in this state; 0 for an answer whose claims were not counted."""
    return Coalesce(Cast(KeyTextTransform(state, "response__verification"), IntegerField()), 0)


# Rated down first; then those that say what the passages contradict; then by the lower one of faithfulness
# and answer relevance; then by how many claims are unverified or without a marker; then the newest.
WORST = (
    "-rated_down",
    Sign(_count("contradicted")).desc(),
    Least(F("response__faithfulness_score"), F("response__answer_relevance")).asc(nulls_last=True),
    (_count("unverified") + _count("uncited")).desc(),
    "-created_at",
)
SHOWN_ANSWERS = 10
NEEDED_COLUMNS = (
    "original_query", "latency_ms", "created_at", "response__faithfulness_score",
    "response__answer_relevance", "response__verification",
)  # fmt: skip


def with_rated_down(rows: QuerySet[Any]) -> QuerySet[Any]:
    annotated: QuerySet[Any] = rows.annotate(rated_down=Query.objects.has_rating("thumbs_down"))
    return annotated


def find_worst_answers(days: int, collection: Any = None) -> list[Any]:
    """Return the worst answers of the last days; indexes choose what may be bad, and only that is sorted."""
    rows = Query.objects.rated_or_doubtful().asked_within(days)
    rows = rows if collection is None else rows.filter(collection_ids__contains=[collection])
    shown = with_rated_down(rows).select_related("response").only(*NEEDED_COLUMNS)
    return list(shown.order_by(*WORST)[:SHOWN_ANSWERS])
