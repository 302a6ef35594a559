"""Sentence vectors for chunks that have none: stored by an earlier release, or read from its export."""

from collections.abc import Iterator
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import transaction

from embeddings.model_lifecycle.active import active_model
from embeddings.model_lifecycle.registry import embedder_for
from embeddings.protocols import SentenceAware
from embeddings.types import ClaimedChunk, EmbeddedText
from embeddings.vectors import sentences
from knowlex.db.threads import execute, release_connection, with_retries

_LACKING = """
    FROM embeddings_embedding e JOIN documents_chunk c ON c.id = e.chunk_id
    WHERE e.model_id = %(model)s AND NOT EXISTS (
        SELECT FROM embeddings_sentencevectors s WHERE s.chunk_id = e.chunk_id AND s.model_id = e.model_id)
"""
_COUNT = f"SELECT count(*) {_LACKING}"
_NEXT = f"SELECT c.id, c.content {_LACKING} AND e.chunk_id > %(after)s ORDER BY e.chunk_id LIMIT %(most)s"
_LOCK_DOCUMENTS = """
    SELECT d.id FROM documents_document d
    WHERE d.id IN (SELECT c.document_id FROM documents_chunk c WHERE c.id = ANY(%s))
    ORDER BY d.id FOR KEY SHARE OF d
"""


def count_without_sentences() -> int:
    """How many chunks have a vector of the active model, but none of their sentences."""
    return int(with_retries(lambda: execute(_COUNT, {"model": active_model().pk}))[0][0])


def embed_missing_sentences() -> Iterator[int]:
    """Embed them anew, the model's usual number at a time, each in a transaction; yields how many were done.

    Their own vectors stay. Nothing for a model without token vectors. May run beside workers, and again
    after it was broken off. Raises EmbedderError, DatabaseUnavailable.
    """
    model, after = active_model(), UUID(int=0)
    embedder = embedder_for(model.spec)
    if not isinstance(embedder, SentenceAware):
        return
    while chunks := with_retries(partial(_next_batch, model.pk, after)):
        after = chunks[-1].chunk_id
        release_connection()
        found = sentences.embed_texts(embedder, [chunk.content for chunk in chunks])
        found_of = {chunk.chunk_id: one for chunk, one in zip(chunks, found, strict=True)}
        with_retries(partial(_store_batch, model.pk, found_of))
        yield len(chunks)


def _next_batch(model_id: int, after: UUID) -> list[ClaimedChunk]:
    scope = {"model": model_id, "after": after, "most": settings.EMBEDDING_BATCH}
    return [ClaimedChunk(*row) for row in execute(_NEXT, scope)]


def _store_batch(model_id: int, found: dict[UUID, EmbeddedText]) -> None:
    with transaction.atomic():
        execute(_LOCK_DOCUMENTS, [list(found)])
        sentences.store_sentences(model_id, found)
