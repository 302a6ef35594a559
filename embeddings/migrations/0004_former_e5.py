"""Vectors of multilingual-e5-small that are stored are told from those it gives from here on."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).with_name("sql") / "former_e5.sql"


class Migration(migrations.Migration):
    dependencies = [("embeddings", "0003_lexical_by_collection")]

    operations = [migrations.RunSQL(SQL.read_text(encoding="utf-8"), migrations.RunSQL.noop)]
