"""The language that a document's words are analysed by; "" is as they were analysed so far."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0005_list_indexes"),
    ]

    operations = [
        migrations.AddField(
            model_name="document",
            name="language",
            field=models.CharField(blank=True, db_default="", default="", max_length=8),
        ),
    ]
