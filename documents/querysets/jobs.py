"""Queries about ingest jobs, their documents, and requests that may be repeated."""

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from documents.models import IdempotencyRecord, IngestItem, IngestJob  # noqa: F401


class IngestJobQuerySet(models.QuerySet["IngestJob"]):
    pass


class IngestItemQuerySet(models.QuerySet["IngestItem"]):
    pass


class IdempotencyQuerySet(models.QuerySet["IdempotencyRecord"]):
    pass
