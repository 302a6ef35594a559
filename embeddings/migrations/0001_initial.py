"""The tables of embeddings: models, vectors, words, what is to be embedded, the outbox of other stores."""

from pathlib import Path

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import migrations, models
from pgvector.django import HalfVectorField, SparseVectorField, VectorExtension, VectorField

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


def _key(*fields: str) -> models.CompositePrimaryKey:
    return models.CompositePrimaryKey(*fields, blank=True, editable=False, primary_key=True, serialize=False)


def _number() -> models.BigAutoField:
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    initial = True
    replaces = [
        ("embeddings", "0002_cascades_and_lexeme_counts"),
        ("embeddings", "0003_lease_index"),
        ("embeddings", "0004_status_and_moves"),
        ("embeddings", "0005_queue_indexes"),
        ("embeddings", "0006_models_side_by_side_and_sentences"),
        ("embeddings", "0007_vector_indexes"),
        ("embeddings", "0008_runs_of_models"),
        ("embeddings", "0009_changes_by_vectors"),
        ("embeddings", "0010_outbox"),
    ]
    dependencies = [("documents", "0001_initial")]

    operations = [
        VectorExtension(),
        migrations.CreateModel(
            name="EmbeddingModel",
            fields=[
                ("id", models.SmallAutoField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=255, unique=True)),
                ("provider", models.CharField(max_length=32)),
                ("dimensions", models.IntegerField()),
                ("active", models.BooleanField(default=False)),
                ("calibration", models.JSONField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("activated_at", models.DateTimeField(blank=True, null=True)),
                ("deactivated_at", models.DateTimeField(blank=True, null=True)),
                ("options", models.JSONField(blank=True, default=dict)),
                ("wanted", models.BooleanField(default=False)),
                ("first_until", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(active=True), fields=("active",), name="models_one_active"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="EmbeddingRun",
            fields=[
                ("id", _id()),
                ("requested", models.IntegerField(default=0)),
                ("embedded", models.IntegerField(default=0)),
                ("failed", models.IntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("model", _to("embeddings.embeddingmodel", db_index=False, null=True, related_name="runs")),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [
                    models.Index(
                        condition=models.Q(requested__gt=models.F("embedded") + models.F("failed")),
                        fields=["created_at"],
                        name="runs_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LexicalEntry",
            fields=[
                ("chunk", _one("documents.chunk", "lexical")),
                ("collection_id", models.UUIDField()),
                ("lexemes", SearchVectorField()),
                ("weights", SparseVectorField(dimensions=16777216)),
            ],
            options={"indexes": [GinIndex(fields=["lexemes"], name="lexical_by_lexeme")]},
        ),
        migrations.CreateModel(
            name="LexemeCount",
            fields=[
                ("id", _number()),
                ("collection_id", models.UUIDField()),
                ("lexeme", models.TextField()),
                ("chunks", models.IntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["collection_id", "lexeme"], include=("chunks",), name="lexeme_counts"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="Embedding",
            fields=[
                ("pk", _key("chunk_id", "model_id")),
                ("collection_id", models.UUIDField()),
                ("vector", VectorField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("chunk", _to("documents.chunk", related_name="embeddings")),
                ("model", _to("embeddings.embeddingmodel", related_name="embeddings")),
            ],
            options={
                "indexes": [models.Index(fields=["model", "collection_id"], name="embeddings_by_collection")]
            },
        ),
        migrations.CreateModel(
            name="EmbeddingRequest",
            fields=[
                ("id", _number()),
                ("batch", models.UUIDField(null=True)),
                ("lease", models.UUIDField(null=True)),
                ("leased_until", models.DateTimeField(null=True)),
                ("attempts", models.IntegerField(default=0)),
                ("failed_at", models.DateTimeField(null=True)),
                ("error", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("chunk", _to("documents.chunk", related_name="embedding_requests")),
                ("model", _to("embeddings.embeddingmodel", db_index=False, related_name="requests")),
                ("run", _to("embeddings.embeddingrun", related_name="requests")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["batch"], name="requests_by_batch"),
                    models.Index(
                        condition=models.Q(lease__isnull=False), fields=["lease"], name="requests_by_lease"
                    ),
                    models.Index(fields=["run", "id"], name="requests_by_run"),
                    models.Index(
                        condition=models.Q(leased_until__isnull=False),
                        fields=["leased_until"],
                        name="requests_due",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("chunk", "model"), name="requests_one_per_chunk")
                ],
            },
        ),
        migrations.CreateModel(
            name="SentenceVectors",
            fields=[
                ("pk", _key("chunk_id", "model_id")),
                ("bounds", ArrayField(models.IntegerField())),
                ("vectors", ArrayField(HalfVectorField())),
                ("chunk", _to("documents.chunk", related_name="+")),
                ("model", _to("embeddings.embeddingmodel", related_name="+")),
            ],
        ),
        migrations.CreateModel(
            name="VectorIndex",
            fields=[
                ("model", _one("embeddings.embeddingmodel", "vector_index")),
                ("number", models.IntegerField()),
                ("kind", models.CharField(max_length=16)),
                ("storage", models.CharField(max_length=16)),
                ("rows", models.BigIntegerField()),
                ("lists", models.IntegerField(default=0)),
                ("effort", models.IntegerField()),
                ("recall", models.FloatField(null=True)),
                ("serves", models.BooleanField()),
                ("exact_below", models.IntegerField()),
                ("built_at", models.DateTimeField()),
                ("measured_at", models.DateTimeField(null=True)),
            ],
            options={"verbose_name_plural": "vector indexes"},
        ),
        migrations.CreateModel(
            name="IndexMeasurement",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=16)),
                ("storage", models.CharField(max_length=16)),
                ("rows", models.BigIntegerField()),
                ("lists", models.IntegerField()),
                ("effort", models.IntegerField()),
                ("sample", models.IntegerField()),
                ("recall", models.FloatField()),
                ("index_ms", models.FloatField()),
                ("exact_ms", models.FloatField()),
                ("serves", models.BooleanField()),
                ("reason", models.CharField(max_length=64)),
                ("measured_at", models.DateTimeField()),
                ("model", _to("embeddings.embeddingmodel", related_name="index_measurements")),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["model", "-id"], name="measurements_of_model")],
            },
        ),
        migrations.CreateModel(
            name="DroppedSpace",
            fields=[
                ("model_id", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("dimensions", models.IntegerField()),
                ("created_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="OutboxEntry",
            fields=[
                ("pk", _key("model_id", "chunk_id")),
                ("model_id", models.SmallIntegerField()),
                ("chunk_id", models.UUIDField()),
                ("version", models.BigIntegerField()),
                ("lease", models.UUIDField(null=True)),
                ("leased_until", models.DateTimeField(null=True)),
                ("attempts", models.IntegerField(default=0)),
                ("error", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "verbose_name_plural": "outbox entries",
                "indexes": [
                    models.Index(fields=["version"], name="outbox_in_order"),
                    models.Index(
                        condition=models.Q(lease__isnull=False), fields=["lease"], name="outbox_by_lease"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OutsideStore",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=16)),
                ("place", models.TextField()),
                ("fingerprint", models.CharField(max_length=64)),
                ("since", models.DateTimeField()),
                ("filled", models.BooleanField(default=False)),
                ("failures", models.IntegerField(default=0)),
                ("failing_since", models.DateTimeField(null=True)),
                ("retry_at", models.DateTimeField(null=True)),
                ("error", models.TextField(blank=True, default="")),
            ],
            options={
                "verbose_name": "vector store outside PostgreSQL",
                "verbose_name_plural": "vector store outside PostgreSQL",
                "constraints": [models.CheckConstraint(condition=models.Q(id=1), name="outside_store_one")],
            },
        ),
        _run("storage"),
        _run("foreign_keys"),
        _run(
            "lexeme_counts", "DROP FUNCTION embeddings_count_lexemes, embeddings_count_moved_lexemes CASCADE"
        ),
        _run(
            "collection_changes",
            "DROP FUNCTION embeddings_collections_changed, embeddings_chunks_changed CASCADE",
        ),
        _run(
            "outbox",
            "DROP FUNCTION embeddings_vectors_to_outbox, embeddings_rewritten_to_outbox CASCADE; "
            "DROP SEQUENCE embeddings_outbox_version",
        ),
    ]
