"""By what past questions can be chosen in the admin."""

from typing import Any, get_args
from uuid import UUID

from django.contrib import admin
from django.db.models import Exists, IntegerField, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.db.models.lookups import GreaterThanOrEqual
from django.http import HttpRequest

from documents.models import Collection
from rag.history.records import CLIENT_LEFT
from rag.models import Feedback
from rag.models.queries import DOUBTFUL
from rag.types.answer import Reason

Choices = list[tuple[str, str]]
MOST_COLLECTIONS = 100
FACES = ("platform", "query", "ask", "book", "openai", "mcp", "replay")


def humanize(word: str) -> str:
    """Write `below_threshold` as people read it."""
    return word.replace("_", " ").lower()


class ConditionFilter(admin.SimpleListFilter):
    """A filter by conditions. options: name -> (label, condition)."""

    options: dict[str, tuple[str, Q]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(name, label) for name, (label, _) in self.options.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.options.get(self.value() or "")
        return queryset.filter(chosen[1]) if chosen else queryset


class WorstFilter(admin.SimpleListFilter):
    """The filter for bad answers; the list also orders them, the worst first."""

    title = "worst answers"
    parameter_name = "worst"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("first", "Rated down, not all supported, or beside the question; worst first")]

    def queryset(self, request: HttpRequest, queryset: Any) -> QuerySet[Any]:
        chosen: QuerySet[Any] = queryset.rated_or_doubtful() if self.value() == "first" else queryset
        return chosen


class OutcomeFilter(ConditionFilter):
    title = "outcome"
    parameter_name = "outcome"
    options = {
        "answered": ("Answered", Q(answered=True)),
        "none": ("Not answered", Q(answered=False, error="")),
        **{one: (f"– {humanize(one)}", Q(answered=False, error="", reason=one)) for one in get_args(Reason)},
        "failed": ("Failed", ~Q(error__in=("", CLIENT_LEFT))),
        "left": ("Client left", Q(error=CLIENT_LEFT)),
    }


def _count(state: str) -> Any:
    return Cast(KeyTextTransform(state, "response__verification"), IntegerField())


def _has_claims(state: str) -> Q:
    return Q(**{f"response__verification__{state}__gt": 0})


class ClaimsFilter(ConditionFilter):
    """The filter by states of claims. Answers of an earlier release, not counted then, are in none."""

    title = "claims"
    parameter_name = "claims"
    options = {
        "contradicted": ("Some contradicted", _has_claims("contradicted")),
        "unverified": ("Some unverified", _has_claims("unverified")),
        "half": (
            "Half or more unverified",
            _has_claims("unverified")
            & Q(GreaterThanOrEqual(_count("unverified"), _count("exact") + _count("supported"))),
        ),
        "uncited": ("Some without a marker", _has_claims("uncited")),
        "verified": (
            "All verified",
            (_has_claims("exact") | _has_claims("supported"))
            & ~(_has_claims("contradicted") | _has_claims("unverified") | _has_claims("uncited")),
        ),
    }


class FaithfulnessFilter(ConditionFilter):
    title = "faithfulness"
    parameter_name = "faithfulness"
    options = {
        "low": ("Below 0.5", Q(response__faithfulness_score__lt=0.5)),
        "part": (
            "0.5 to below 1",
            Q(response__faithfulness_score__gte=0.5, response__faithfulness_score__lt=1),
        ),
        "full": ("All supported", Q(response__faithfulness_score=1)),
        "none": ("Answered, without a score", Q(answered=True, response__faithfulness_score=None)),
    }


class RelevanceFilter(ConditionFilter):
    title = "answers the question"
    parameter_name = "answers"
    options = {
        "hardly": (f"Hardly, below {DOUBTFUL}", Q(response__answer_relevance__lt=DOUBTFUL)),
        "well": (f"{DOUBTFUL} and more", Q(response__answer_relevance__gte=DOUBTFUL)),
    }


def _has_feedback(**conditions: Any) -> Q:
    return Q(Exists(Feedback.objects.filter(query=OuterRef("pk"), **conditions)))


class RatingFilter(ConditionFilter):
    title = "feedback"
    parameter_name = "feedback"
    options = {
        "down": ("Thumbs down", _has_feedback(rating="thumbs_down")),
        "up": ("Thumbs up", _has_feedback(rating="thumbs_up")),
        "comment": ("With a comment", _has_feedback(comment__gt="")),
        "none": ("None", ~_has_feedback()),
    }


class LatencyFilter(ConditionFilter):
    title = "latency"
    parameter_name = "latency"
    options = {
        "1": ("Over 1 s", Q(latency_ms__gt=1000)),
        "5": ("Over 5 s", Q(latency_ms__gt=5000)),
        "20": ("Over 20 s", Q(latency_ms__gt=20_000)),
    }


class FaceFilter(ConditionFilter):
    title = "route"
    parameter_name = "face"
    options = {name: (name, Q(face=name)) for name in FACES}


class QueryCollectionFilter(admin.SimpleListFilter):
    title = "collection"
    parameter_name = "collection"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        named = Collection.objects.order_by("name").values_list("id", "name")[:MOST_COLLECTIONS]
        return [(str(id_), name) for id_, name in named]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = parse_id_or_none(self.value())
        return queryset.filter(collection_ids__contains=[chosen]) if chosen else queryset


def parse_id_or_none(text: Any) -> UUID | None:
    try:
        return UUID(str(text))
    except ValueError:
        return None
