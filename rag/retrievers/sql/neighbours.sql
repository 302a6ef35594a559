-- Chunks by their places in documents, whatever a search would say of them.
WITH found AS MATERIALIZED (
    SELECT c.id AS chunk_id, {distance} AS distance, NULL::bigint AS dense_rank, NULL::bigint AS sparse_rank,
        NULL::float8 AS sparse_score, 0::float8 AS score, 0 AS tie
    FROM unnest(%(documents)s::uuid[], %(indexes)s::int[]) AS place (document_id, chunk_index)
    JOIN documents_chunk AS c ON c.document_id = place.document_id AND c.chunk_index = place.chunk_index
    JOIN documents_document AS d ON d.id = c.document_id
    {join_vector}
    WHERE d.collection_id = ANY(%(collections)s) AND d.replaces_id IS NULL{conditions}
)
{passages}
