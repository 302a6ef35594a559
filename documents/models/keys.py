"""API keys, of which only hashes are stored, and the queries about them."""

from typing import Any, Self
from uuid import UUID

from django.conf import settings
from django.db import models
from django.utils import timezone

from knowlex.base.ids import new_id


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def unrevoked(self) -> Self:
        return self.filter(revoked_at__isnull=True)

    def live(self) -> Self:
        """Select keys that are neither revoked nor expired."""
        endless = models.Q(expires_at__isnull=True)
        return self.unrevoked().filter(endless | models.Q(expires_at__gt=timezone.now()))

    def shown_as(self, prefix_or_id: str) -> Self:
        """Select the key with this prefix, or with this id if the text is a UUID."""
        try:
            return self.filter(models.Q(prefix=prefix_or_id) | models.Q(id=UUID(prefix_or_id)))
        except ValueError:
            return self.filter(prefix=prefix_or_id)

    def with_collections(self) -> Self:
        """Order by age, newest first, with the collections of all keys in one query more."""
        return self.order_by("-created_at").select_related("user").prefetch_related("collections")


class ApiKey(models.Model):
    """An API key. hash: SHA-256 of the whole key, hex: a key is 256 random bits, so nothing slower is needed.

    user: the account that it belongs to, if any: the key never does more than that. bound: only the
    collections of ApiKeyCollection may be used; with none of them left, nothing may. daily_tokens: of models,
    a day; null for no ceiling of its own.
    """

    class Scope(models.TextChoices):
        READ = "read"
        WRITE = "write"
        ADMIN = "admin"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=255)
    prefix = models.CharField(max_length=16, unique=True)
    hash = models.CharField(max_length=64)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_keys", null=True, blank=True
    )
    scope = models.CharField(max_length=8, choices=Scope.choices, default=Scope.READ)
    bound = models.BooleanField(default=False)
    collections: models.ManyToManyField[Any, Any] = models.ManyToManyField(
        "Collection", through="ApiKeyCollection", blank=True
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    daily_tokens = models.BigIntegerField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        verbose_name = "API key"
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        """Return valid, expired or revoked."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= timezone.now() else "valid"

    @property
    def bound_to(self) -> str:
        """Return the names of its collections; "all" where it is bound to none."""
        if not self.bound:
            return "all"
        return ", ".join(collection.name for collection in self.collections.all()) or "none left"


class ApiKeyCollection(models.Model):
    id = models.BigAutoField(primary_key=True)
    key = models.ForeignKey(ApiKey, models.DO_NOTHING, related_name="bindings", db_constraint=False)
    collection = models.ForeignKey("Collection", models.DO_NOTHING, related_name="+", db_constraint=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "collection"], name="keys_bound_once")]

    def __str__(self) -> str:
        return f"{self.key_id} -> {self.collection_id}"
