from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("documents", "0008_book_chapters")]
    operations = [
        migrations.AddField(
            "chunk", "table_head", ArrayField(models.TextField(), db_default=[], default=list, size=None)
        ),
    ]
