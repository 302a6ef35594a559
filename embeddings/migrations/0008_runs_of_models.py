"""Each run is of one model, so that the work of one is found without passing by the other's."""

import django.db.models.deletion
from django.db import migrations, models

from knowlex.db.cascades import cascade


class Migration(migrations.Migration):
    dependencies = [("embeddings", "0007_vector_indexes")]

    operations = [
        migrations.AddField(
            model_name="embeddingmodel",
            name="first_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="embeddingrun",
            name="model",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="runs",
                to="embeddings.embeddingmodel",
            ),
        ),
        cascade("embeddings_embeddingrun", "model_id", "embeddings_embeddingmodel"),
    ]
