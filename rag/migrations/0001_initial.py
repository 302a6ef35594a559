"""The tables of rag: questions with their candidates, answers and citations, and evaluations."""

from pathlib import Path

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.serializers.json import DjangoJSONEncoder
from django.db import migrations, models
from django.utils import timezone

from knowlex.base.ids import new_id

SQL = Path(__file__).with_name("sql")


def _run(name: str, undo: str = migrations.RunSQL.noop) -> migrations.RunSQL:
    return migrations.RunSQL((SQL / f"{name}.sql").read_text(encoding="utf-8"), undo)


def _id() -> models.UUIDField:
    return models.UUIDField(default=new_id, editable=False, primary_key=True, serialize=False)


def _to(model: str, **options) -> models.ForeignKey:
    """Django declares the column and its index; the constraint is in sql/foreign_keys.sql."""
    return models.ForeignKey(model, models.DO_NOTHING, db_constraint=False, **options)


def _one(model: str, related_name: str) -> models.OneToOneField:
    return models.OneToOneField(
        model,
        models.DO_NOTHING,
        db_constraint=False,
        primary_key=True,
        related_name=related_name,
        serialize=False,
    )


class Migration(migrations.Migration):
    initial = True
    replaces = [
        ("rag", "0002_question_sets_and_evaluations"),
        ("rag", "0003_past_answers"),
        ("rag", "0004_rewritten_follow_ups"),
        ("rag", "0005_answers_to_judge"),
        ("rag", "0006_responses_by_faithfulness"),
        ("rag", "0007_follow_ups_once"),
        ("rag", "0008_candidates_in_one_row"),
    ]
    dependencies = [("documents", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="QueryCount",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("questions", models.IntegerField()),
                ("collection", _to("documents.collection", related_name="+")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("collection", "day"), name="query_counts_one_per_day")
                ]
            },
        ),
        migrations.CreateModel(
            name="QuestionSet",
            fields=[
                ("id", _id()),
                ("name", models.CharField(max_length=255, unique=True)),
                ("description", models.TextField(blank=True, default="")),
                ("question_count", models.IntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("collection", _to("documents.collection", blank=True, null=True, related_name="+")),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="Evaluation",
            fields=[
                ("id", _id()),
                ("collection_ids", ArrayField(models.UUIDField())),
                ("configurations", models.JSONField()),
                ("answers", models.BooleanField(default=False)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("running", "Running"),
                            ("completed", "Completed"),
                            ("failed", "Failed"),
                        ],
                        default="pending",
                        max_length=16,
                    ),
                ),
                ("error", models.TextField(blank=True, default="")),
                ("total", models.IntegerField()),
                ("done", models.IntegerField(default=0)),
                ("summary", models.JSONField(encoder=DjangoJSONEncoder, null=True)),
                ("lease", models.UUIDField(null=True)),
                ("leased_until", models.DateTimeField(null=True)),
                ("attempts", models.IntegerField(default=0)),
                ("taken_at", models.DateTimeField(null=True)),
                ("key_id", models.UUIDField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("completed_at", models.DateTimeField(null=True)),
                ("question_set", _to("rag.questionset", related_name="evaluations")),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(status__in=["pending", "running"]),
                        fields=["taken_at"],
                        name="evaluations_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SetQuestion",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("position", models.IntegerField()),
                ("key", models.CharField(max_length=255)),
                ("question", models.TextField()),
                ("answers", models.JSONField(default=list)),
                ("document", models.TextField(blank=True, default="")),
                ("pages", ArrayField(base_field=models.IntegerField(), default=list, size=None)),
                ("chapter", models.TextField(blank=True, default="")),
                ("section", models.TextField(blank=True, default="")),
                ("answerable", models.BooleanField(default=True)),
                ("answer_type", models.CharField(blank=True, default="", max_length=8)),
                ("lang", models.CharField(default="en", max_length=16)),
                ("document_lang", models.CharField(blank=True, default="", max_length=16)),
                ("evidence", models.TextField(blank=True, default="")),
                ("key_numbers", models.JSONField(default=list)),
                ("relevant", models.JSONField(default=dict)),
                ("tags", ArrayField(base_field=models.TextField(), default=list, size=None)),
                ("metadata", models.JSONField(default=dict)),
                ("question_set", _to("rag.questionset", db_index=False, related_name="questions")),
            ],
            options={
                "ordering": ["position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("question_set", "position"), name="set_questions_in_order"
                    ),
                    models.UniqueConstraint(fields=("question_set", "key"), name="set_questions_one_per_key"),
                ],
            },
        ),
        migrations.CreateModel(
            name="EvaluationResult",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("position", models.IntegerField()),
                ("configuration", models.SmallIntegerField()),
                ("values", models.JSONField(default=dict)),
                ("judged", models.JSONField(default=list)),
                ("found", models.JSONField(default=list)),
                ("answered", models.BooleanField(null=True)),
                ("answer", models.TextField(blank=True, default="")),
                ("cited", ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ("latency_ms", models.FloatField(null=True)),
                ("error", models.TextField(blank=True, default="")),
                ("evaluation", _to("rag.evaluation", db_index=False, related_name="results")),
            ],
            options={
                "indexes": [GinIndex(fields=["cited"], name="results_by_cited")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("evaluation", "position", "configuration"), name="results_one_per_question"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Query",
            fields=[
                ("id", _id()),
                ("key_id", models.UUIDField(null=True)),
                ("face", models.CharField(max_length=16)),
                ("conversation_id", models.CharField(blank=True, default="", max_length=255)),
                ("original_query", models.TextField()),
                ("rewritten_query", models.TextField(blank=True, default="")),
                ("collection_ids", ArrayField(models.UUIDField())),
                ("filters", models.JSONField(default=dict)),
                ("settings", models.JSONField(default=dict)),
                ("answered", models.BooleanField()),
                ("reason", models.CharField(blank=True, default="", max_length=32)),
                ("error", models.CharField(blank=True, default="", max_length=64)),
                ("retrieved", models.IntegerField(default=0)),
                ("confidence", models.FloatField(default=0.0)),
                ("cached", models.BooleanField(default=False)),
                ("replay_of", models.UUIDField(null=True)),
                ("latency_ms", models.IntegerField()),
                ("stage_ms", models.JSONField(default=dict)),
                ("embedding_model", models.TextField(blank=True, default="")),
                ("reranker", models.TextField(blank=True, default="")),
                ("rewriting", models.CharField(blank=True, default="", max_length=16)),
                ("created_at", models.DateTimeField(default=timezone.now)),
            ],
            options={
                "verbose_name_plural": "queries",
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(fields=["created_at", "id"], name="queries_by_age"),
                    models.Index(
                        condition=~models.Q(conversation_id=""),
                        fields=["conversation_id", "key_id", "created_at"],
                        name="queries_by_conversation",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Response",
            fields=[
                ("query", _one("rag.query", "response")),
                ("answer", models.TextField(blank=True, default="")),
                ("quotes_gone", models.BooleanField(default=False)),
                ("model", models.TextField(blank=True, default="")),
                ("prompt_version", models.CharField(blank=True, default="", max_length=64)),
                ("input_tokens", models.IntegerField(default=0)),
                ("output_tokens", models.IntegerField(default=0)),
                ("faithfulness_score", models.FloatField(null=True)),
                ("faithfulness_judged_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=timezone.now)),
                ("judging_attempts", models.SmallIntegerField(db_default=0, default=0)),
                ("judging_until", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(faithfulness_judged_at__isnull=True) & ~models.Q(answer=""),
                        fields=["created_at"],
                        name="responses_to_judge",
                    ),
                    models.Index(
                        condition=models.Q(faithfulness_score__lt=1),
                        fields=["faithfulness_score", "query"],
                        name="responses_by_faithfulness",
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="Citation",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("position", models.IntegerField()),
                ("citation_index", models.IntegerField()),
                ("chunk_id", models.UUIDField()),
                ("document_id", models.UUIDField()),
                ("title", models.TextField(blank=True, default="")),
                ("page_number", models.IntegerField(null=True)),
                ("quoted_text", models.TextField(blank=True, default="")),
                ("start_char", models.IntegerField()),
                ("end_char", models.IntegerField()),
                ("answer_start", models.IntegerField()),
                ("answer_end", models.IntegerField()),
                ("support", models.CharField(max_length=16)),
                ("gone", models.BooleanField(default=False)),
                ("response", _to("rag.response", db_index=False, related_name="citations")),
            ],
            options={
                "ordering": ["response_id", "position"],
                "indexes": [models.Index(fields=["document_id"], name="citations_by_document")],
                "constraints": [
                    models.UniqueConstraint(fields=("response", "position"), name="citations_in_order")
                ],
            },
        ),
        migrations.CreateModel(
            name="Feedback",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("caller", models.CharField(max_length=80)),
                (
                    "rating",
                    models.CharField(
                        blank=True,
                        choices=[("thumbs_up", "Up"), ("thumbs_down", "Down")],
                        default="",
                        max_length=16,
                    ),
                ),
                ("comment", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField(default=timezone.now)),
                ("updated_at", models.DateTimeField(default=timezone.now)),
                ("query", _to("rag.query", db_index=False, related_name="feedback")),
            ],
            options={
                "verbose_name_plural": "feedback",
                "indexes": [models.Index(fields=["rating", "query"], name="feedback_by_rating")],
                "constraints": [
                    models.UniqueConstraint(fields=("query", "caller"), name="feedback_one_per_caller")
                ],
            },
        ),
        migrations.CreateModel(
            name="Candidates",
            fields=[
                ("query", _one("rag.query", "candidates")),
                ("judged", models.IntegerField()),
                ("chunk_ids", ArrayField(models.UUIDField())),
                ("document_ids", ArrayField(models.UUIDField())),
                ("dense_scores", ArrayField(models.FloatField(null=True))),
                ("sparse_scores", ArrayField(models.FloatField(null=True))),
                ("fused_scores", ArrayField(models.FloatField(null=True))),
                ("rerank_scores", ArrayField(models.FloatField(null=True))),
                ("relevances", ArrayField(models.FloatField())),
                ("results", ArrayField(models.IntegerField())),
                ("context", ArrayField(models.IntegerField())),
            ],
            options={"verbose_name_plural": "candidates"},
        ),
        migrations.CreateModel(
            # A view, as in sql/retrieval.sql; Django compares no fields of what it does not manage.
            name="Retrieval",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "query_id", "number", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.IntegerField()),
                ("query", _to("rag.query", related_name="retrievals")),
            ],
            options={"db_table": "rag_retrieval", "ordering": ["query_id", "number"], "managed": False},
        ),
        _run("storage"),
        _run("foreign_keys"),
        _run("retrieval", "DROP VIEW rag_retrieval"),
        _run("forget_evaluations", "DROP FUNCTION rag_forget_evaluations, rag_forget_answers CASCADE"),
    ]
