"""The words of a small collection are found without those of all others."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Searches and writes go on meanwhile."""

    atomic = False
    dependencies = [("embeddings", "0002_chunk_analysis")]

    operations = [
        AddIndexConcurrently(
            "lexicalentry", models.Index(fields=["collection_id"], name="lexical_by_collection")
        ),
    ]
