-- The candidates of a query, which stand in one row of rag_candidates, one by one.
CREATE VIEW rag_retrieval AS
SELECT c.query_id, r.number::int AS number, r.chunk_id, r.document_id,
    CASE WHEN r.number <= c.judged THEN r.number::int END AS rank,
    r.dense_score, r.sparse_score, r.fused_score, r.rerank_score, r.relevance,
    array_position(c.results, r.number::int) AS place,
    array_position(c.context, r.number::int) AS context_number
FROM rag_candidates c, unnest(c.chunk_ids, c.document_ids, c.dense_scores, c.sparse_scores,
        c.fused_scores, c.rerank_scores, c.relevances) WITH ORDINALITY
    AS r (chunk_id, document_id, dense_score, sparse_score, fused_score, rerank_score, relevance, number);
