"""Who may read a document, as its permissions say."""

from pathlib import Path

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

PERMISSIONS = Path(__file__).with_name("sql") / "permissions.sql"


def _readers() -> ArrayField:
    return ArrayField(models.TextField(), null=True, editable=False)


def _brought_by() -> models.CharField:
    return models.CharField(max_length=64, blank=True, default="", db_default="")


class Migration(migrations.Migration):
    dependencies = [("documents", "0002_accounts")]

    operations = [
        migrations.AddField("document", "brought_by", _brought_by()),
        migrations.AddField("document", "readers", _readers()),
        migrations.AddField("ingestjob", "brought_by", _brought_by()),
        migrations.AddField("ingestitem", "readers", _readers()),
        migrations.AddIndex(
            "document",
            models.Index(
                fields=["collection"],
                condition=models.Q(readers__isnull=False),
                name="documents_restricted",
            ),
        ),
        migrations.RunSQL(PERMISSIONS.read_text(encoding="utf-8"), migrations.RunSQL.noop),
    ]
