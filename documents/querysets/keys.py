"""Queries about API keys."""

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from documents.models import ApiKey  # noqa: F401


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    pass
