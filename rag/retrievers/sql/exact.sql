-- Passages that hold a literal string, letter case and runs of white space aside: how often, and where its
-- longest word is. Matching white space costs more than the rest: a single word is counted without, and of
-- several the longest is looked for first. OFFSET 0: what stands in it is worked out once.
WITH {passing_list}needle AS MATERIALIZED (
    SELECT lower(%(longest)s) AS word, lower(%(pattern)s) AS pattern
),
found AS MATERIALIZED (
    SELECT chunk_id, NULL::float8 AS distance, NULL::bigint AS dense_rank, NULL::bigint AS sparse_rank,
        NULL::float8 AS sparse_score, times::float8 AS score, place AS tie
    FROM (
        SELECT chunk_id, {times} AS times, strpos(folded, needle.word) AS place
        FROM (
            SELECT t.id AS chunk_id, lower(t.content) AS folded
            FROM ({possible}) AS possible JOIN documents_chunk AS t ON t.id = possible.chunk_id OFFSET 0
        ) AS candidate, needle
        WHERE strpos(folded, (SELECT word FROM needle)) > 0 OFFSET 0
    ) AS counted
    WHERE times > 0
    ORDER BY times DESC, place, chunk_id LIMIT %(candidates)s
)
{passages}
