"""Indexes that a queue needs, and none that stale statistics could mislead into reading all of it."""

import django.db.models.deletion
import django.db.models.expressions
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0004_documents_as_old_as_their_items"),
        ("embeddings", "0004_status_and_moves"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="embeddingrequest",
            name="requests_due",
        ),
        migrations.AlterField(
            model_name="embeddingrequest",
            name="model",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="requests",
                to="embeddings.embeddingmodel",
            ),
        ),
        migrations.AddIndex(
            model_name="embeddingrequest",
            index=models.Index(
                condition=models.Q(("leased_until__isnull", False)),
                fields=["leased_until"],
                name="requests_due",
            ),
        ),
        migrations.AddIndex(
            model_name="embeddingrun",
            index=models.Index(
                condition=models.Q(
                    (
                        "requested__gt",
                        django.db.models.expressions.CombinedExpression(
                            models.F("embedded"), "+", models.F("failed")
                        ),
                    )
                ),
                fields=["created_at"],
                name="runs_open",
            ),
        ),
    ]
