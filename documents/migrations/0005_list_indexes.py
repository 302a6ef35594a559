"""Views of stored documents and of others by themselves, and indexes in the orders of lists."""

import django.db.models.functions.comparison
from django.db import migrations, models

# The two halves of documents_entry, as they stand in it.
VIEWS = """
CREATE VIEW documents_entry_stored AS
SELECT d.id, d.collection_id, i.job_id, d.source, d.source_url, d.original_filename, d.title, d.checksum,
    d.size_bytes, d.page_count, d.chunk_count, d.status, coalesce(i.stage, '') AS stage,
    coalesce(i.error_code, '') AS error_code, coalesce(i.error, '') AS error,
    d.metadata, d.permissions, d.warnings, d.created_at, d.updated_at
FROM documents_document d LEFT JOIN documents_ingestitem i ON i.id = d.id
WHERE d.replaces_id IS NULL;
CREATE VIEW documents_entry_unstored AS
SELECT i.id, i.collection_id, i.job_id, ''::varchar AS source, i.source_url,
    i.filename AS original_filename, i.title, i.checksum, i.size_bytes, i.pages_done AS page_count,
    0 AS chunk_count, i.status, i.stage, i.error_code, i.error, i.metadata, '{}'::jsonb AS permissions,
    i.warnings, i.created_at, coalesce(i.ended_at, i.started_at, i.created_at) AS updated_at
FROM documents_ingestitem i
WHERE i.replaces_id IS NULL AND i.deleted_at IS NULL AND i.status <> 'completed'
    AND NOT EXISTS (SELECT FROM documents_document d WHERE d.id = i.id);
"""
NO_VIEWS = "DROP VIEW documents_entry_unstored; DROP VIEW documents_entry_stored;"


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0004_documents_as_old_as_their_items"),
    ]

    operations = [
        migrations.CreateModel(
            name="StoredEntry",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("collection_id", models.UUIDField()),
                ("job_id", models.UUIDField(null=True)),
                ("source", models.CharField(max_length=16)),
                ("source_url", models.TextField()),
                ("original_filename", models.CharField(max_length=255)),
                ("title", models.CharField(max_length=512)),
                ("checksum", models.CharField(max_length=64)),
                ("size_bytes", models.BigIntegerField(null=True)),
                ("page_count", models.IntegerField()),
                ("chunk_count", models.IntegerField()),
                ("status", models.CharField(max_length=16)),
                ("stage", models.CharField(max_length=16)),
                ("error_code", models.CharField(max_length=64)),
                ("error", models.TextField()),
                ("metadata", models.JSONField()),
                ("permissions", models.JSONField()),
                ("warnings", models.JSONField()),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
            ],
            options={
                "db_table": "documents_entry_stored",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="UnstoredEntry",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("collection_id", models.UUIDField()),
                ("job_id", models.UUIDField(null=True)),
                ("source", models.CharField(max_length=16)),
                ("source_url", models.TextField()),
                ("original_filename", models.CharField(max_length=255)),
                ("title", models.CharField(max_length=512)),
                ("checksum", models.CharField(max_length=64)),
                ("size_bytes", models.BigIntegerField(null=True)),
                ("page_count", models.IntegerField()),
                ("chunk_count", models.IntegerField()),
                ("status", models.CharField(max_length=16)),
                ("stage", models.CharField(max_length=16)),
                ("error_code", models.CharField(max_length=64)),
                ("error", models.TextField()),
                ("metadata", models.JSONField()),
                ("permissions", models.JSONField()),
                ("warnings", models.JSONField()),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
            ],
            options={
                "db_table": "documents_entry_unstored",
                "managed": False,
            },
        ),
        migrations.RemoveIndex(
            model_name="document",
            name="documents_by_age",
        ),
        migrations.AddIndex(
            model_name="document",
            index=models.Index(fields=["collection", "created_at", "id"], name="documents_by_age"),
        ),
        migrations.AddIndex(
            model_name="document",
            index=models.Index(
                condition=models.Q(("replaces__isnull", True)),
                fields=["created_at", "id"],
                name="documents_by_creation",
            ),
        ),
        migrations.AddIndex(
            model_name="document",
            index=models.Index(
                condition=models.Q(("replaces__isnull", True)),
                fields=["updated_at", "id"],
                name="documents_by_change",
            ),
        ),
        migrations.AddIndex(
            model_name="document",
            index=models.Index(
                condition=models.Q(("replaces__isnull", True)),
                fields=["title", "id"],
                name="documents_by_title",
            ),
        ),
        migrations.AddIndex(
            model_name="document",
            index=models.Index(
                django.db.models.functions.comparison.Coalesce("size_bytes", 0),
                models.F("id"),
                condition=models.Q(("replaces__isnull", True)),
                name="documents_by_size",
            ),
        ),
        migrations.AddIndex(
            model_name="ingestitem",
            index=models.Index(
                condition=models.Q(
                    ("deleted_at__isnull", True),
                    ("replaces__isnull", True),
                    models.Q(("status", "completed"), _negated=True),
                ),
                fields=["created_at", "id"],
                name="items_unstored",
            ),
        ),
        migrations.RunSQL(VIEWS, NO_VIEWS),
    ]
