-- POST /v1/search
-- {"query": "node", "settings": {"mode": "dense"}}

-- Statement 1, as hybrid.sql, statement 1
-- $1 = NULL

-- Statement 2, as hybrid-by-index.sql, statement 3

-- Statement 3, as hybrid-by-index.sql, statement 4

-- Statement 4, as hybrid-by-index.sql, statement 5

-- Statement 5
-- $1 = <vector of 384 numbers>
-- $2 = '{<uuid>}'
-- $3 = '40'
-- $4 = '20'
-- $5 = '{}'
WITH dense AS MATERIALIZED (
    SELECT chunk_id, distance, row_number() OVER (ORDER BY distance, chunk_id) AS rank
    FROM (
    WITH near AS MATERIALIZED (
        SELECT e.chunk_id, e.vector <=> $1::vector AS distance FROM embeddings_embedding e
        WHERE e.model_id = 1 AND e.chunk_id <> '00000000000000000000000000000001'::uuid AND e.collection_id = ANY($2)
        ORDER BY e.vector::halfvec(384) <=> $1::halfvec(384) LIMIT $3 + 20
    ), found AS (SELECT count(*) >= $3 AS enough FROM near)
    (SELECT chunk_id, distance FROM near WHERE (SELECT enough FROM found)
     ORDER BY distance, chunk_id LIMIT $3)
    UNION ALL SELECT chunk_id, distance FROM (
    SELECT e.chunk_id, e.vector <=> $1::vector AS distance FROM embeddings_embedding e
    WHERE e.model_id = 1 AND e.collection_id = ANY($2) ORDER BY distance, e.chunk_id LIMIT $3
) everything WHERE NOT (SELECT enough FROM found)
) AS nearest
),
found AS MATERIALIZED (
    SELECT chunk_id, distance, rank AS dense_rank, NULL::bigint AS sparse_rank, NULL::float8 AS sparse_score,
        1 - distance AS score, distance AS tie
    FROM dense ORDER BY rank LIMIT $4
)
SELECT c.id AS chunk_id, c.document_id, d.original_filename AS document_name, d.checksum, d.source,
    nullif(d.warnings, '[]') AS document_warnings, d.language,
    CASE WHEN d.warnings <> '[]' THEN (
        SELECT coalesce(jsonb_agg(number), '[]') FROM (
            SELECT number FROM documents_page
            WHERE document_id = d.id AND warnings ?| '{garbled,image_only}' ORDER BY number LIMIT 1000
        ) AS unread
    ) END AS unread_pages,
    coalesce(nullif(d.title, ''), d.original_filename) AS title,
    c.chunk_index, c.content, c.page_number, c.last_page, c.chapter, c.section, c.start_char, c.token_count,
    c.table_head,
    found.distance, found.dense_rank, found.sparse_rank, found.sparse_score, found.score,
    found.score AS fused_score, coalesce(a.analysis, '') AS analysis, sentences.bounds::text AS bounds, sentences.similarities
FROM found
JOIN documents_chunk AS c ON c.id = found.chunk_id
JOIN documents_document AS d ON d.id = c.document_id
LEFT JOIN embeddings_chunkanalysis AS a ON a.chunk_id = c.id AND a.version = 7
LEFT JOIN LATERAL (
    SELECT s.bounds, ARRAY(
        SELECT (-(one.vector <#> (SELECT $1::vector::halfvec)))::real
        FROM (SELECT unnest(s.vectors) AS vector) AS one
    ) AS similarities
    FROM embeddings_sentencevectors AS s WHERE s.chunk_id = c.id AND s.model_id = 1
) AS sentences ON true
WHERE ($5::text[] IS NULL OR d.readers IS NULL OR d.readers && $5::text[])
ORDER BY found.score DESC, found.tie, c.id;
