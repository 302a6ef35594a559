"""How searches use each model's vector index, and what was measured of it."""

import django.db.models.deletion
from django.db import migrations, models

from knowlex.db.cascades import cascade


class Migration(migrations.Migration):
    dependencies = [
        ("embeddings", "0006_models_side_by_side_and_sentences"),
    ]

    operations = [
        migrations.CreateModel(
            name="VectorIndex",
            fields=[
                (
                    "model",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="vector_index",
                        serialize=False,
                        to="embeddings.embeddingmodel",
                    ),
                ),
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
            options={
                "verbose_name_plural": "vector indexes",
            },
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
                (
                    "model",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="index_measurements",
                        to="embeddings.embeddingmodel",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["model", "-id"], name="measurements_of_model")],
            },
        ),
        cascade("embeddings_vectorindex", "model_id", "embeddings_embeddingmodel"),
        cascade("embeddings_indexmeasurement", "model_id", "embeddings_embeddingmodel"),
    ]
