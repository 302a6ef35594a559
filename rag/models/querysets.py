"""Queries about question sets, evaluations and past questions."""

from datetime import timedelta
from typing import TYPE_CHECKING, Self
from uuid import UUID

from django.db import models
from django.utils import timezone

from documents.access import Access

if TYPE_CHECKING:
    from rag.models import Evaluation, Query, QuestionSet  # noqa: F401

DOUBTFUL = 0.4  # an answer of less relevance hardly answers its question: see rag.relevance.answers


class QuestionSetQuerySet(models.QuerySet["QuestionSet"]):
    def named(self, name_or_id: str) -> Self:
        """The set with this name, or with this id if the text is a UUID."""
        try:
            return self.filter(models.Q(name=name_or_id) | models.Q(id=UUID(name_or_id)))
        except ValueError:
            return self.filter(name=name_or_id)

    def allowed_to(self, access: Access) -> Self:
        """A key that is bound to collections sees the sets that belong to one of them."""
        return self if access.allowed is None else self.filter(collection_id__in=access.allowed)

    def holding(self, text: str) -> Self:
        """Those whose name or description holds the text, whatever the case."""
        return self.filter(models.Q(name__icontains=text) | models.Q(description__icontains=text))


class EvaluationQuerySet(models.QuerySet["Evaluation"]):
    def allowed_to(self, access: Access) -> Self:
        """Those whose question set the caller sees, and all of whose collections it may use."""
        if access.allowed is None:
            return self
        return self.filter(
            collection_ids__contained_by=access.allowed, question_set__collection_id__in=access.allowed
        )


class QueryQuerySet(models.QuerySet["Query"]):
    def allowed_to(self, access: Access) -> Self:
        """Select the queries that the caller may see.

        An account, and a key that belongs to it, sees its own. Another key sees those of no account, with
        scope admin all; one that is bound to collections those that read none but these, and its own.
        rag.answering.replay has the same in SQL.
        """
        if access.user_id is not None:
            rows = self.filter(user_id=access.user_id)
        elif access.may("admin"):
            rows = self
        else:
            rows = self.filter(user_id=None)
        if access.allowed is None:
            return rows
        own = models.Q(collection_ids=[], key_id=access.key_id)
        if access.user_id is not None:
            own = models.Q(collection_ids=[])
        return rows.filter(
            own | models.Q(collection_ids__contained_by=access.allowed, collection_ids__len__gt=0)
        )

    def rated(self, rating: str) -> Self:
        """Those that somebody gave this rating."""
        return self.filter(self.has_rating(rating))

    def has_rating(self, rating: str) -> models.Exists:
        """Whether somebody gave a query this rating."""
        feedback = self.model._meta.apps.get_model("rag", "Feedback").objects
        return models.Exists(feedback.filter(query=models.OuterRef("pk"), rating=rating))

    def asked_within(self, days: int) -> Self:
        return self.filter(created_at__gte=timezone.now() - timedelta(days=days))

    def rated_or_doubtful(self) -> Self:
        """Those that somebody rated down, whose claims are not all supported, or that hardly answer the
        question; by three indexes.
        """
        models_of = self.model._meta.apps.get_model
        rated = models_of("rag", "Feedback").objects.filter(rating="thumbs_down").values("query_id")
        responses = models_of("rag", "Response").objects.values("query_id")
        unfaithful = responses.filter(faithfulness_score__lt=1)
        return self.filter(id__in=unfaithful.union(responses.filter(answer_relevance__lt=DOUBTFUL), rated))
