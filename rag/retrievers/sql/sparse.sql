-- Passages by BM25 alone. Each product is worked out once, and both lists are in order as they come from
-- below.
WITH {passing_list}sparse AS MATERIALIZED (
    SELECT chunk_id, -negative AS score, row_number() OVER (ORDER BY negative, chunk_id) AS rank FROM (
        SELECT chunk_id, negative FROM (
            SELECT chunk_id, weights <#> %(weights)s::sparsevec AS negative
            FROM ({holding}) AS holding ORDER BY negative, chunk_id
        ) AS l {passing_words}
        LIMIT %(limit)s
    ) AS matching
),
found AS MATERIALIZED (
    SELECT chunk_id, NULL::float8 AS distance, NULL::bigint AS dense_rank, rank AS sparse_rank,
        score AS sparse_score, score, 0 AS tie
    FROM sparse ORDER BY rank LIMIT %(candidates)s
)
{passages}
