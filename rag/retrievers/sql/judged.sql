-- Chunks that other words or vectors have found, as the question itself sees them.
WITH found AS MATERIALIZED (
    SELECT e.chunk_id, e.vector <=> %(vector)s::vector AS distance,
        NULL::bigint AS dense_rank, NULL::bigint AS sparse_rank,
        CASE WHEN l.lexemes @@ %(words)s::tsquery THEN -(l.weights <#> %(weights)s::sparsevec)
            END AS sparse_score, given.score, e.vector <=> %(vector)s::vector AS tie
    FROM unnest(%(ids)s::uuid[], %(scores)s::float8[]) AS given (chunk_id, score)
    JOIN embeddings_embedding AS e ON e.chunk_id = given.chunk_id AND e.model_id = {model}
    LEFT JOIN embeddings_lexicalentry AS l ON l.chunk_id = given.chunk_id
)
{passages}
