"""Question sets, and what configurations did with them."""

from typing import Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from documents.access import Access
from knowlex.base.ids import new_id


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


class QuestionSet(models.Model):
    """Never changed once it is stored, so that figures taken on it can be compared.

    collection: the one that its questions are about, with which it goes; null for any. An API key that is
    bound to collections sees the sets of these only.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=255, unique=True)
    description = models.TextField(blank=True, default="")
    collection = models.ForeignKey(
        "documents.Collection",
        models.DO_NOTHING,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
    )
    question_count = models.IntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = QuestionSetQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class SetQuestion(models.Model):
    """One question: the fields of rag.evaluation.types.Case. position: from 0, in the order of the upload."""

    id = models.BigAutoField(primary_key=True)
    question_set = models.ForeignKey(
        QuestionSet, models.DO_NOTHING, related_name="questions", db_constraint=False, db_index=False
    )
    position = models.IntegerField()
    key = models.CharField(max_length=255)
    question = models.TextField()
    answers = models.JSONField(default=list)
    document = models.TextField(blank=True, default="")
    pages = ArrayField(models.IntegerField(), default=list)
    chapter = models.TextField(blank=True, default="")
    section = models.TextField(blank=True, default="")
    answerable = models.BooleanField(default=True)
    answer_type = models.CharField(max_length=8, blank=True, default="")
    lang = models.CharField(max_length=16, default="en")
    document_lang = models.CharField(max_length=16, blank=True, default="")
    evidence = models.TextField(blank=True, default="")
    key_numbers = models.JSONField(default=list)
    relevant = models.JSONField(default=dict)
    tags = ArrayField(models.TextField(), default=list)
    metadata = models.JSONField(default=dict)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["question_set", "position"], name="set_questions_in_order"),
            models.UniqueConstraint(fields=["question_set", "key"], name="set_questions_one_per_key"),
        ]

    def __str__(self) -> str:
        return self.key


class Evaluation(models.Model):
    """One run of a set under one or two configurations: `[{"name", "settings"}]`.

    collection_ids: all that are read; the evaluation goes with any of them. done: questions from the first
    one on whose results are stored, of `total`. lease: token of the worker that has it in hand.
    leased_until: by the database's clock; past it, anyone may take the run over. attempts: how often it was
    taken since something was stored. summary: rag.evaluation.summary, once it has ended.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        RUNNING = "running"
        COMPLETED = "completed"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    question_set = models.ForeignKey(
        QuestionSet, models.DO_NOTHING, related_name="evaluations", db_constraint=False
    )
    collection_ids = ArrayField(models.UUIDField())
    configurations = models.JSONField()
    answers = models.BooleanField(default=False)
    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING)
    error = models.TextField(blank=True, default="")
    total = models.IntegerField()
    done = models.IntegerField(default=0)
    summary = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    lease = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    taken_at = models.DateTimeField(null=True)
    key_id = models.UUIDField(null=True)  # of the API key that asked, for the record
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)

    objects = EvaluationQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(
                fields=["taken_at"],
                condition=models.Q(status__in=["pending", "running"]),
                name="evaluations_open",
            )
        ]

    def __str__(self) -> str:
        return str(self.id)


class EvaluationResult(models.Model):
    """What one configuration made of one question.

    configuration: its place, 0 or 1. values: the question's share of each metric, by name. judged: told
    relevance and truth of the most relevant passage. found: the first passages, without their text. cited:
    documents that the answer quotes: when one of them goes, the database takes the answer away.
    """

    id = models.BigAutoField(primary_key=True)
    evaluation = models.ForeignKey(
        Evaluation, models.DO_NOTHING, related_name="results", db_constraint=False, db_index=False
    )
    position = models.IntegerField()
    configuration = models.SmallIntegerField()
    values = models.JSONField(default=dict)
    judged = models.JSONField(default=list)
    found = models.JSONField(default=list)
    answered = models.BooleanField(null=True)
    answer = models.TextField(blank=True, default="")
    cited = ArrayField(models.UUIDField(), default=list)
    latency_ms = models.FloatField(null=True)
    error = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["evaluation", "position", "configuration"], name="results_one_per_question"
            )
        ]
        indexes = [GinIndex(fields=["cited"], name="results_by_cited")]

    def __str__(self) -> str:
        return f"{self.position}/{self.configuration}"
