"""The chapter's number in the names of a book's files, worked out by the database."""

from django.db import migrations, models

_BOOK_CHAPTER = r"^([[:alpha:]]*[-_. ]?[0-9]*(?:[-_.][0-9]+)*)[-_.][0-9]{1,3}(?![0-9])"


class Migration(migrations.Migration):
    dependencies = [("documents", "0007_daily_tokens")]

    operations = [
        migrations.AddField(
            "document",
            "book_chapter",
            models.GeneratedField(
                expression=models.Case(
                    models.When(
                        source="MARKDOWN",
                        then=models.Func(
                            models.F("original_filename"), models.Value(_BOOK_CHAPTER), function="substring"
                        ),
                    )
                ),
                output_field=models.TextField(null=True),
                db_persist=True,
            ),
        ),
        migrations.AddIndex(
            "document",
            models.Index(
                fields=["collection", "book_chapter"],
                condition=models.Q(book_chapter__isnull=False),
                name="documents_of_chapter",
            ),
        ),
    ]
