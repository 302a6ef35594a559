"""Past questions are hidden with the documents that they quote."""

from pathlib import Path

from django.db import migrations

PERMISSIONS = Path(__file__).with_name("sql") / "permissions.sql"


class Migration(migrations.Migration):
    dependencies = [("rag", "0003_accounts"), ("documents", "0004_row_security")]

    operations = [
        migrations.RunSQL(
            PERMISSIONS.read_text(encoding="utf-8"), "DROP FUNCTION IF EXISTS rag_is_hidden(uuid, text[])"
        ),
    ]
