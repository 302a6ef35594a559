"""What the check of an answer found: its counts, contradicted claims, and what a model says of a claim later.

A claim that is contradicted may name what a deleted document said: it goes with the answer.
"""

from importlib import import_module

from django.db import migrations, models

FUNCTION = import_module("rag.migrations.0004_rewritten_follow_ups").FUNCTION.format(
    follow_ups=import_module("rag.migrations.0007_follow_ups_once").FOLLOW_UPS
)
EMPTYING = FUNCTION.replace("SET answer = '',", "SET answer = '', contradicted = '[]',")


class Migration(migrations.Migration):
    dependencies = [
        ("rag", "0008_candidates_in_one_row"),
    ]

    operations = [
        migrations.AddField("citation", "judged_by", models.TextField(blank=True, db_default="", default="")),
        migrations.AddField(
            "citation", "verdict", models.CharField(blank=True, db_default="", default="", max_length=16)
        ),
        migrations.AddField("response", "answer_relevance", models.FloatField(null=True)),
        migrations.AddField("response", "contradicted", models.JSONField(db_default=[], default=list)),
        migrations.AddField("response", "verification", models.JSONField(db_default={}, default=dict)),
        migrations.RunSQL(EMPTYING, FUNCTION),
    ]
