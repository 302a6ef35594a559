-- POST /v1/search
-- {"query": "node", "settings": {"mode": "exact"}}

-- Statement 1, as hybrid.sql, statement 1
-- $1 = NULL

-- Statement 2
SET LOCAL statement_timeout = 4000;

-- Statement 3
-- $1 = 'node'
-- $2 = 'node'
-- $3 = '{<uuid>}'
-- $4 = '20'
-- $5 = '{}'
WITH needle AS MATERIALIZED (
    SELECT lower($1) AS word, lower($2) AS pattern
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
    WHERE d.collection_id = ANY($3) AND d.replaces_id IS NULL
) AS p JOIN embeddings_lexicalentry AS l ON l.chunk_id = p.id
) AS possible JOIN documents_chunk AS t ON t.id = possible.chunk_id OFFSET 0
        ) AS candidate, needle
        WHERE strpos(folded, (SELECT word FROM needle)) > 0 OFFSET 0
    ) AS counted
    WHERE times > 0
    ORDER BY times DESC, place, chunk_id LIMIT $4
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
WHERE ($5::text[] IS NULL OR d.readers IS NULL OR d.readers && $5::text[])
ORDER BY found.score DESC, found.tie, c.id;
