-- Passages by their vectors alone.
WITH {passing_list}dense AS MATERIALIZED (
    SELECT chunk_id, distance, row_number() OVER (ORDER BY distance, chunk_id) AS rank
    FROM ({nearest}) AS nearest
),
found AS MATERIALIZED (
    SELECT chunk_id, distance, rank AS dense_rank, NULL::bigint AS sparse_rank, NULL::float8 AS sparse_score,
        1 - distance AS score, distance AS tie
    FROM dense ORDER BY rank LIMIT %(candidates)s
)
{passages}
