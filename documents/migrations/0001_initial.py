"""The tables of documents: collections, documents with their chunks and pages, ingest jobs, API keys."""

from pathlib import Path

from django.contrib.postgres.indexes import GinIndex, HashIndex, OpClass
from django.db import migrations, models
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from documents.models import stored_name
from knowlex.base.ids import new_id

SQL = Path(__file__).with_name("sql")


def _run(name: str, undo: str = migrations.RunSQL.noop) -> migrations.RunSQL:
    return migrations.RunSQL((SQL / f"{name}.sql").read_text(encoding="utf-8"), undo)


def _id() -> models.UUIDField:
    return models.UUIDField(default=new_id, editable=False, primary_key=True, serialize=False)


def _to(model: str, **options) -> models.ForeignKey:
    """Django declares the column and its index; the constraint is in sql/foreign_keys.sql."""
    return models.ForeignKey(model, models.DO_NOTHING, db_constraint=False, **options)


def _number() -> models.BigAutoField:
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def _view(name: str, table: str, **options) -> migrations.CreateModel:
    """Its columns are in sql/entries.sql; Django compares no fields of what it does not manage."""
    fields = [("id", models.UUIDField(primary_key=True, serialize=False))]
    return migrations.CreateModel(name, fields, {"db_table": table, "managed": False, **options})


def make_default(apps, schema_editor):
    apps.get_model("documents", "Collection").objects.create(
        name="default", description="Where documents go unless told otherwise."
    )


class Migration(migrations.Migration):
    initial = True
    replaces = [
        ("documents", "0002_cascades_and_default"),
        ("documents", "0003_jobs_keys_and_replacements"),
        ("documents", "0004_documents_as_old_as_their_items"),
        ("documents", "0005_list_indexes"),
        ("documents", "0006_document_language"),
        ("documents", "0007_languages_in_lists"),
        ("documents", "0008_indexes_of_filters"),
        ("documents", "0009_changes_of_collections"),
    ]
    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Collection",
            fields=[
                ("id", _id()),
                ("name", models.CharField(max_length=255, unique=True)),
                ("description", models.TextField(blank=True, default="")),
                ("settings", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                ("id", _id()),
                (
                    "source",
                    models.CharField(
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
                ("original_filename", models.CharField(max_length=255)),
                ("title", models.CharField(blank=True, default="", max_length=512)),
                ("checksum", models.CharField(max_length=64)),
                ("size_bytes", models.BigIntegerField()),
                ("file", models.FileField(max_length=255, upload_to=stored_name)),
                ("page_count", models.IntegerField()),
                ("chunk_count", models.IntegerField()),
                ("metadata", models.JSONField(blank=True, default=dict)),
                ("warnings", models.JSONField(blank=True, default=list)),
                ("created_at", models.DateTimeField(default=timezone.now, editable=False)),
                ("collection", _to("documents.collection", related_name="documents")),
                (
                    "permissions",
                    models.JSONField(
                        blank=True, db_default=models.Value({}, models.JSONField()), default=dict
                    ),
                ),
                ("replaces", _to("documents.document", blank=True, null=True, related_name="successors")),
                ("source_url", models.TextField(blank=True, db_default="", default="")),
                (
                    "status",
                    models.CharField(
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
                ("updated_at", models.DateTimeField(auto_now=True, db_default=Now())),
                ("language", models.CharField(blank=True, db_default="", default="", max_length=8)),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(fields=["file"], name="documents_by_file"),
                    models.Index(
                        condition=models.Q(status="processing"), fields=["id"], name="documents_processing"
                    ),
                    models.Index(fields=["collection", "created_at", "id"], name="documents_by_age"),
                    models.Index(
                        condition=models.Q(replaces__isnull=True),
                        fields=["created_at", "id"],
                        name="documents_by_creation",
                    ),
                    models.Index(
                        condition=models.Q(replaces__isnull=True),
                        fields=["updated_at", "id"],
                        name="documents_by_change",
                    ),
                    models.Index(
                        condition=models.Q(replaces__isnull=True),
                        fields=["title", "id"],
                        name="documents_by_title",
                    ),
                    models.Index(
                        Coalesce("size_bytes", 0),
                        models.F("id"),
                        condition=models.Q(replaces__isnull=True),
                        name="documents_by_size",
                    ),
                    models.Index(fields=["collection", "language"], name="documents_by_language"),
                    GinIndex(OpClass("metadata", name="jsonb_path_ops"), name="documents_by_metadata"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(replaces__isnull=True),
                        fields=("collection", "checksum"),
                        name="documents_one_per_checksum",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(replaces__isnull=False),
                        fields=("replaces",),
                        name="documents_one_replacement",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Chunk",
            fields=[
                ("id", _id()),
                ("chunk_index", models.IntegerField()),
                ("content", models.TextField()),
                ("start_char", models.IntegerField()),
                ("end_char", models.IntegerField()),
                ("token_count", models.IntegerField()),
                ("page_number", models.IntegerField(null=True)),
                ("last_page", models.IntegerField(null=True)),
                ("chapter", models.TextField(blank=True, default="")),
                ("section", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("document", _to("documents.document", related_name="chunks")),
                ("chunk_type", models.CharField(db_default="paragraph", default="paragraph", max_length=16)),
                ("headers", models.JSONField(db_default=models.Value([], models.JSONField()), default=list)),
            ],
            options={
                "ordering": ["document_id", "chunk_index"],
                "indexes": [
                    HashIndex(condition=~models.Q(chapter=""), fields=["chapter"], name="chunks_by_chapter"),
                    HashIndex(condition=~models.Q(section=""), fields=["section"], name="chunks_by_section"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("document", "chunk_index"), name="chunks_one_per_index")
                ],
            },
        ),
        migrations.CreateModel(
            name="Page",
            fields=[
                ("id", _number()),
                ("number", models.IntegerField()),
                ("start_char", models.IntegerField()),
                ("text", models.TextField()),
                ("read_by", models.CharField(max_length=16)),
                ("warnings", models.JSONField(default=list)),
                ("document", _to("documents.document", related_name="pages")),
            ],
            options={
                "ordering": ["document_id", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("document", "number"), name="pages_one_per_number")
                ],
            },
        ),
        _view("DocumentEntry", "documents_entry", ordering=["-created_at", "-id"]),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                ("id", _id()),
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
            options={"verbose_name": "API key", "ordering": ["-created_at"]},
        ),
        migrations.CreateModel(
            name="ApiKeyCollection",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("collection", _to("documents.collection", related_name="+")),
                ("key", _to("documents.apikey", related_name="bindings")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("key", "collection"), name="keys_bound_once")]
            },
        ),
        migrations.AddField(
            "apikey",
            "collections",
            models.ManyToManyField(
                blank=True, through="documents.ApiKeyCollection", to="documents.collection"
            ),
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
            options={
                "indexes": [models.Index(fields=["created_at"], name="idempotency_by_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("scope", "key"), name="idempotency_one_per_key")
                ],
            },
        ),
        migrations.CreateModel(
            name="IngestJob",
            fields=[
                ("id", _id()),
                ("settings", models.JSONField(default=dict)),
                ("origin", models.CharField(default="api", max_length=16)),
                ("key_id", models.UUIDField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("collection", _to("documents.collection", related_name="ingest_jobs")),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "indexes": [models.Index(fields=["collection", "created_at"], name="ingest_jobs_by_age")],
            },
        ),
        migrations.CreateModel(
            name="IngestItem",
            fields=[
                ("id", _id()),
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
                ("collection", _to("documents.collection", related_name="ingest_items")),
                ("replaces", _to("documents.document", blank=True, null=True, related_name="replacements")),
                ("job", _to("documents.ingestjob", related_name="items")),
            ],
            options={
                "ordering": ["job_id", "position"],
                "indexes": [
                    models.Index(
                        condition=models.Q(status__in=["pending", "processing"]),
                        fields=["id"],
                        name="items_open",
                    ),
                    models.Index(fields=["collection", "created_at"], name="items_by_age"),
                    models.Index(
                        condition=models.Q(status__in=["pending", "processing"]),
                        fields=["collection", "checksum"],
                        name="items_open_by_checksum",
                    ),
                    models.Index(fields=["file"], name="items_by_file"),
                    models.Index(
                        condition=models.Q(deleted_at__isnull=True, replaces__isnull=True)
                        & ~models.Q(status="completed"),
                        fields=["created_at", "id"],
                        name="items_unstored",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("job", "position"), name="items_one_per_position"),
                    models.UniqueConstraint(
                        condition=models.Q(replaces__isnull=False, status__in=["pending", "processing"]),
                        fields=("replaces",),
                        name="items_one_replacement",
                    ),
                ],
            },
        ),
        _view("StoredEntry", "documents_entry_stored"),
        _view("UnstoredEntry", "documents_entry_unstored"),
        migrations.CreateModel(
            name="CollectionChange",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("collection_id", models.UUIDField()),
                ("mark", models.BigIntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["collection_id"], include=("mark",), name="changes_of_collection")
                ]
            },
        ),
        _run("foreign_keys"),
        _run("entries", "DROP VIEW documents_entry, documents_entry_stored, documents_entry_unstored"),
        _run(
            "collection_changes",
            "DROP FUNCTION documents_collections_changed, documents_documents_changed, "
            "documents_documents_rewritten CASCADE",
        ),
        migrations.RunPython(make_default, migrations.RunPython.noop),
    ]
