-- POST /api/v1/embeddings/search
-- node

-- Statement 1
-- $1 = 'default'
-- $2 = 'default'
-- $3 = 'default'
SELECT c.id,
    (SELECT mod(sum(mark), 4611686018427387904)::bigint FROM documents_collectionchange WHERE collection_id = c.id)
 AS state, EXISTS (
        SELECT FROM documents_document d WHERE d.collection_id = c.id AND d.readers IS NOT NULL
    ) AS has_restricted FROM documents_collection c
    WHERE c.name = $1 OR c.id::text = $2 ORDER BY c.name = $3 DESC;

-- Statement 2
-- $1 = '{<uuid>}'
-- $2 = NULL
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
    WHERE CASE WHEN $2::int IS NULL THEN m.active ELSE m.id = $2 END;

-- Statement 3
-- $1 = <vector of 384 numbers>
-- $2 = '{<uuid>}'
-- $3 = '5'
-- $4 = '{}'
SELECT c.id AS chunk_id, c.document_id, d.original_filename AS document_name, d.title, c.chunk_index,
        c.content, c.page_number, near.distance
    FROM (
    SELECT e.chunk_id, e.vector <=> $1::vector AS distance FROM embeddings_embedding e
    WHERE e.model_id = 1 AND e.collection_id = ANY($2) ORDER BY distance, e.chunk_id LIMIT $3
) near JOIN documents_chunk c ON c.id = near.chunk_id
    JOIN documents_document d ON d.id = c.document_id WHERE ($4::text[] IS NULL OR d.readers IS NULL OR d.readers && $4::text[]) ORDER BY near.distance, c.id;
