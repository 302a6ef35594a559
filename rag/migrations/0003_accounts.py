"""Past questions know the account that asked."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rag", "0002_checked_answers")]

    operations = [
        migrations.AddField("query", "user_id", models.IntegerField(null=True)),
        migrations.AddIndex(
            "query",
            models.Index(
                condition=models.Q(user_id__isnull=False),
                fields=["user_id", "created_at"],
                name="queries_by_account",
            ),
        ),
    ]
