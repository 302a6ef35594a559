"""How near a quote comes to its question is kept as the search worked it out."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rag", "0004_permissions")]

    operations = [migrations.AddField("citation", "similarity", models.FloatField(null=True))]
