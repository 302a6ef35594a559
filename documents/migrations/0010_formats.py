from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("documents", "0009_table_heads")]

    operations = [
        migrations.AlterField(
            "document",
            "source",
            models.CharField(
                choices=[
                    ("PDF", "PDF"),
                    ("MARKDOWN", "Markdown"),
                    ("HTML", "HTML"),
                    ("DOCX", "DOCX"),
                    ("TEXT", "Plain text"),
                    ("XLSX", "XLSX"),
                    ("CSV", "CSV"),
                    ("PPTX", "PPTX"),
                    ("ODT", "ODT"),
                    ("RTF", "RTF"),
                    ("EPUB", "EPUB"),
                    ("EML", "Mail (EML)"),
                    ("MSG", "Mail (MSG)"),
                ],
                max_length=16,
            ),
        )
    ]
