"""Every query of the embeddings app has a name."""

from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.db import models

if TYPE_CHECKING:
    from embeddings.models import (  # noqa: F401
        EmbeddingModel,
        EmbeddingRequest,
        EmbeddingRun,
    )


class EmbeddingModelQuerySet(models.QuerySet["EmbeddingModel"]):
    def active(self) -> Self:
        """None or one row."""
        return self.filter(active=True)


class EmbeddingRequestQuerySet(models.QuerySet["EmbeddingRequest"]):
    def failed(self) -> Self:
        return self.filter(failed_at__isnull=False)

    def waiting(self) -> Self:
        """Queued or being worked on."""
        return self.filter(failed_at__isnull=True)


class EmbeddingRunQuerySet(models.QuerySet["EmbeddingRun"]):
    def finished_before(self, moment: datetime) -> Self:
        """Older than that, and nothing they asked for is waiting or failed."""
        return self.filter(created_at__lt=moment, requests__isnull=True)
