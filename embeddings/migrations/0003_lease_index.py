"""Indexes for what a worker does with each batch: find the first free request of a run, renew a lease."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0002_cascades_and_default"),
        ("embeddings", "0002_cascades_and_lexeme_counts"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="embeddingrequest",
            index=models.Index(
                fields=["lease"], condition=models.Q(("lease__isnull", False)), name="requests_by_lease"
            ),
        ),
        migrations.RemoveIndex(model_name="embeddingrequest", name="requests_by_run"),
        migrations.AddIndex(
            model_name="embeddingrequest",
            index=models.Index(fields=["run", "id"], name="requests_by_run"),
        ),
    ]
