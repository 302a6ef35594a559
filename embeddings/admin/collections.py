"""Collections in the admin, with their vectors; deleting one takes everything in it along."""

from typing import Any

from django.contrib import admin
from django.db.models import Sum
from django.http import HttpRequest

from documents.access import FULL
from documents.admin import CollectionAdmin
from documents.models import DEFAULT_COLLECTION, Collection, Document
from embeddings.admin.display import DeletingWithReceipt, filter_not_stored
from embeddings.ingest import documents
from embeddings.models import Embedding

admin.site.unregister(Collection)


@admin.register(Collection)
class EmbeddedCollectionAdmin(DeletingWithReceipt, CollectionAdmin):
    actions = None  # collections are deleted one by one, each from its own page

    def facts(self, collection: Collection) -> list[tuple[str, str]]:
        vectors = Embedding.objects.filter(collection_id=collection.pk, model__active=True).count()
        return [*super().facts(collection), ("Vectors", f"{vectors:,}")]

    def has_delete_permission(self, request: HttpRequest, obj: Collection | None = None) -> bool:
        is_default = obj is not None and obj.name == DEFAULT_COLLECTION
        return not is_default and super().has_delete_permission(request, obj)

    def receipt_of_deleting(self, rows: Any) -> documents.DeletionReceipt:
        (collection,) = rows
        return documents.delete_collection(collection.pk, access=FULL)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Count for the confirmation page what goes."""
        (collection,) = objs
        sums = (
            Document.objects.current()
            .filter(collection=collection)
            .aggregate(pages=Sum("page_count", default=0), chunks=Sum("chunk_count", default=0))
        )
        waiting = filter_not_stored(collection.ingest_items.all())
        counts = {
            "documents": collection.documents.current().count(),
            "documents that are not stored (waiting, being read or failed)": waiting.count(),
            **sums,
            "vectors": Embedding.objects.filter(collection_id=collection.pk).count(),
        }
        return [f"{collection.name} with all its documents and jobs"], counts, set(), []
