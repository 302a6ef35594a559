"""The vectors of chunks' sentences: made with the chunk's own, stored beside it, read for candidates only."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

import numpy as np
import psycopg
from django.conf import settings
from django.db import connection, transaction
from numpy.typing import NDArray

from documents.text.sentences import sentence_spans
from embeddings.active_model import active_model
from embeddings.protocols import Embedder, SentenceAware
from embeddings.registry import embedder_for
from embeddings.types import ClaimedChunk, EmbeddedText
from embeddings.vectors import binary
from knowlex.db.threads import execute, release_connection, with_retries

MAX_SENTENCES = 64  # sentences of one chunk that have a vector; 50 kB at 384 dimensions
_ELEMENT = "SELECT 'halfvec'::regtype::oid::bigint"
# The chunks' sentences one after the other: of the chunk `id`, those from `first` to `last`, from 1.
_INSERT_SENTENCES = """
    INSERT INTO embeddings_sentencevectors (chunk_id, model_id, bounds, vectors)
    SELECT c.id, %(model)s, (%(bounds)s::int[])[2 * given.first - 1 : 2 * given.last],
        (%(vectors)b::halfvec[])[given.first : given.last]
    FROM unnest(%(ids)s::uuid[], %(firsts)s::int[], %(lasts)s::int[]) AS given (id, first, last)
    JOIN documents_chunk c ON c.id = given.id
    ON CONFLICT (chunk_id, model_id) DO UPDATE SET bounds = excluded.bounds, vectors = excluded.vectors
"""


def embed_texts(embedder: Embedder, texts: Sequence[str]) -> list[EmbeddedText]:
    """Return each text's vector, and those of its first sentences if the model gives them. Raises as
    `embed`.
    """
    if not isinstance(embedder, SentenceAware):
        return [EmbeddedText(vector) for vector in embedder.embed(texts)]
    spans = [tuple(sentence_spans(text)[:MAX_SENTENCES]) for text in texts]
    embedded = embedder.embed_with_sentences(texts, spans)
    return [replace(text, spans=own) for text, own in zip(embedded, spans, strict=True)]


def store_sentences(model_id: int, embedded: Mapping[UUID, EmbeddedText]) -> None:
    """Write, for chunks that are there, what sentences have a vector; in the caller's transaction.

    In PostgreSQL's binary form: as text it would cost as much as a tenth of the model's own time.
    """
    ids: list[UUID] = []
    lasts: list[int] = []
    bounds: list[int] = []
    vectors: list[NDArray[np.float32]] = []
    for chunk_id, text in embedded.items():
        if text.sentences is None:
            continue
        squares = (text.sentences**2).sum(axis=1)
        read = np.flatnonzero(np.isfinite(squares) & (squares > 0)).tolist()  # what the model has read
        if read:
            ids.append(chunk_id)
            lasts.append(len(read) + (lasts[-1] if lasts else 0))
            bounds += [bound for n in read for bound in text.spans[n]]
            vectors.append(text.sentences[read])
    if not ids:
        return
    packed = binary.pack_halfvecs(np.concatenate(vectors), execute(_ELEMENT)[0][0])
    parameters = {
        "model": model_id,
        "ids": ids,
        "firsts": [1, *(last + 1 for last in lasts[:-1])],
        "lasts": lasts,
        "bounds": bounds,
        "vectors": binary.BinaryParameter(packed),
    }
    # Django's own cursors write every parameter into the statement's text.
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.adapters.register_dumper(binary.BinaryParameter, binary.BinaryDumper)
        cursor.execute(_INSERT_SENTENCES.encode(), parameters)


_LACKING = """
    FROM embeddings_embedding e JOIN documents_chunk c ON c.id = e.chunk_id
    WHERE e.model_id = %(model)s AND NOT EXISTS (
        SELECT FROM embeddings_sentencevectors s WHERE s.chunk_id = e.chunk_id AND s.model_id = e.model_id)
"""
_COUNT = f"SELECT count(*) {_LACKING}"
_NEXT = f"SELECT c.id, c.content {_LACKING} AND e.chunk_id > %(after)s ORDER BY e.chunk_id LIMIT %(limit)s"
_LOCK_DOCUMENTS = """
    SELECT d.id FROM documents_document d
    WHERE d.id IN (SELECT c.document_id FROM documents_chunk c WHERE c.id = ANY(%s))
    ORDER BY d.id FOR KEY SHARE OF d
"""


def count_without_sentences() -> int:
    """Count chunks that have a vector of the active model, but none of their sentences."""
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
        texts = embed_texts(embedder, [chunk.content for chunk in chunks])
        embedded = {chunk.chunk_id: text for chunk, text in zip(chunks, texts, strict=True)}
        with_retries(partial(_store_batch, model.pk, embedded))
        yield len(chunks)


def _next_batch(model_id: int, after: UUID) -> list[ClaimedChunk]:
    scope = {"model": model_id, "after": after, "limit": settings.EMBEDDING_BATCH}
    return [ClaimedChunk(*row) for row in execute(_NEXT, scope)]


def _store_batch(model_id: int, embedded: dict[UUID, EmbeddedText]) -> None:
    with transaction.atomic():
        execute(_LOCK_DOCUMENTS, [list(embedded)])
        store_sentences(model_id, embedded)
