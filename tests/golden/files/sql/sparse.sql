-- POST /v1/search
-- {"query": "node", "settings": {"mode": "sparse"}}

-- Statement 1, as hybrid.sql, statement 1
-- $1 = NULL

-- Statement 2
-- $1 = '{<uuid>}'
-- $2 = '{8382534:3.58352}/16777216'
-- $3 = '''node'''
-- $4 = '40'
-- $5 = '20'
-- $6 = '{}'
WITH passing AS MATERIALIZED (
    SELECT c.id FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE d.collection_id = ANY($1) AND d.replaces_id IS NULL
), sparse AS MATERIALIZED (
    SELECT chunk_id, -negative AS score, row_number() OVER (ORDER BY negative, chunk_id) AS rank FROM (
        SELECT chunk_id, negative FROM (
            SELECT chunk_id, weights <#> $2::sparsevec AS negative
            FROM (
    SELECT chunk_id, weights FROM (
        SELECT l.chunk_id, l.weights, l.lexemes
        FROM passing JOIN embeddings_lexicalentry AS l ON l.chunk_id = passing.id OFFSET 0
    ) AS looked_at WHERE lexemes @@ $3::tsquery
) AS holding ORDER BY negative, chunk_id
        ) AS l
        LIMIT $4
    ) AS matching
),
found AS MATERIALIZED (
    SELECT chunk_id, NULL::float8 AS distance, NULL::bigint AS dense_rank, rank AS sparse_rank,
        score AS sparse_score, score, 0 AS tie
    FROM sparse ORDER BY rank LIMIT $5
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
    found.score AS fused_score, coalesce(a.analysis, '') AS analysis, NULL AS bounds, NULL AS similarities
FROM found
JOIN documents_chunk AS c ON c.id = found.chunk_id
JOIN documents_document AS d ON d.id = c.document_id
LEFT JOIN embeddings_chunkanalysis AS a ON a.chunk_id = c.id AND a.version = 7
WHERE ($6::text[] IS NULL OR d.readers IS NULL OR d.readers && $6::text[])
ORDER BY found.score DESC, found.tie, c.id;
