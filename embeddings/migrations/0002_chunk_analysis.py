"""What questions read from chunks, written down; the workers do so for chunks that are there already."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).with_name("sql") / "chunk_analysis.sql"


class Migration(migrations.Migration):
    dependencies = [("embeddings", "0001_initial"), ("documents", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="ChunkAnalysis",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "chunk_id", "version", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("version", models.SmallIntegerField()),
                ("analysis", models.TextField()),
                (
                    "chunk",
                    models.ForeignKey(
                        "documents.chunk",
                        models.DO_NOTHING,
                        db_constraint=False,
                        db_index=False,
                        related_name="+",
                    ),
                ),
            ],
        ),
        migrations.RunSQL(SQL.read_text(encoding="utf-8"), migrations.RunSQL.noop),
    ]
