"""Ingest jobs, API keys, replies to repeated requests, and documents that replace others."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import knowlex.base.ids
from knowlex.db.cascades import cascade

# Stored documents, and those of jobs that are not stored: waiting, being read, or failed before.
ENTRIES = """
CREATE VIEW documents_entry AS
SELECT d.id, d.collection_id, i.job_id, d.source, d.source_url, d.original_filename, d.title, d.checksum,
    d.size_bytes, d.page_count, d.chunk_count, d.status, coalesce(i.stage, '') AS stage,
    coalesce(i.error_code, '') AS error_code, coalesce(i.error, '') AS error,
    d.metadata, d.permissions, d.warnings, d.created_at, d.updated_at
FROM documents_document d LEFT JOIN documents_ingestitem i ON i.id = d.id
WHERE d.replaces_id IS NULL
UNION ALL
SELECT i.id, i.collection_id, i.job_id, '', i.source_url, i.filename, i.title, i.checksum,
    i.size_bytes, i.pages_done, 0, i.status, i.stage, i.error_code, i.error,
    i.metadata, '{}'::jsonb, i.warnings, i.created_at, coalesce(i.ended_at, i.started_at, i.created_at)
FROM documents_ingestitem i
WHERE i.replaces_id IS NULL AND i.deleted_at IS NULL AND i.status <> 'completed'
    AND NOT EXISTS (SELECT FROM documents_document d WHERE d.id = i.id)
"""


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0002_cascades_and_default"),
    ]

    operations = [
        migrations.CreateModel(
            name="DocumentEntry",
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
                "db_table": "documents_entry",
                "ordering": ["-created_at", "-id"],
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=knowlex.base.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=255)),
                ("prefix", models.CharField(max_length=16, unique=True)),
                ("hash", models.CharField(max_length=64)),
                (
                    "scope",
                    models.CharField(
                        choices=[("read", "Read"), ("write", "Write"), ("admin", "Admin")],
                        default="read",
                        max_length=8,
                    ),
                ),
                ("bound", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "API key",
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="ApiKeyCollection",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
            ],
        ),
        migrations.CreateModel(
            name="IdempotencyRecord",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("scope", models.CharField(blank=True, default="", max_length=64)),
                ("key", models.CharField(max_length=255)),
                ("fingerprint", models.CharField(max_length=64)),
                ("status", models.IntegerField(null=True)),
                ("body", models.JSONField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("locked_until", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="IngestItem",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=knowlex.base.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("position", models.IntegerField()),
                (
                    "source_type",
                    models.CharField(
                        choices=[("file", "File"), ("url", "Url"), ("text", "Text")], max_length=8
                    ),
                ),
                ("source_url", models.TextField(blank=True, default="")),
                ("filename", models.CharField(max_length=255)),
                ("title", models.CharField(blank=True, default="", max_length=512)),
                ("metadata", models.JSONField(default=dict)),
                ("file", models.CharField(blank=True, default="", max_length=255)),
                ("checksum", models.CharField(blank=True, default="", max_length=64)),
                ("size_bytes", models.BigIntegerField(null=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("processing", "Processing"),
                            ("completed", "Completed"),
                            ("failed", "Failed"),
                        ],
                        default="pending",
                        max_length=16,
                    ),
                ),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("fetching", "Fetching"),
                            ("extracting", "Extracting"),
                            ("chunking", "Chunking"),
                            ("embedding", "Embedding"),
                            ("ended", "Ended"),
                        ],
                        default="queued",
                        max_length=16,
                    ),
                ),
                ("lease", models.UUIDField(null=True)),
                ("leased_until", models.DateTimeField(null=True)),
                ("attempts", models.IntegerField(default=0)),
                ("pages_total", models.IntegerField(default=0)),
                ("pages_done", models.IntegerField(default=0)),
                ("chunks_made", models.IntegerField(default=0)),
                ("duplicate_of", models.UUIDField(null=True)),
                ("warnings", models.JSONField(default=list)),
                ("error_code", models.CharField(blank=True, default="", max_length=64)),
                ("error", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("deleted_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["job_id", "position"],
            },
        ),
        migrations.CreateModel(
            name="IngestJob",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=knowlex.base.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("settings", models.JSONField(default=dict)),
                ("origin", models.CharField(default="api", max_length=16)),
                ("key_id", models.UUIDField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.RemoveConstraint(
            model_name="document",
            name="documents_one_per_checksum",
        ),
        migrations.AddField(
            model_name="chunk",
            name="chunk_type",
            field=models.CharField(db_default="paragraph", default="paragraph", max_length=16),
        ),
        migrations.AddField(
            model_name="chunk",
            name="headers",
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list),
        ),
        migrations.AddField(
            model_name="document",
            name="permissions",
            field=models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.AddField(
            model_name="document",
            name="replaces",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="successors",
                to="documents.document",
            ),
        ),
        migrations.AddField(
            model_name="document",
            name="source_url",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="document",
            name="status",
            field=models.CharField(
                choices=[
                    ("pending", "Pending"),
                    ("processing", "Processing"),
                    ("completed", "Completed"),
                    ("failed", "Failed"),
                ],
                db_default="pending",
                default="pending",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="document",
            name="updated_at",
            field=models.DateTimeField(auto_now=True, db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.AlterField(
            model_name="document",
            name="source",
            field=models.CharField(
                choices=[
                    ("PDF", "PDF"),
                    ("MARKDOWN", "Markdown"),
                    ("HTML", "HTML"),
                    ("DOCX", "DOCX"),
                    ("TEXT", "Plain text"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddIndex(
            model_name="document",
            index=models.Index(fields=["file"], name="documents_by_file"),
        ),
        migrations.AddIndex(
            model_name="document",
            index=models.Index(
                condition=models.Q(("status", "processing")), fields=["id"], name="documents_processing"
            ),
        ),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.UniqueConstraint(
                condition=models.Q(("replaces__isnull", True)),
                fields=("collection", "checksum"),
                name="documents_one_per_checksum",
            ),
        ),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.UniqueConstraint(
                condition=models.Q(("replaces__isnull", False)),
                fields=("replaces",),
                name="documents_one_replacement",
            ),
        ),
        migrations.AddField(
            model_name="apikeycollection",
            name="collection",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="documents.collection",
            ),
        ),
        migrations.AddField(
            model_name="apikeycollection",
            name="key",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="bindings",
                to="documents.apikey",
            ),
        ),
        migrations.AddField(
            model_name="apikey",
            name="collections",
            field=models.ManyToManyField(
                blank=True, through="documents.ApiKeyCollection", to="documents.collection"
            ),
        ),
        migrations.AddIndex(
            model_name="idempotencyrecord",
            index=models.Index(fields=["created_at"], name="idempotency_by_age"),
        ),
        migrations.AddConstraint(
            model_name="idempotencyrecord",
            constraint=models.UniqueConstraint(fields=("scope", "key"), name="idempotency_one_per_key"),
        ),
        migrations.AddField(
            model_name="ingestitem",
            name="collection",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="ingest_items",
                to="documents.collection",
            ),
        ),
        migrations.AddField(
            model_name="ingestitem",
            name="replaces",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="replacements",
                to="documents.document",
            ),
        ),
        migrations.AddField(
            model_name="ingestjob",
            name="collection",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="ingest_jobs",
                to="documents.collection",
            ),
        ),
        migrations.AddField(
            model_name="ingestitem",
            name="job",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="items",
                to="documents.ingestjob",
            ),
        ),
        migrations.AddConstraint(
            model_name="apikeycollection",
            constraint=models.UniqueConstraint(fields=("key", "collection"), name="keys_bound_once"),
        ),
        migrations.AddIndex(
            model_name="ingestjob",
            index=models.Index(fields=["collection", "created_at"], name="ingest_jobs_by_age"),
        ),
        migrations.AddIndex(
            model_name="ingestitem",
            index=models.Index(
                condition=models.Q(("status__in", ["pending", "processing"])),
                fields=["id"],
                name="items_open",
            ),
        ),
        migrations.AddIndex(
            model_name="ingestitem",
            index=models.Index(fields=["collection", "created_at"], name="items_by_age"),
        ),
        migrations.AddIndex(
            model_name="ingestitem",
            index=models.Index(
                condition=models.Q(("status__in", ["pending", "processing"])),
                fields=["collection", "checksum"],
                name="items_open_by_checksum",
            ),
        ),
        migrations.AddIndex(
            model_name="ingestitem",
            index=models.Index(fields=["file"], name="items_by_file"),
        ),
        migrations.AddConstraint(
            model_name="ingestitem",
            constraint=models.UniqueConstraint(fields=("job", "position"), name="items_one_per_position"),
        ),
        migrations.AddConstraint(
            model_name="ingestitem",
            constraint=models.UniqueConstraint(
                condition=models.Q(("replaces__isnull", False), ("status__in", ["pending", "processing"])),
                fields=("replaces",),
                name="items_one_replacement",
            ),
        ),
        cascade("documents_document", "replaces_id", "documents_document"),
        cascade("documents_ingestjob", "collection_id", "documents_collection"),
        cascade("documents_ingestitem", "job_id", "documents_ingestjob"),
        cascade("documents_ingestitem", "collection_id", "documents_collection"),
        cascade("documents_ingestitem", "replaces_id", "documents_document"),
        cascade("documents_apikeycollection", "key_id", "documents_apikey"),
        cascade("documents_apikeycollection", "collection_id", "documents_collection"),
        migrations.RunSQL(ENTRIES, "DROP VIEW documents_entry"),
    ]
