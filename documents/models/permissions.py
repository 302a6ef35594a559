"""The condition of permissions, for queries of Django's."""

from django.db import models

from documents.access import Access


def readable_by(access: Access, path: str = "readers") -> models.Q:
    """Return the condition that the permissions of the document let the caller read it."""
    if access.reads_as is None:
        return models.Q()
    return models.Q(**{f"{path}__isnull": True}) | models.Q(**{f"{path}__overlap": access.reads_as})
