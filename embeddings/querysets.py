"""Every query of the embeddings app has a name."""

from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models.functions import Now

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

    def wanted(self) -> Self:
        """Those that every new chunk is embedded with; the active one first."""
        return self.filter(wanted=True).order_by("-active", "id")

    def others_wanted(self) -> Self:
        """Those that are being built, and the one before."""
        return self.filter(wanted=True, active=False).order_by("id")

    def before(self) -> Self:
        """None or one row: the model that was active before the active one, whose vectors are kept up."""
        active = self.model.objects.active().values("activated_at")[:1]
        held = self.filter(wanted=True, active=False, deactivated_at__isnull=False)
        return held.filter(activated_at__lt=models.Subquery(active)).order_by("-activated_at")[:1]

    def urgent(self) -> Self:
        """Those whose work somebody waits for, before all other work."""
        return self.filter(wanted=True, first_until__gt=Now())


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
