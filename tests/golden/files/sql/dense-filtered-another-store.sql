-- POST /v1/search
-- {"query": "node", "settings": {"mode": "dense"}, "filters": {"tags": ["systems"], "metadata": {"year": {"gte": 2019}}, "page": {"from": 1, "to": 9}, "date_range": {"start": "2020-01-01"}}}

-- Statement 1, as hybrid-another-store.sql, statement 1
-- $1 = NULL

-- Statement 2
-- $1 = '{<uuid>}'
-- $2 = '2020-01-01'
-- $3 = 'exists ($."tags"[*]?(@ == "systems"))'
-- $4 = '(exists ($."year"[*]?(@ >= 2019)) || exists ($."custom"."year"[*]?(@ >= 2019)))'
-- $5 = '1'
-- $6 = '9'
-- $7 = '{"",node,write,bitcoin,user}'
-- $8 = NULL
SELECT scope.*, CASE
        WHEN passing_share * (chunks_with ->> '')::bigint > 20000 THEN 20000 ELSE (SELECT count(*) FROM (
    SELECT c.id FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE d.collection_id = ANY($1) AND d.replaces_id IS NULL AND d.created_at >= ($2::date)::timestamp AT TIME ZONE 'UTC' AND d.metadata @@ $3::jsonpath AND d.metadata @@ $4::jsonpath AND coalesce(c.last_page, c.page_number) >= $5 AND c.page_number <= $6
 LIMIT 20000) AS counted)
    END AS passing
FROM (SELECT model.*,
    EXISTS (
        SELECT FROM embeddings_embedding
        WHERE model_id = model.id
            AND collection_id = ANY((SELECT $1::uuid[])::uuid[])
    ) AS has_vectors,
    (
        SELECT coalesce(jsonb_object_agg(lexeme, chunks), '{}') FROM (
            SELECT lexeme, sum(chunks) AS chunks FROM embeddings_lexemecount
            WHERE collection_id = ANY((SELECT $1::uuid[])::uuid[])
                AND lexeme = ANY((SELECT $7::text[])::text[])
            GROUP BY lexeme
        ) AS counted
    ) AS chunks_with,
    (SELECT CASE WHEN held.chunks > 20000 THEN (
        SELECT count(*) FROM documents_chunk AS c TABLESAMPLE SYSTEM (
    (100.0 * 1000 / greatest(
        (SELECT reltuples FROM pg_class WHERE oid = 'documents_chunk'::regclass), 100000))
)
        JOIN documents_document AS d ON d.id = c.document_id
        WHERE d.collection_id = ANY($1) AND d.replaces_id IS NULL AND d.created_at >= ($2::date)::timestamp AT TIME ZONE 'UTC' AND d.metadata @@ $3::jsonpath AND d.metadata @@ $4::jsonpath AND coalesce(c.last_page, c.page_number) >= $5 AND c.page_number <= $6
    ) * 100 /
    (100.0 * 1000 / greatest(
        (SELECT reltuples FROM pg_class WHERE oid = 'documents_chunk'::regclass), 100000))
 / held.chunks END FROM (
        SELECT sum(chunks) AS chunks FROM embeddings_lexemecount
        WHERE collection_id = ANY((SELECT $1::uuid[])::uuid[]) AND lexeme = ''
    ) AS held)
 AS passing_share,
    (SELECT reltuples FROM pg_class WHERE oid = 'embeddings_lexicalentry'::regclass) AS all_chunks,
    (SELECT coalesce(array_agg(language), '{}') FROM (
    SELECT DISTINCT found.language FROM unnest((SELECT $1::uuid[])) AS read (id),
        LATERAL (
    WITH RECURSIVE held (language) AS (
        (SELECT d.language FROM documents_document d WHERE d.collection_id = read.id
            ORDER BY d.language LIMIT 1)
        UNION ALL
        SELECT (SELECT d.language FROM documents_document d
            WHERE d.collection_id = read.id AND d.language > held.language ORDER BY d.language LIMIT 1)
        FROM held WHERE held.language IS NOT NULL
    )
    SELECT language FROM held WHERE language IS NOT NULL
) AS found
) AS held) AS languages
FROM (
    SELECT m.id, m.name, m.provider, m.dimensions, m.options, m.calibration, (
        SELECT jsonb_build_object(
            'number', i.number, 'kind', i.kind, 'storage', i.storage, 'lists', i.lists, 'effort', i.effort,
            'few', i.exact_below::float8 / i.rows, 'share', (
                SELECT sum(chunks)::float8 / i.rows FROM embeddings_lexemecount
                WHERE collection_id = ANY((SELECT $1::uuid[])::uuid[]) AND lexeme = ''
            )
        )
        FROM embeddings_vectorindex i WHERE i.model_id = m.id AND i.serves AND i.exact_below <= (
            SELECT count(*) FROM (
                SELECT FROM embeddings_embedding e
                WHERE e.model_id = m.id AND e.collection_id = ANY((SELECT $1::uuid[])::uuid[])
                LIMIT i.exact_below
            ) counted
        )
    ) AS index
    FROM embeddings_embeddingmodel m
    WHERE CASE WHEN $8::int IS NULL THEN m.active ELSE m.id = $8 END
) AS model OFFSET 0
) AS scope;

-- Statement 3
-- $1 = '{<uuid>}'
-- $2 = '2020-01-01'
-- $3 = 'exists ($."tags"[*]?(@ == "systems"))'
-- $4 = '(exists ($."year"[*]?(@ >= 2019)) || exists ($."custom"."year"[*]?(@ >= 2019)))'
-- $5 = '1'
-- $6 = '9'
-- $7 = <vector of 384 numbers>
-- $8 = '40'
-- $9 = '20'
-- $10 = '{}'
WITH passing AS MATERIALIZED (
    SELECT c.id FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE d.collection_id = ANY($1) AND d.replaces_id IS NULL AND d.created_at >= ($2::date)::timestamp AT TIME ZONE 'UTC' AND d.metadata @@ $3::jsonpath AND d.metadata @@ $4::jsonpath AND coalesce(c.last_page, c.page_number) >= $5 AND c.page_number <= $6
), dense AS MATERIALIZED (
    SELECT chunk_id, distance, row_number() OVER (ORDER BY distance, chunk_id) AS rank
    FROM (
    SELECT e.chunk_id, e.vector <=> $7::vector AS distance FROM embeddings_embedding e
    WHERE e.model_id = 1 AND e.collection_id = ANY($1) AND e.chunk_id IN (SELECT id FROM passing) ORDER BY distance, e.chunk_id LIMIT $8
) AS nearest
),
found AS MATERIALIZED (
    SELECT chunk_id, distance, rank AS dense_rank, NULL::bigint AS sparse_rank, NULL::float8 AS sparse_score,
        1 - distance AS score, distance AS tie
    FROM dense ORDER BY rank LIMIT $9
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
        SELECT (-(one.vector <#> (SELECT $7::vector::halfvec)))::real
        FROM (SELECT unnest(s.vectors) AS vector) AS one
    ) AS similarities
    FROM embeddings_sentencevectors AS s WHERE s.chunk_id = c.id AND s.model_id = 1
) AS sentences ON true
WHERE ($10::text[] IS NULL OR d.readers IS NULL OR d.readers && $10::text[])
ORDER BY found.score DESC, found.tie, c.id;
