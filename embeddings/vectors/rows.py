"""Vectors and words of chunks in their tables: short transactions, nothing for a chunk that is gone."""

from collections.abc import Sequence
from uuid import UUID

from documents.access import Access, condition_on_readers
from embeddings.lexical import index
from embeddings.models import Embedding
from embeddings.queue import count_on_runs
from embeddings.types import ClaimedChunk, EmbeddedText, Vector
from embeddings.vectors import sentences
from knowlex.db.threads import execute, with_retries

SAMPLE = 5000  # chunks; of larger collections the size of so many is taken for all
_BYTES = f"""
    WITH held AS MATERIALIZED (
        SELECT l.chunk_id, pg_column_size(l.lexemes) + pg_column_size(l.weights) AS bytes
        FROM documents_document d JOIN documents_chunk c ON c.document_id = d.id
        JOIN embeddings_lexicalentry l ON l.chunk_id = c.id
        WHERE d.collection_id = %(collection)s AND d.replaces_id IS NULL
            AND {condition_on_readers("d.readers")}
        LIMIT %(sample)s
    ), counted AS (SELECT count(*) AS here, %(chunks)s::float8 AS stored FROM held)
    SELECT round(CASE WHEN here < %(sample)s THEN 1 ELSE stored / here::float8 END * (
        (SELECT coalesce(sum(bytes), 0) FROM held)
        + (SELECT coalesce(sum(pg_column_size(vector)), 0)
            FROM held JOIN embeddings_embedding USING (chunk_id))
        + (SELECT coalesce(sum(pg_column_size(bounds) + pg_column_size(vectors)), 0)
            FROM held JOIN embeddings_sentencevectors USING (chunk_id))
    )) FROM counted
"""  # noqa: S608 - constants only


def vector_bytes(collection_id: UUID, *, chunks: int, access: Access) -> int:
    """Return the size of all models' vectors of what the caller may read in the collection, sentences and
    lexical index included; of more than SAMPLE chunks about. chunks: how many it may read.
    """
    scope = {"collection": collection_id, "sample": SAMPLE, "chunks": chunks, "principals": access.reads_as}
    return int(with_retries(lambda: execute(_BYTES, scope), reader=access.reads_as)[0][0])


def fetch_model_names(chunk_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return chunk -> the active model's name, for those that have its vector; in one statement."""
    rows = Embedding.objects.filter(chunk_id__in=chunk_ids, model__active=True)
    return dict(with_retries(lambda: list(rows.values_list("chunk_id", "model__name"))))


_LOCK_DOCUMENTS = """
    SELECT d.id FROM documents_document d
    WHERE d.id IN (SELECT c.document_id FROM documents_chunk c WHERE c.id = ANY(%s))
    ORDER BY d.id FOR KEY SHARE OF d
"""
_RELEASE = """
    DELETE FROM embeddings_embeddingrequest WHERE lease = %s AND chunk_id = ANY(%s) RETURNING chunk_id, run_id
"""
# A version in the making is kept under the id of the document that it replaces: no search looks there.
_INSERT_VECTORS = """
    INSERT INTO embeddings_embedding (chunk_id, model_id, collection_id, vector, created_at)
    SELECT given.chunk_id, %s, coalesce(d.replaces_id, d.collection_id), given.vector::vector,
        statement_timestamp()
    FROM unnest(%s::uuid[], %s::text[]) AS given (chunk_id, vector)
    JOIN documents_chunk c ON c.id = given.chunk_id JOIN documents_document d ON d.id = c.document_id
    ON CONFLICT DO NOTHING RETURNING chunk_id
"""


def vector_text(vector: Vector) -> str:
    """Return pgvector's notation; nine digits bring every float32 back exactly."""
    return "[" + ",".join([format(value, ".9g") for value in vector.tolist()]) + "]"


def store_vectors(
    *, lease: UUID, model_id: int, chunks: Sequence[ClaimedChunk], embedded: Sequence[EmbeddedText]
) -> int:
    """Store what is still held under the lease; returns how many vectors are new. In a transaction."""
    ids = [chunk.chunk_id for chunk in chunks]
    execute(_LOCK_DOCUMENTS, [ids])
    run_of = dict(execute(_RELEASE, [lease, ids]))
    leased = [pair for pair in zip(chunks, embedded, strict=True) if pair[0].chunk_id in run_of]
    inserted = insert_vectors(
        model_id=model_id, chunks=[chunk for chunk, _ in leased], embedded=[text for _, text in leased]
    )
    count_on_runs("embedded", (run_of[chunk_id] for chunk_id in inserted))
    return len(inserted)


def insert_vectors(
    *, model_id: int, chunks: Sequence[ClaimedChunk], embedded: Sequence[EmbeddedText]
) -> list[UUID]:
    """Insert vectors, sentences and words of chunks that are there and have no vector yet; return their ids.

    In a transaction.
    """
    ids = [chunk.chunk_id for chunk in chunks]
    rows = execute(_INSERT_VECTORS, [model_id, ids, [vector_text(text.vector) for text in embedded]])
    inserted = [chunk_id for (chunk_id,) in rows]
    embedded_of = dict(zip(ids, embedded, strict=True))
    sentences.store_sentences(model_id, {chunk_id: embedded_of[chunk_id] for chunk_id in inserted})
    index.store_words(chunks)
    return inserted
