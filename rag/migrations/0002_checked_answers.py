"""What the check of an answer found: its counts, contradicted claims, and what a model says of it later."""

from pathlib import Path

from django.db import migrations, models

FORGET_QUOTES = Path(__file__).with_name("sql") / "forget_quotes.sql"
# An extractive answer quotes its passages: that it is faithful says nothing, so it has no such score.
QUOTING = "UPDATE rag_response SET faithfulness_score = NULL WHERE model = 'extractive'"


class Migration(migrations.Migration):
    replaces = [("rag", "0009_verification"), ("rag", "0010_relevance_of_answers")]
    dependencies = [("rag", "0001_initial")]

    operations = [
        migrations.AddField("citation", "judged_by", models.TextField(blank=True, db_default="", default="")),
        migrations.AddField(
            "citation", "verdict", models.CharField(blank=True, db_default="", default="", max_length=16)
        ),
        migrations.AddField("response", "answer_relevance", models.FloatField(null=True)),
        migrations.AddField("response", "contradicted", models.JSONField(db_default=[], default=list)),
        migrations.AddField("response", "verification", models.JSONField(db_default={}, default=dict)),
        migrations.AddIndex(
            "response",
            models.Index(
                condition=models.Q(answer_relevance__lt=0.4),
                fields=["answer_relevance", "query"],
                name="responses_by_relevance",
            ),
        ),
        migrations.RunSQL(
            FORGET_QUOTES.read_text(encoding="utf-8"), "DROP FUNCTION rag_forget_quotes CASCADE"
        ),
        migrations.RunSQL(QUOTING, migrations.RunSQL.noop),
    ]
