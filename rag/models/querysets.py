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
        """Select the set with this name, or with this id if the text is a UUID."""
        try:
            return self.filter(models.Q(name=name_or_id) | models.Q(id=UUID(name_or_id)))
        except ValueError:
            return self.filter(name=name_or_id)

    def allowed_to(self, access: Access) -> Self:
        """Select what the caller sees: a key bound to collections sees only the sets of these."""
        return self if access.allowed is None else self.filter(collection_id__in=access.allowed)

    def holding(self, text: str) -> Self:
        """Select those whose name or description holds the text, whatever the case."""
        return self.filter(models.Q(name__icontains=text) | models.Q(description__icontains=text))


class EvaluationQuerySet(models.QuerySet["Evaluation"]):
    def allowed_to(self, access: Access) -> Self:
        """Select those whose question set the caller sees and whose collections it may use."""
        if access.allowed is None:
            return self
        return self.filter(
            collection_ids__contained_by=access.allowed, question_set__collection_id__in=access.allowed
        )


class QueryQuerySet(models.QuerySet["Query"]):
    def allowed_to(self, access: Access) -> Self:
        """Select what the caller sees: a key bound to collections sees queries to these only, and its own."""
        if access.allowed is None:
            return self
        own = models.Q(collection_ids=[], key_id=access.key_id)
        return self.filter(
            own | models.Q(collection_ids__contained_by=access.allowed, collection_ids__len__gt=0)
        )

    def rated(self, rating: str) -> Self:
        """Select those that somebody gave this rating."""
        return self.filter(self.has_rating(rating))

    def has_rating(self, rating: str) -> models.Exists:
        """Return the condition that somebody gave a query this rating."""
        feedback = self.model._meta.apps.get_model("rag", "Feedback").objects
        return models.Exists(feedback.filter(query=models.OuterRef("pk"), rating=rating))

    def asked_within(self, days: int) -> Self:
        return self.filter(created_at__gte=timezone.now() - timedelta(days=days))

    def rated_or_doubtful(self) -> Self:
        """Select what may be bad, by three indexes: rated down, with claims that are not all supported,
        or hardly answering the question.
        """
        models_of = self.model._meta.apps.get_model
        rated = models_of("rag", "Feedback").objects.filter(rating="thumbs_down").values("query_id")
        responses = models_of("rag", "Response").objects.values("query_id")
        unfaithful = responses.filter(faithfulness_score__lt=1)
        return self.filter(id__in=unfaithful.union(responses.filter(answer_relevance__lt=DOUBTFUL), rated))
