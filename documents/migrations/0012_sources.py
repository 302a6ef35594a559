"""Sources that stay in sync with a collection."""

from pathlib import Path

import django.core.serializers.json
import django.db.models.deletion
from django.db import migrations, models

import knowlex.base.ids

SOURCES = Path(__file__).with_name("sql") / "sources.sql"


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0011_webhooks"),
    ]

    operations = [
        migrations.CreateModel(
            name="Source",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=knowlex.base.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=255, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("folder", "a folder of the server"),
                            ("webdav", "WebDAV (Nextcloud and others)"),
                            ("s3", "a bucket of S3"),
                        ],
                        max_length=8,
                    ),
                ),
                ("config", models.JSONField(default=dict)),
                ("secret", models.TextField(blank=True, default="")),
                ("every_minutes", models.IntegerField(blank=True, null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("idle", "not run yet"),
                            ("pending", "waits for a worker"),
                            ("running", "is running"),
                            ("completed", "in sync"),
                            ("needs_confirmation", "asks whether to delete"),
                            ("failed", "failed"),
                        ],
                        default="idle",
                        max_length=20,
                    ),
                ),
                (
                    "stage",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("listing", "Listing"),
                            ("matching", "Matching"),
                            ("taking", "Taking"),
                            ("waiting", "Waiting"),
                            ("removing", "Removing"),
                        ],
                        default="",
                        max_length=16,
                    ),
                ),
                ("run", models.BigIntegerField(default=0)),
                ("dry_run", models.BooleanField(default=False)),
                (
                    "counts",
                    models.JSONField(default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder),
                ),
                ("error", models.TextField(blank=True, default="")),
                ("confirmed_at", models.DateTimeField(null=True)),
                ("lease", models.UUIDField(null=True)),
                ("leased_until", models.DateTimeField(null=True)),
                ("attempts", models.IntegerField(default=0)),
                ("taken_at", models.DateTimeField(null=True)),
                ("next_run_at", models.DateTimeField(null=True)),
                ("brought_by", models.CharField(blank=True, default="", max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "collection",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="sources",
                        to="documents.collection",
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="SourceItem",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=knowlex.base.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("path", models.TextField(null=True)),
                ("size_bytes", models.BigIntegerField(default=0)),
                ("version", models.TextField(blank=True, default="")),
                ("checksum", models.CharField(blank=True, default="", max_length=64)),
                ("document", models.UUIDField(null=True)),
                ("owned", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("new", "not looked at yet"),
                            ("taken", "taken"),
                            ("present", "was there already, not from a source"),
                            ("skipped", "not taken"),
                            ("failed", "could not be read"),
                        ],
                        default="new",
                        max_length=8,
                    ),
                ),
                ("reason", models.TextField(blank=True, default="")),
                ("listed_version", models.TextField(blank=True, default="")),
                ("listed_size", models.BigIntegerField(default=0)),
                ("listed_in", models.BigIntegerField(default=0)),
                (
                    "step",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "None"),
                            ("candidate", "Candidate"),
                            ("listed", "Listed"),
                            ("matched", "Matched"),
                            ("done", "Done"),
                        ],
                        default="",
                        max_length=9,
                    ),
                ),
                ("gone_at", models.DateTimeField(null=True)),
                (
                    "item",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="documents.ingestitem",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="items",
                        to="documents.source",
                    ),
                ),
            ],
            options={
                "ordering": ["path"],
                "indexes": [
                    models.Index(fields=["document"], name="source_items_by_document"),
                    models.Index(fields=["checksum"], name="source_items_by_checksum"),
                    models.Index(fields=["source", "step", "path"], name="source_items_by_step"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("source", "path"), name="source_items_one_per_path")
                ],
            },
        ),
        migrations.RunSQL(SOURCES.read_text(encoding="utf-8"), migrations.RunSQL.noop),
    ]
