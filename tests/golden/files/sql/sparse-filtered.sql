-- POST /v1/search
-- {"query": "node", "settings": {"mode": "sparse"}, "filters": {"tags": ["systems"], "metadata": {"year": {"gte": 2019}}, "page": {"from": 1, "to": 9}, "date_range": {"start": "2020-01-01"}}}

-- Statement 1, as hybrid.sql, statement 1
-- $1 = NULL

-- Statement 2, as hybrid-filtered.sql, statement 2
-- $1 = '{<uuid>}'
-- $2 = '2020-01-01'
-- $3 = 'exists ($."tags"[*]?(@ == "systems"))'
-- $4 = '(exists ($."year"[*]?(@ >= 2019)) || exists ($."custom"."year"[*]?(@ >= 2019)))'
-- $5 = '1'
-- $6 = '9'
-- $7 = '{"",node,write,bitcoin,user}'
-- $8 = NULL

-- Statement 3
-- $1 = '{<uuid>}'
-- $2 = '2020-01-01'
-- $3 = 'exists ($."tags"[*]?(@ == "systems"))'
-- $4 = '(exists ($."year"[*]?(@ >= 2019)) || exists ($."custom"."year"[*]?(@ >= 2019)))'
-- $5 = '1'
-- $6 = '9'
-- $7 = '{8382534:3.58352}/16777216'
-- $8 = '''node'''
-- $9 = '40'
-- $10 = '20'
-- $11 = '{}'
WITH passing AS MATERIALIZED (
    SELECT c.id FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE d.collection_id = ANY($1) AND d.replaces_id IS NULL AND d.created_at >= ($2::date)::timestamp AT TIME ZONE 'UTC' AND d.metadata @@ $3::jsonpath AND d.metadata @@ $4::jsonpath AND coalesce(c.last_page, c.page_number) >= $5 AND c.page_number <= $6
), sparse AS MATERIALIZED (
    SELECT chunk_id, -negative AS score, row_number() OVER (ORDER BY negative, chunk_id) AS rank FROM (
        SELECT chunk_id, negative FROM (
            SELECT chunk_id, weights <#> $7::sparsevec AS negative
            FROM (
    SELECT chunk_id, weights FROM (
        SELECT l.chunk_id, l.weights, l.lexemes
        FROM passing JOIN embeddings_lexicalentry AS l ON l.chunk_id = passing.id OFFSET 0
    ) AS looked_at WHERE lexemes @@ $8::tsquery
) AS holding ORDER BY negative, chunk_id
        ) AS l
        LIMIT $9
    ) AS matching
),
found AS MATERIALIZED (
    SELECT chunk_id, NULL::float8 AS distance, NULL::bigint AS dense_rank, rank AS sparse_rank,
        score AS sparse_score, score, 0 AS tie
    FROM sparse ORDER BY rank LIMIT $10
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
WHERE ($11::text[] IS NULL OR d.readers IS NULL OR d.readers && $11::text[])
ORDER BY found.score DESC, found.tie, c.id;
