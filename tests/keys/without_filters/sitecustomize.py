"""Switches the application's own conditions on readers off, in processes with this folder in their path."""

import django

from documents import access

access.condition_on_readers = lambda _column: "true"
_setup = django.setup


def setup_without_filters(set_prefix: bool = True) -> None:
    """Set Django up, then make its queries forget the readers."""
    _setup(set_prefix)
    from documents.models import collections, documents, entries, jobs

    for module in (collections, documents, entries, jobs):
        module.readable_by = lambda *_: django.db.models.Q()


django.setup = setup_without_filters
