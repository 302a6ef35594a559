"""The SQL of retrieval: what the question's words are worth, and one statement that finds the passages."""

from functools import lru_cache

from psycopg.sql import SQL, Composed, Literal

FACTS = SQL("""
SELECT m.id AS model_id, m.name AS model_name, m.dimensions, m.calibration,
    EXISTS (
        SELECT FROM embeddings_embedding
        WHERE model_id = m.id AND collection_id = ANY(%(collections)s)
    ) AS has_vectors,
    (
        SELECT coalesce(jsonb_object_agg(lexeme, chunks), '{}') FROM (
            SELECT lexeme, sum(chunks) AS chunks FROM embeddings_lexemecount
            WHERE collection_id = ANY(%(collections)s) AND lexeme = ANY(%(lexemes)s)
            GROUP BY lexeme
        ) AS counted
    ) AS chunks_with
FROM embeddings_embeddingmodel AS m WHERE m.active
""")

# Only a chunk with a vector of the active model is ever found, whichever ranking holds it. The model's id and
# size are literals, since a partial index per model serves the search only where the planner can see them.
_SEARCH = SQL("""
WITH dense AS (
    SELECT chunk_id, distance, row_number() OVER (ORDER BY distance, chunk_id) AS rank FROM (
        SELECT chunk_id, vector::vector({dimensions}) <=> %(vector)s AS distance
        FROM embeddings_embedding
        WHERE model_id = {model} AND collection_id = ANY(%(collections)s)
        ORDER BY vector::vector({dimensions}) <=> %(vector)s
        LIMIT %(depth)s
    ) AS nearest
), sparse AS (
    SELECT chunk_id, score, row_number() OVER (ORDER BY score DESC, chunk_id) AS rank FROM (
        SELECT chunk_id, -(weights <#> %(weights)s::sparsevec) AS score
        FROM embeddings_lexicalentry
        WHERE collection_id = ANY(%(collections)s) AND lexemes @@ %(words)s::tsquery
        ORDER BY weights <#> %(weights)s::sparsevec
        LIMIT %(depth)s
    ) AS matching
)
SELECT c.id AS chunk_id, c.document_id, d.original_filename AS document_name,
    coalesce(nullif(d.title, ''), d.original_filename) AS title,
    c.chunk_index, c.content, c.page_number, c.last_page, c.chapter, c.section, c.start_char, c.token_count,
    coalesce(dense.distance, e.vector::vector({dimensions}) <=> %(vector)s) AS distance,
    dense.rank AS dense_rank, sparse.rank AS sparse_rank, sparse.score AS sparse_score
FROM dense FULL JOIN sparse USING (chunk_id)
JOIN embeddings_embedding AS e
    ON e.chunk_id = coalesce(dense.chunk_id, sparse.chunk_id) AND e.model_id = {model}
JOIN documents_chunk AS c ON c.id = e.chunk_id
JOIN documents_document AS d ON d.id = c.document_id
""")


@lru_cache(maxsize=32)
def search(model_id: int, dimensions: int) -> Composed:
    """Passages by both rankings, unordered. Both numbers come from our own table, never from a caller."""
    return _SEARCH.format(model=Literal(model_id), dimensions=Literal(dimensions))
