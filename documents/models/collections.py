"""Collections of documents, and the queries about them."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models.functions import Coalesce

from documents.access import FULL, Access
from documents.models.permissions import readable_by
from knowlex.base.ids import new_id

DEFAULT_COLLECTION = "default"


class CollectionQuerySet(models.QuerySet["Collection"]):
    def named(self, name_or_id: str) -> Self:
        """Select the collection with this name, or with this id if the text is a UUID."""
        try:
            return self.filter(models.Q(name=name_or_id) | models.Q(id=UUID(name_or_id)))
        except ValueError:
            return self.filter(name=name_or_id)

    def named_any(self, names_or_ids: Sequence[str]) -> Self:
        """Select the collections with one of these names or ids."""
        ids = []
        for text in names_or_ids:
            with suppress(ValueError):
                ids.append(UUID(text))
        return self.filter(models.Q(name__in=names_or_ids) | models.Q(id__in=ids))

    def allowed_to(self, access: Access) -> Self:
        """Select the collections that the caller may use."""
        return self if access.allowed is None else self.filter(id__in=access.allowed)

    def with_counts(self, access: Access = FULL) -> Self:
        """Add `document_count` and `chunk_count`, of stored documents that the caller may read."""
        documents: Any = apps.get_model("documents", "Document").objects
        stored = documents.current().filter(readable_by(access))
        of_each = stored.filter(collection=models.OuterRef("pk")).order_by().values("collection")
        counts = {"document_count": models.Count("*"), "chunk_count": models.Sum("chunk_count")}
        return self.annotate(
            **{
                name: Coalesce(models.Subquery(of_each.annotate(total=count).values("total")), 0)
                for name, count in counts.items()
            }
        )

    def containing(self, text: str) -> Self:
        """Select the collections whose name or description contains the text, whatever the case."""
        return self.filter(models.Q(name__icontains=text) | models.Q(description__icontains=text))


class Collection(models.Model):
    """A collection. settings: as documents.library.collections checks them, else the server's defaults."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=255, unique=True)
    description = models.TextField(blank=True, default="")
    settings = models.JSONField(blank=True, default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class CollectionChange(models.Model):
    """A change in a collection, added by triggers; see documents.library.collection_states."""

    id = models.BigAutoField(primary_key=True)
    collection_id = models.UUIDField()
    mark = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["collection_id"], include=["mark"], name="changes_of_collection")]

    def __str__(self) -> str:
        return f"change of {self.collection_id}"
