"""Queries about question sets and evaluations."""

from typing import TYPE_CHECKING, Self
from uuid import UUID

from django.db import models

from documents.access import Access

if TYPE_CHECKING:
    from rag.models import Evaluation, QuestionSet  # noqa: F401


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
