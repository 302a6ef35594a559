"""Immediate cascading foreign keys, and the collection `default`, which always exists."""

from django.db import migrations

from knowlex.base.ids import new_id
from knowlex.db.cascades import cascade


def make_default(apps, schema_editor):
    apps.get_model("documents", "Collection").objects.get_or_create(
        name="default", defaults={"id": new_id(), "description": "Where documents go unless told otherwise."}
    )


class Migration(migrations.Migration):
    dependencies = [("documents", "0001_initial")]

    operations = [
        cascade("documents_document", "collection_id", "documents_collection"),
        cascade("documents_page", "document_id", "documents_document"),
        cascade("documents_chunk", "document_id", "documents_document"),
        migrations.RunPython(make_default, migrations.RunPython.noop),
    ]
