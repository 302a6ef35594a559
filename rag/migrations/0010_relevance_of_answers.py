"""Answers that hardly answer their question are found by an index.

An extractive answer quotes its passages, so its faithfulness, which was always 1, says nothing: it has none.
"""

from django.db import migrations, models

QUOTING = "UPDATE rag_response SET faithfulness_score = NULL WHERE model = 'extractive'"


class Migration(migrations.Migration):
    dependencies = [
        ("rag", "0009_verification"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="response",
            index=models.Index(
                condition=models.Q(("answer_relevance__lt", 0.4)),
                fields=["answer_relevance", "query"],
                name="responses_by_relevance",
            ),
        ),
        migrations.RunSQL(QUOTING, migrations.RunSQL.noop),
    ]
