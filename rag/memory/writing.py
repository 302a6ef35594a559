"""Records in the database: a whole batch in one statement, which may be run twice."""

from collections.abc import Iterable, Sequence

from knowlex.common.async_db import fetch_all
from rag.memory.records import Row

# `here` holds the documents that are cited until the commit. Whoever deletes one waits, and then finds the
# citation (the trigger rag_quoted_documents_gone); or was first, and then nothing of it is written down.
_WRITE = """
    WITH new AS (
        INSERT INTO rag_query (id, key_id, face, conversation_id, original_query, rewritten_query,
            collection_ids, filters, settings, answered, reason, error, retrieved, confidence, cached,
            replay_of, latency_ms, stage_ms, embedding_model, reranker, rewriting, created_at)
        SELECT id, key_id, face, conversation_id, original_query, rewritten_query,
            collection_ids, filters, settings, answered, coalesce(reason, ''), coalesce(error, ''),
            coalesce(retrieved, 0), coalesce(confidence, 0), cached, replay_of, latency_ms,
            coalesce(stage_ms, '{}'), coalesce(embedding_model, ''), coalesce(reranker, ''),
            coalesce(rewriting, ''), created_at
        FROM jsonb_to_recordset(%(queries)s::jsonb) AS q (id uuid, key_id uuid, face text,
            conversation_id text, original_query text, rewritten_query text, collection_ids uuid[],
            filters jsonb, settings jsonb, answered bool, reason text, error text, retrieved int,
            confidence float, cached bool, replay_of uuid, latency_ms int, stage_ms jsonb,
            embedding_model text, reranker text, rewriting text, created_at timestamptz)
        ON CONFLICT (id) DO NOTHING RETURNING id, created_at
    ), here AS MATERIALIZED (
        SELECT id FROM documents_document WHERE id = ANY(%(documents)s::uuid[]) ORDER BY id FOR KEY SHARE
    ), cited AS MATERIALIZED (
        SELECT c.*, here.id IS NULL AS gone
        FROM jsonb_to_recordset(%(citations)s::jsonb) AS c (query_id uuid, position int, citation_index int,
            chunk_id uuid, document_id uuid, title text, page_number int, quoted_text text, start_char int,
            end_char int, answer_start int, answer_end int, support text)
        JOIN new ON new.id = c.query_id LEFT JOIN here ON here.id = c.document_id
    ), responses AS (
        INSERT INTO rag_response (query_id, answer, contradicted, quotes_gone, verification, model,
            prompt_version, input_tokens, output_tokens, created_at)
        SELECT r.query_id, CASE WHEN lost.query_id IS NULL THEN r.answer ELSE '' END,
            CASE WHEN lost.query_id IS NULL THEN r.contradicted ELSE '[]' END,
            lost.query_id IS NOT NULL, r.verification, r.model, r.prompt_version, r.input_tokens,
            r.output_tokens, new.created_at
        FROM jsonb_to_recordset(%(responses)s::jsonb) AS r (query_id uuid, answer text, contradicted jsonb,
            verification jsonb, model text, prompt_version text, input_tokens int, output_tokens int)
        JOIN new ON new.id = r.query_id
        LEFT JOIN (SELECT DISTINCT query_id FROM cited WHERE gone) lost ON lost.query_id = r.query_id
    ), citations AS (
        INSERT INTO rag_citation (response_id, position, citation_index, chunk_id, document_id, title,
            page_number, quoted_text, start_char, end_char, answer_start, answer_end, support, gone)
        SELECT query_id, position, citation_index, chunk_id, document_id,
            CASE WHEN gone THEN '' ELSE title END, page_number, CASE WHEN gone THEN '' ELSE quoted_text END,
            start_char, end_char, answer_start, answer_end, support, gone
        FROM cited ORDER BY query_id, position
    ), candidates AS (
        INSERT INTO rag_candidates (query_id, judged, chunk_ids, document_ids, dense_scores, sparse_scores,
            fused_scores, rerank_scores, relevances, results, context)
        SELECT c.* FROM json_to_recordset(%(candidates)s::json) AS c (query_id uuid, judged int,
            chunk_ids uuid[], document_ids uuid[], dense_scores float[], sparse_scores float[],
            fused_scores float[], rerank_scores float[], relevances float[], results int[], context int[])
        JOIN new ON new.id = c.query_id
    )
    SELECT count(*) AS written FROM new
"""


async def write(rows: Sequence[Row]) -> None:
    """All or none; what is there already stays as it is. Raises DatabaseUnavailable, psycopg.Error."""
    documents = frozenset().union(*(row.document_ids for row in rows))
    await fetch_all(
        _WRITE,
        {
            "documents": "{" + ",".join(id_.hex for id_ in documents) + "}",
            "queries": _json(row.query for row in rows),
            "responses": _json(row.response for row in rows),
            "citations": _json(row.citations for row in rows),
            "candidates": _json(row.candidates for row in rows),
        },
    )


def _json(parts: Iterable[bytes]) -> str:
    return (b"[" + b",".join(filter(None, parts)) + b"]").decode()
