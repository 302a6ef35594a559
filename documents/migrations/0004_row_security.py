"""Row security on what holds text of documents."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).with_name("sql")
# A restored backup needs the role, too, which no dump of a database has.
ROW_SECURITY = (SQL / "reader_role.sql", SQL / "row_security.sql")


class Migration(migrations.Migration):
    dependencies = [("documents", "0003_permissions")]

    operations = [
        migrations.RunSQL(
            "\n".join(path.read_text(encoding="utf-8") for path in ROW_SECURITY), migrations.RunSQL.noop
        ),
    ]
