-- POST /v1/search
-- {"query": "node", "settings": {"mode": "hybrid"}}

-- Statement 1
-- $1 = NULL
SELECT c.id,
    (SELECT mod(sum(mark), 4611686018427387904)::bigint FROM documents_collectionchange WHERE collection_id = c.id)
 AS state,
    (SELECT md5(row(m.id, m.provider, m.name, m.dimensions, m.options, m.calibration, i.number, i.kind,
        i.storage, i.rows, i.lists, i.effort, i.serves, i.exact_below)::text)
    FROM embeddings_embeddingmodel m LEFT JOIN embeddings_vectorindex i ON i.model_id = m.id WHERE m.active)
 AS search,
    EXISTS (
        SELECT FROM documents_document d WHERE d.collection_id = c.id AND d.readers IS NOT NULL
    ) AS has_restricted
 FROM documents_collection c
    WHERE $1::uuid[] IS NULL OR c.id = ANY($1);

-- Statement 2
-- $1 = '{<uuid>}'
-- $2 = '{"",node,write,bitcoin,user}'
-- $3 = NULL
SELECT scope.*, CASE
        WHEN passing_share * (chunks_with ->> '')::bigint > 20000 THEN 20000 ELSE NULL::bigint
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
                AND lexeme = ANY((SELECT $2::text[])::text[])
            GROUP BY lexeme
        ) AS counted
    ) AS chunks_with,
    NULL::float8 AS passing_share,
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
    WHERE CASE WHEN $3::int IS NULL THEN m.active ELSE m.id = $3 END
) AS model OFFSET 0
) AS scope;

-- Statement 3
-- $1 = '{<uuid>}'
SELECT c.id,
    (SELECT mod(sum(mark), 4611686018427387904)::bigint FROM documents_collectionchange WHERE collection_id = c.id)
 AS state FROM documents_collection c WHERE c.id = ANY($1);

-- Statement 4
SELECT c.id,
    (SELECT mod(sum(mark), 4611686018427387904)::bigint FROM documents_collectionchange WHERE collection_id = c.id)
 AS state FROM documents_collection c WHERE c.id = ANY('{<uuid>}'::uuid[]);

-- Statement 5
SELECT count(*) FROM embeddings_embedding WHERE model_id = 1 AND collection_id = '<uuid>'::uuid;

-- Statement 6
SELECT string_agg(uuid_send(chunk_id) || vector_send(vector), '') FROM embeddings_embedding
    WHERE model_id = 1 AND collection_id = '<uuid>'::uuid AND vector_dims(vector) = 384;

-- Statement 7
-- $1 = '{<uuid>}'
-- $2 = <vector of 384 numbers>
-- $3 = '{<chunk>,<uuid>,<uuid>}'
-- $4 = '40'
-- $5 = '{8382534:3.58352}/16777216'
-- $6 = '''node'''
-- $7 = '3.58351893845611'
-- $8 = '0.5'
-- $9 = '60'
-- $10 = '0.5'
-- $11 = '20'
-- $12 = '{}'
WITH passing AS MATERIALIZED (
    SELECT c.id FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE d.collection_id = ANY($1) AND d.replaces_id IS NULL
), dense AS MATERIALIZED (
    SELECT chunk_id, distance, row_number() OVER (ORDER BY distance, chunk_id) AS rank
    FROM (
    WITH given AS MATERIALIZED (
        SELECT e.chunk_id, e.vector <=> $2::vector AS distance
        FROM unnest($3::uuid[]) AS near (chunk_id)
        JOIN embeddings_embedding e ON e.chunk_id = near.chunk_id AND e.model_id = 1
        WHERE true AND e.collection_id = ANY($1) ORDER BY distance, e.chunk_id LIMIT $4
    ), found AS (
        SELECT CASE WHEN count(*) >= $4 THEN true ELSE EXISTS (
            SELECT FROM embeddings_embedding e WHERE e.model_id = 1 AND e.collection_id = ANY($1)
            OFFSET 1000000 LIMIT 1
        ) END AS enough FROM given
    )
    (SELECT chunk_id, distance FROM given WHERE (SELECT enough FROM found) ORDER BY distance, chunk_id)
    UNION ALL SELECT chunk_id, distance FROM (
    SELECT e.chunk_id, e.vector <=> $2::vector AS distance FROM embeddings_embedding e
    WHERE e.model_id = 1 AND e.collection_id = ANY($1) ORDER BY distance, e.chunk_id LIMIT $4
) everything WHERE NOT (SELECT enough FROM found)
) AS nearest
),
sparse AS MATERIALIZED (
    SELECT chunk_id, -negative AS score, row_number() OVER (ORDER BY negative, chunk_id) AS rank FROM (
        SELECT chunk_id, negative FROM (
            SELECT chunk_id, weights <#> $5::sparsevec AS negative
            FROM (
    SELECT chunk_id, weights FROM (
        SELECT l.chunk_id, l.weights, l.lexemes
        FROM passing JOIN embeddings_lexicalentry AS l ON l.chunk_id = passing.id OFFSET 0
    ) AS looked_at WHERE lexemes @@ $6::tsquery
) AS holding ORDER BY negative, chunk_id
        ) AS l
        LIMIT $4
    ) AS matching
),
held AS MATERIALIZED (
    SELECT greatest(0, least(1,
        (coalesce(max(score), 0) / $7 - 0.2) / (0.5 - 0.2)
    )) AS weight
    FROM sparse
),
found AS MATERIALIZED (
    SELECT chunk_id, distance, dense_rank, sparse_rank, score, tie, coalesce(sparse_score, (
        SELECT nullif(-(l.weights <#> $5::sparsevec), 0)
        FROM embeddings_lexicalentry AS l WHERE l.chunk_id = fused.chunk_id
    )) AS sparse_score
    FROM (
        SELECT coalesce(dense.chunk_id, e.chunk_id) AS chunk_id,
            coalesce(dense.distance, e.vector <=> $2::vector) AS distance,
            dense.rank AS dense_rank, sparse.rank AS sparse_rank, sparse.score AS sparse_score,
            $8::float8 / ($9::float8 + coalesce(dense.rank, 1000))
                + $10::float8 * (SELECT weight FROM held)
                    / ($9::float8 + coalesce(sparse.rank, 1000)) AS score,
            coalesce(dense.distance, e.vector <=> $2::vector) AS tie
        FROM dense FULL JOIN sparse USING (chunk_id)
        LEFT JOIN embeddings_embedding AS e ON e.model_id = 1
            AND e.chunk_id = CASE WHEN dense.chunk_id IS NULL THEN sparse.chunk_id END
        WHERE coalesce(dense.chunk_id, e.chunk_id) IS NOT NULL
        ORDER BY coalesce(dense.rank <= 5, false)
            OR coalesce(sparse.rank <= 5 * (SELECT weight FROM held), false) DESC, score DESC, tie, chunk_id
        LIMIT $11
    ) AS fused
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
        SELECT (-(one.vector <#> (SELECT $2::vector::halfvec)))::real
        FROM (SELECT unnest(s.vectors) AS vector) AS one
    ) AS similarities
    FROM embeddings_sentencevectors AS s WHERE s.chunk_id = c.id AND s.model_id = 1
) AS sentences ON true
WHERE ($12::text[] IS NULL OR d.readers IS NULL OR d.readers && $12::text[])
ORDER BY found.score DESC, found.tie, c.id;
