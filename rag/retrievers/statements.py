"""The SQL of retrieval: what the question's words are worth, and one statement that finds the passages."""

from functools import lru_cache

from psycopg.sql import SQL, Literal

from documents.types import UNREAD_WARNINGS
from embeddings.search import MODEL, SearchModel, dense_statement
from rag.retrievers import sentences

# The active model and, of the collections that are read, chunks_with: in how many chunks each word stands;
# under "" the number of chunks. No row where nothing was ever embedded.
SCOPE = (
    SQL("""
SELECT model.*,
    EXISTS (
        SELECT FROM embeddings_embedding
        WHERE model_id = model.id AND collection_id = ANY(%(collections)s)
    ) AS has_vectors,
    (
        SELECT coalesce(jsonb_object_agg(lexeme, chunks), '{{}}') FROM (
            SELECT lexeme, sum(chunks) AS chunks FROM embeddings_lexemecount
            WHERE collection_id = ANY(%(collections)s) AND lexeme = ANY(%(lexemes)s)
            GROUP BY lexeme
        ) AS counted
    ) AS chunks_with
FROM ({model}) AS model
""")
    .format(model=MODEL)
    .as_bytes(None)
)

# Reciprocal rank fusion: the sum of 1 / (k + rank) over the rankings that hold the chunk, rank from 1.
# Cormack, Clarke, Buettcher, SIGIR 2009; k = 60 is theirs.
RRF_K = 60

# Only a chunk with a vector of the active model is ever found, whichever ranking holds it. The lists are
# materialized: the planner would otherwise join while it orders, and take the distances of all chunks.
_SEARCH = SQL("""
WITH dense AS MATERIALIZED (
    SELECT chunk_id, distance, row_number() OVER (ORDER BY distance, chunk_id) AS rank
    FROM ({dense}) AS nearest
), sparse AS MATERIALIZED (
    SELECT chunk_id, score, row_number() OVER (ORDER BY score DESC, chunk_id) AS rank FROM (
        SELECT chunk_id, -(weights <#> %(weights)s::sparsevec) AS score
        FROM embeddings_lexicalentry
        WHERE collection_id = ANY(%(collections)s) AND lexemes @@ %(words)s::tsquery
        ORDER BY weights <#> %(weights)s::sparsevec
        LIMIT %(limit)s
    ) AS matching
)
SELECT c.id AS chunk_id, c.document_id, d.original_filename AS document_name,
    d.warnings AS document_warnings,
    CASE WHEN d.warnings = '[]' THEN '[]' ELSE (
        SELECT coalesce(jsonb_agg(number), '[]') FROM (
            SELECT number FROM documents_page
            WHERE document_id = d.id AND warnings ?| {unread} ORDER BY number LIMIT 1000
        ) AS unread
    ) END AS unread_pages,
    coalesce(nullif(d.title, ''), d.original_filename) AS title,
    c.chunk_index, c.content, c.page_number, c.last_page, c.chapter, c.section, c.start_char, c.token_count,
    fused.distance, fused.dense_rank, fused.sparse_rank, fused.sparse_score, fused.score,
    {sentences}
FROM (
    SELECT e.chunk_id, coalesce(dense.distance, e.vector <=> %(vector)s::vector) AS distance,
        dense.rank AS dense_rank, sparse.rank AS sparse_rank, sparse.score AS sparse_score,
        coalesce(1.0::float8 / ({k} + dense.rank), 0)
            + coalesce(1.0::float8 / ({k} + sparse.rank), 0) AS score
    FROM dense FULL JOIN sparse USING (chunk_id)
    JOIN embeddings_embedding AS e
        ON e.chunk_id = coalesce(dense.chunk_id, sparse.chunk_id) AND e.model_id = {model}
    ORDER BY score DESC, distance, e.chunk_id
    LIMIT %(candidates)s
) AS fused
JOIN documents_chunk AS c ON c.id = fused.chunk_id
JOIN documents_document AS d ON d.id = c.document_id
{join_sentences}
ORDER BY fused.score DESC, fused.distance, c.id
""")


@lru_cache(maxsize=64)
def search(model: SearchModel) -> bytes:
    """Passages by both rankings, best first.

    Parameters: vector, words, weights, collections, limit (of each ranking), candidates (of both together).
    """
    statement = _SEARCH.format(
        dense=dense_statement(model),
        model=Literal(model.id),
        k=Literal(RRF_K),
        unread=Literal(sorted(UNREAD_WARNINGS)),
        sentences=sentences.COLUMNS,
        join_sentences=sentences.JOIN.format(model=Literal(model.id)),
    )
    return statement.as_bytes(None)
