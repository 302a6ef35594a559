"""What models side by side need, and the vectors of sentences; the active model is a wanted one."""

import django.contrib.postgres.fields
import django.db.models.deletion
import pgvector.django.halfvec
from django.db import migrations, models

from knowlex.db.cascades import cascade


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0006_document_language"),
        ("embeddings", "0005_queue_indexes"),
    ]

    operations = [
        migrations.AddField(
            model_name="embeddingmodel",
            name="activated_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="deactivated_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="options",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name="embeddingmodel",
            name="wanted",
            field=models.BooleanField(default=False),
        ),
        migrations.RunSQL(
            "UPDATE embeddings_embeddingmodel SET wanted = true, activated_at = created_at WHERE active",
            migrations.RunSQL.noop,
        ),
        migrations.CreateModel(
            name="SentenceVectors",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "chunk_id", "model_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "bounds",
                    django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None),
                ),
                (
                    "vectors",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=pgvector.django.halfvec.HalfVectorField(), size=None
                    ),
                ),
                (
                    "chunk",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="documents.chunk",
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="embeddings.embeddingmodel",
                    ),
                ),
            ],
        ),
        cascade("embeddings_sentencevectors", "chunk_id", "documents_chunk"),
        cascade("embeddings_sentencevectors", "model_id", "embeddings_embeddingmodel"),
        # Some kilobytes that do not compress: out of line, and not tried.
        migrations.RunSQL(
            "ALTER TABLE embeddings_sentencevectors ALTER COLUMN vectors SET STORAGE EXTERNAL",
            migrations.RunSQL.noop,
        ),
    ]
