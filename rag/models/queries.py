"""Past questions with all that was found and answered, feedback, and how often collections are asked."""

from datetime import timedelta
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q, Value
from django.utils import timezone

from documents.access import Access
from knowlex.base.ids import new_id
from rag.question_settings import restore_question
from rag.types.question import Question

DOUBTFUL = 0.4  # an answer of less relevance hardly answers its question: see rag.relevance.answers


_PRINCIPALS = ArrayField(models.TextField())


class _IsHidden(models.Func):
    function = "rag_is_hidden"
    output_field = models.BooleanField()


class QueryQuerySet(models.QuerySet["Query"]):
    def allowed_to(self, access: Access) -> Self:
        """Select the queries that the caller may see.

        An account, and a key that belongs to it, sees its own. Another key sees those of no account, with
        scope admin all; one that is bound to collections those that read none but these, and its own. None
        that was given a document which the caller may not read.
        rag.answering.replay has the same in SQL.
        """
        if access.user_id is not None:
            rows = self.filter(user_id=access.user_id)
        elif access.may("admin"):
            rows = self
        else:
            rows = self.filter(user_id=None)
        if access.reads_as is not None:
            rows = rows.exclude(_IsHidden(models.F("id"), Value(access.reads_as, _PRINCIPALS)))
        if access.allowed is None:
            return rows
        own = models.Q(collection_ids=[], key_id=access.key_id)
        if access.user_id is not None:
            own = models.Q(collection_ids=[])
        return rows.filter(
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


class Query(models.Model):
    """One question as it was asked. What belongs to it goes with it, by the database.

    key_id: of the API key that asked, null without one. user_id: of the account that asked, itself or by a
    key of its own; only that account sees the question. face: through which route it came. rewritten_query:
    what was searched for in its place, "" if nothing else. collection_ids: all that were read. filters and
    settings: as in a request to /v1/query, so that it can be asked again. reason: why nothing was answered,
    "" if it was. error: code of what failed, or CLIENT_LEFT, "" if nothing; there is no response then.
    retrieved: passages before the relevance threshold. confidence: relevance of the best one. replay_of: the
    query that this one repeated, which may be gone.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    key_id = models.UUIDField(null=True)
    user_id = models.IntegerField(null=True)
    face = models.CharField(max_length=16)
    conversation_id = models.CharField(max_length=255, blank=True, default="")
    original_query = models.TextField()
    rewritten_query = models.TextField(blank=True, default="")
    collection_ids = ArrayField(models.UUIDField())
    filters = models.JSONField(default=dict)
    settings = models.JSONField(default=dict)
    answered = models.BooleanField()
    reason = models.CharField(max_length=32, blank=True, default="")
    error = models.CharField(max_length=64, blank=True, default="")
    retrieved = models.IntegerField(default=0)
    confidence = models.FloatField(default=0.0)
    cached = models.BooleanField(default=False)
    replay_of = models.UUIDField(null=True)
    latency_ms = models.IntegerField()
    stage_ms = models.JSONField(default=dict)
    embedding_model = models.TextField(blank=True, default="")
    reranker = models.TextField(blank=True, default="")
    rewriting = models.CharField(max_length=16, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    objects = QueryQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "queries"
        indexes = [
            models.Index(fields=["created_at", "id"], name="queries_by_age"),
            models.Index(
                fields=["conversation_id", "key_id", "created_at"],
                condition=~Q(conversation_id=""),
                name="queries_by_conversation",
            ),
            models.Index(
                fields=["user_id", "created_at"],
                condition=Q(user_id__isnull=False),
                name="queries_by_account",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    def again(self) -> Question:
        """Make the question as it was asked, without a deadline."""
        return restore_question(
            self.rewritten_query or self.original_query,
            original=self.original_query if self.rewritten_query else "",
            collection_ids=self.collection_ids,
            filters=self.filters,
            settings=self.settings,
        )


class Candidates(models.Model):
    """All that was judged for a query, then what the context was given besides: one row, cheap to write.

    Arrays of the same length, by number from 1; `Retrieval` shows them one by one. judged: how many of them
    were, first the best. results, context: the numbers of those that became results, and of the passages of
    the context, in their order.
    """

    query = models.OneToOneField(
        Query, models.DO_NOTHING, primary_key=True, related_name="candidates", db_constraint=False
    )
    judged = models.IntegerField()
    chunk_ids = ArrayField(models.UUIDField())
    document_ids = ArrayField(models.UUIDField())
    dense_scores = ArrayField(models.FloatField(null=True))
    sparse_scores = ArrayField(models.FloatField(null=True))
    fused_scores = ArrayField(models.FloatField(null=True))
    rerank_scores = ArrayField(models.FloatField(null=True))
    relevances = ArrayField(models.FloatField())
    results = ArrayField(models.IntegerField())
    context = ArrayField(models.IntegerField())

    class Meta:
        verbose_name_plural = "candidates"

    def __str__(self) -> str:
        return str(self.query_id)


class Retrieval(models.Model):
    """One candidate, or a neighbour of one that the context was given. The chunk may be gone by now.

    A view of `Candidates`, only to be read. number: its place there. rank: the same, in the order that it was
    judged in; null for a neighbour that was no candidate. place: from 1, among the results, null if it is
    none. context_number: from 1, among the passages of the context.
    """

    pk = models.CompositePrimaryKey("query_id", "number")
    query = models.ForeignKey(Query, models.DO_NOTHING, related_name="retrievals", db_constraint=False)
    number = models.IntegerField()
    chunk_id = models.UUIDField()
    document_id = models.UUIDField()
    rank = models.IntegerField(null=True)
    dense_score = models.FloatField(null=True)
    sparse_score = models.FloatField(null=True)
    fused_score = models.FloatField(null=True)
    rerank_score = models.FloatField(null=True)
    relevance = models.FloatField()
    place = models.IntegerField(null=True)
    context_number = models.IntegerField(null=True)

    class Meta:
        managed = False
        db_table = "rag_retrieval"
        ordering = ["query_id", "number"]

    def __str__(self) -> str:
        return f"candidate {self.rank}"


class Response(models.Model):
    """What a question was answered, of the same id.

    answer: with `[k]` for the citations whose citation_index is k; "" if nothing was, or once a document that
    it cites is gone (quotes_gone), and `contradicted` with it. verification: the counts of
    rag.types.answer.Verification, {} where the answer is of an earlier release. contradicted: as
    rag.citations.numbering.Misstatement. faithfulness_score, answer_relevance: [0, 1], see
    rag.history.answer_quality.
    faithfulness_judged_at: when both were found out, or found to be none. judging_until: a worker has it in
    hand, or the model that is to read it is away. judging_attempts: how often a worker took it.
    """

    query = models.OneToOneField(
        Query, models.DO_NOTHING, primary_key=True, related_name="response", db_constraint=False
    )
    answer = models.TextField(blank=True, default="")
    quotes_gone = models.BooleanField(default=False)
    model = models.TextField(blank=True, default="")
    prompt_version = models.CharField(max_length=64, blank=True, default="")
    input_tokens = models.IntegerField(default=0)
    output_tokens = models.IntegerField(default=0)
    verification = models.JSONField(default=dict, db_default={})
    contradicted = models.JSONField(default=list, db_default=[])
    faithfulness_score = models.FloatField(null=True)
    faithfulness_judged_at = models.DateTimeField(null=True)
    answer_relevance = models.FloatField(null=True)
    judging_until = models.DateTimeField(null=True)
    judging_attempts = models.SmallIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=Q(faithfulness_judged_at__isnull=True) & ~Q(answer=""),
                name="responses_to_judge",
            ),
            models.Index(
                fields=["faithfulness_score", "query"],
                condition=Q(faithfulness_score__lt=1),
                name="responses_by_faithfulness",
            ),
            models.Index(
                fields=["answer_relevance", "query"],
                condition=Q(answer_relevance__lt=DOUBTFUL),
                name="responses_by_relevance",
            ),
        ]

    def __str__(self) -> str:
        return str(self.query_id)


class Citation(models.Model):
    """One marked claim of an answer and what it rests on, in the order of the answer.

    citation_index: the number of its marker. gone: its document was deleted, and title and quote with it.
    start_char, end_char: of the quote in the document's text as it was. answer_start, answer_end: of the
    claim in `answer`. support: as in rag.types. similarity: the cosine of the question and the quote's
    nearest sentence by the model that searched, null if they were not compared. verdict: what a model that
    read the claim and its passage after the answer says of it, supported, unverified or contradicted; ""
    where none has. judged_by: that model.
    """

    id = models.BigAutoField(primary_key=True)
    response = models.ForeignKey(
        Response, models.DO_NOTHING, related_name="citations", db_constraint=False, db_index=False
    )
    position = models.IntegerField()
    citation_index = models.IntegerField()
    chunk_id = models.UUIDField()
    document_id = models.UUIDField()
    title = models.TextField(blank=True, default="")
    page_number = models.IntegerField(null=True)
    quoted_text = models.TextField(blank=True, default="")
    start_char = models.IntegerField()
    end_char = models.IntegerField()
    answer_start = models.IntegerField()
    answer_end = models.IntegerField()
    support = models.CharField(max_length=16)
    similarity = models.FloatField(null=True)
    verdict = models.CharField(max_length=16, blank=True, default="", db_default="")
    judged_by = models.TextField(blank=True, default="", db_default="")
    gone = models.BooleanField(default=False)

    class Meta:
        ordering = ["response_id", "position"]
        constraints = [models.UniqueConstraint(fields=["response", "position"], name="citations_in_order")]
        indexes = [models.Index(fields=["document_id"], name="citations_by_document")]

    def __str__(self) -> str:
        return f"[{self.citation_index}]"


class Feedback(models.Model):
    """What one caller says of one answer, until they say something else.

    caller: `account:` or `key:` with the id, or `address:` and a salted hash of the client's address.
    """

    class Rating(models.TextChoices):
        UP = "thumbs_up"
        DOWN = "thumbs_down"

    id = models.BigAutoField(primary_key=True)
    query = models.ForeignKey(
        Query, models.DO_NOTHING, related_name="feedback", db_constraint=False, db_index=False
    )
    caller = models.CharField(max_length=80)
    rating = models.CharField(max_length=16, choices=Rating, blank=True, default="")
    comment = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "feedback"
        constraints = [
            models.UniqueConstraint(fields=["query", "caller"], name="feedback_one_per_caller"),
        ]
        indexes = [models.Index(fields=["rating", "query"], name="feedback_by_rating")]

    def __str__(self) -> str:
        return self.rating or "comment"


class QueryCount(models.Model):
    """How many questions read the collection on a day (UTC). Goes with the collection, by the database."""

    id = models.BigAutoField(primary_key=True)
    collection = models.ForeignKey(
        "documents.Collection", models.DO_NOTHING, related_name="+", db_constraint=False
    )
    day = models.DateField()
    questions = models.IntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["collection", "day"], name="query_counts_one_per_day")]

    def __str__(self) -> str:
        return f"{self.questions} on {self.day}"
