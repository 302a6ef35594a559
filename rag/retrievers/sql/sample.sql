-- Chunks of a document at even distances: the first of each of `count` equal stretches.
WITH found AS MATERIALIZED (
    SELECT chunk_id, distance, NULL::bigint AS dense_rank, NULL::bigint AS sparse_rank,
        NULL::float8 AS sparse_score, 0::float8 AS score, 0 AS tie
    FROM (
        SELECT c.id AS chunk_id, {distance} AS distance, count(*) OVER () AS chunks,
            row_number() OVER (ORDER BY c.chunk_index) - 1 AS place
        FROM documents_chunk AS c JOIN documents_document AS d ON d.id = c.document_id
        {join_vector}
        WHERE c.document_id = %(document)s
            AND d.collection_id = ANY(%(collections)s) AND d.replaces_id IS NULL{conditions}
    ) AS numbered
    WHERE place = 0 OR place * %(count)s / chunks > (place - 1) * %(count)s / chunks
)
{passages}
