"""What filters of searches look up: metadata by what they hold, chapters and sections by their titles."""

import django.contrib.postgres.indexes
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0007_languages_in_lists"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="chunk",
            index=django.contrib.postgres.indexes.HashIndex(
                condition=models.Q(("chapter", ""), _negated=True),
                fields=["chapter"],
                name="chunks_by_chapter",
            ),
        ),
        migrations.AddIndex(
            model_name="chunk",
            index=django.contrib.postgres.indexes.HashIndex(
                condition=models.Q(("section", ""), _negated=True),
                fields=["section"],
                name="chunks_by_section",
            ),
        ),
        migrations.AddIndex(
            model_name="document",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass("metadata", name="jsonb_path_ops"),
                name="documents_by_metadata",
            ),
        ),
    ]
