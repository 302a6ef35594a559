"""Webhooks, what they are told, and which jobs they were told of."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import knowlex.base.ids

# Jobs that ended before are old news.
TOLD = "UPDATE documents_ingestjob SET told_at = now()"
CASCADE = """
    ALTER TABLE documents_webhookdelivery ADD CONSTRAINT documents_webhookdelivery_webhook_id_fk
        FOREIGN KEY (webhook_id) REFERENCES documents_webhook (id) ON DELETE CASCADE
"""


class Migration(migrations.Migration):
    dependencies = [("documents", "0010_formats")]

    operations = [
        migrations.CreateModel(
            name="Webhook",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=knowlex.base.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("url", models.TextField()),
                (
                    "events",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None),
                ),
                ("secret", models.TextField(editable=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"ordering": ["-created_at", "-id"]},
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=knowlex.base.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("event", models.TextField()),
                ("body", models.TextField()),
                (
                    "status",
                    models.CharField(
                        choices=[("pending", "Pending"), ("delivered", "Delivered"), ("failed", "Failed")],
                        default="pending",
                        max_length=16,
                    ),
                ),
                ("due_at", models.DateTimeField()),
                ("attempts", models.IntegerField(default=0)),
                ("lease", models.UUIDField(null=True)),
                ("leased_until", models.DateTimeField(null=True)),
                ("response_status", models.IntegerField(null=True)),
                ("error", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "webhook",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="deliveries",
                        to="documents.webhook",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "verbose_name_plural": "webhook deliveries",
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "pending")),
                        fields=["due_at"],
                        name="webhook_deliveries_due",
                    ),
                    models.Index(fields=["webhook", "created_at"], name="webhook_deliveries_by_age"),
                ],
            },
        ),
        migrations.RunSQL(CASCADE, migrations.RunSQL.noop),
        migrations.AddField(
            model_name="ingestjob",
            name="told_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.RunSQL(TOLD, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="ingestjob",
            index=models.Index(
                condition=models.Q(("told_at__isnull", True)),
                fields=["created_at"],
                name="ingest_jobs_untold",
            ),
        ),
    ]
