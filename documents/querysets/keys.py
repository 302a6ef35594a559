"""Queries about API keys."""

from typing import TYPE_CHECKING, Self
from uuid import UUID

from django.db import models
from django.utils import timezone

if TYPE_CHECKING:
    from documents.models import ApiKey  # noqa: F401


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def unrevoked(self) -> Self:
        return self.filter(revoked_at__isnull=True)

    def live(self) -> Self:
        """Neither revoked nor expired."""
        endless = models.Q(expires_at__isnull=True)
        return self.unrevoked().filter(endless | models.Q(expires_at__gt=timezone.now()))

    def shown_as(self, prefix_or_id: str) -> Self:
        """The one with this prefix, or with this id if the text is a UUID."""
        try:
            return self.filter(models.Q(prefix=prefix_or_id) | models.Q(id=UUID(prefix_or_id)))
        except ValueError:
            return self.filter(prefix=prefix_or_id)

    def with_collections(self) -> Self:
        """Newest first, with the collections of all of them in one query more."""
        return self.order_by("-created_at").prefetch_related("collections")
