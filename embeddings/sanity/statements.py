"""The checks that PostgreSQL makes by itself: one statement each."""

from collections.abc import Iterator

from embeddings.models import EmbeddingModel
from embeddings.sanity import searched, stored, work
from embeddings.sanity.types import Check


def checks() -> Iterator[Check]:
    """All of them, cheap ones first. Runs one query: for the active model."""
    model = {"model": EmbeddingModel.objects.active().values_list("id", flat=True).first()}
    yield from stored.orphans()
    yield from stored.documents()
    yield from stored.statuses(model)
    yield from work.items(model)
    yield from work.requests()
    yield from work.outbox()
    yield from searched.vectors()
    yield from searched.sentences()
    yield from searched.words()
