"""Row security on what holds text of documents."""

from pathlib import Path

from django.db import migrations

ROW_SECURITY = Path(__file__).with_name("sql") / "row_security.sql"


class Migration(migrations.Migration):
    dependencies = [("documents", "0003_permissions")]

    operations = [
        migrations.RunSQL(ROW_SECURITY.read_text(encoding="utf-8"), migrations.RunSQL.noop),
    ]
