-- POST /v1/search
-- {"query": "node", "settings": {"mode": "exact"}, "filters": {"tags": ["systems"], "metadata": {"year": {"gte": 2019}}, "page": {"from": 1, "to": 9}, "date_range": {"start": "2020-01-01"}}}

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

-- Statement 3, as exact.sql, statement 2

-- Statement 4
-- $1 = '{<uuid>}'
-- $2 = '2020-01-01'
-- $3 = 'exists ($."tags"[*]?(@ == "systems"))'
-- $4 = '(exists ($."year"[*]?(@ >= 2019)) || exists ($."custom"."year"[*]?(@ >= 2019)))'
-- $5 = '1'
-- $6 = '9'
-- $7 = 'node'
-- $8 = 'node'
-- $9 = '20'
-- $10 = '{}'
WITH passing AS MATERIALIZED (
    SELECT c.id FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE d.collection_id = ANY($1) AND d.replaces_id IS NULL AND d.created_at >= ($2::date)::timestamp AT TIME ZONE 'UTC' AND d.metadata @@ $3::jsonpath AND d.metadata @@ $4::jsonpath AND coalesce(c.last_page, c.page_number) >= $5 AND c.page_number <= $6
), needle AS MATERIALIZED (
    SELECT lower($7) AS word, lower($8) AS pattern
),
found AS MATERIALIZED (
    SELECT chunk_id, NULL::float8 AS distance, NULL::bigint AS dense_rank, NULL::bigint AS sparse_rank,
        NULL::float8 AS sparse_score, times::float8 AS score, place AS tie
    FROM (
        SELECT chunk_id,
    (octet_length(folded) - octet_length(replace(folded, needle.word, ''))) / octet_length(needle.word)
 AS times, strpos(folded, needle.word) AS place
        FROM (
            SELECT t.id AS chunk_id, lower(t.content) AS folded
            FROM (
    SELECT l.chunk_id FROM (
    SELECT c.id FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE d.collection_id = ANY($1) AND d.replaces_id IS NULL AND d.created_at >= ($2::date)::timestamp AT TIME ZONE 'UTC' AND d.metadata @@ $3::jsonpath AND d.metadata @@ $4::jsonpath AND coalesce(c.last_page, c.page_number) >= $5 AND c.page_number <= $6
) AS p JOIN embeddings_lexicalentry AS l ON l.chunk_id = p.id
) AS possible JOIN documents_chunk AS t ON t.id = possible.chunk_id OFFSET 0
        ) AS candidate, needle
        WHERE strpos(folded, (SELECT word FROM needle)) > 0 OFFSET 0
    ) AS counted
    WHERE times > 0
    ORDER BY times DESC, place, chunk_id LIMIT $9
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
WHERE ($10::text[] IS NULL OR d.readers IS NULL OR d.readers && $10::text[])
ORDER BY found.score DESC, found.tie, c.id;
