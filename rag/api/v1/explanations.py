"""A past question as /v1/queries shows it: in a list, and with all that explains its answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from knowlex.web.responses import utc_timestamp
from rag.api.v1.answers import NOT_ENOUGH
from rag.api.v1.feedback import feedback_body
from rag.deadlines import sort_stages
from rag.history.listing import Explained

GONE = "A document that this answer cites was deleted; what the answer said is gone with it."
MESSAGES = {
    "current": None,
    "replaced": "The document has been replaced since; this is what the former version said.",
    "gone": "The document was deleted; what it said is gone.",
}


def summary_body(query: Any) -> dict[str, Any]:
    """query: with its response and ratings, as rag.history.listing finds it."""
    response = getattr(query, "response", None)
    return {
        "query_id": query.id,
        "conversation_id": query.conversation_id,
        "face": query.face,
        "query": query.original_query,
        "rewritten_query": query.rewritten_query or None,
        "collection_ids": query.collection_ids,
        "answered": query.answered,
        "reason": query.reason or None,
        "error": query.error or None,
        "answer": _answer(query, response),
        "answer_gone": response is not None and response.quotes_gone,
        "model": response.model if response else None,
        "verification": (response.verification or None) if response else None,
        "faithfulness_score": response.faithfulness_score if response else None,
        "ratings": {"thumbs_up": query.thumbs_up, "thumbs_down": query.thumbs_down},
        "cached": query.cached,
        "replay_of": query.replay_of,
        "latency_ms": query.latency_ms,
        "created_at": utc_timestamp(query.created_at),
    }


def explained_body(explained: Explained) -> dict[str, Any]:
    """The list's fields, what /v1/query tells of an answer, and the objects of the design's query schema."""
    query, response = explained.query, explained.response
    stage_times_ms = sort_stages(query.stage_ms)
    judged_at = response.faithfulness_judged_at if response else None
    citations = [_citation(one) for one in explained.citations]
    return {
        "id": query.id,
        **summary_body(query),
        "message": GONE if response and response.quotes_gone else None,
        "original_query": query.original_query,
        "input": {"original": query.original_query, "rewritten": query.rewritten_query or None},
        "collections": [{"id": one.id, "name": one.name} for one in explained.collections],
        "filters": query.filters,
        "settings": query.settings,
        "retrieved": query.retrieved,
        "relevance": query.confidence,
        "embedding_model": query.embedding_model or None,
        "reranker": query.reranker or None,
        "rewriting": query.rewriting or None,
        "retrieval": {
            "chunks": [_candidate(one) for one in explained.retrievals],
            "latency_ms": stage_times_ms.get("retrieve"),
        },
        "response": _response(explained, citations, stage_times_ms),
        "citations": citations,
        "contradicted": response.contradicted if response else [],
        "usage": {**_tokens(response), "stage_times_ms": stage_times_ms} if response else None,
        "prompt_version": (response.prompt_version or None) if response else None,
        "stage_times_ms": stage_times_ms,
        "total_latency_ms": query.latency_ms,
        "faithfulness_judged_at": utc_timestamp(judged_at) if judged_at else None,
        "quality": _quality(explained),
        "feedback": feedback_body(explained.own_feedback) if explained.own_feedback else None,
    }


def _answer(query: Any, response: Any) -> str | None:
    """None where there is none: the question failed, or what was answered is gone."""
    if response is None or response.quotes_gone:
        return None
    return str(response.answer) if query.answered else NOT_ENOUGH


def _response(
    explained: Explained, citations: Sequence[dict[str, Any]], stage_times_ms: Mapping[str, float]
) -> dict[str, Any] | None:
    """latency_ms: of the writing alone; None where no model was asked, as where it came out of the cache."""
    response = explained.response
    if response is None:
        return None
    return {
        "answer": _answer(explained.query, response),
        "citations": citations,
        **_tokens(response),
        "latency_ms": stage_times_ms.get("synthesize"),
    }


def _quality(explained: Explained) -> dict[str, Any]:
    """feedback: the caller's own rating."""
    response, said = explained.response, explained.own_feedback
    return {
        "faithfulness": response.faithfulness_score if response else None,
        "answer_relevance": response.answer_relevance if response else None,
        "relevance": explained.query.confidence,
        "feedback": (said.rating or None) if said else None,
    }


def _tokens(response: Any) -> dict[str, Any]:
    return {
        "input_tokens": response.input_tokens,
        "output_tokens": response.output_tokens,
        "model": response.model,
    }


def _candidate(one: Any) -> dict[str, Any]:
    """rank: as judged. result_rank: among the results. context_number: among the passages of the context."""
    return {
        "rank": one.rank,
        "chunk_id": one.chunk_id,
        "document_id": one.document_id,
        "document_name": one.document_name,
        "title": one.title,
        "page_number": one.page_number,
        "status": one.status,
        "dense_score": one.dense_score,
        "sparse_score": one.sparse_score,
        "fused_score": one.fused_score,
        "rerank_score": one.rerank_score,
        "relevance": one.relevance,
        "result_rank": one.place,
        "context_number": one.context_number,
    }


def _citation(one: Any) -> dict[str, Any]:
    gone = one.gone or one.status == "gone"
    status = "gone" if gone else one.status
    return {
        "citation_index": one.citation_index,
        "chunk_id": one.chunk_id,
        "document_id": one.document_id,
        "document_name": one.document_name,
        "title": None if gone else one.title,
        "page_number": one.page_number,
        "quoted_text": None if gone else one.quoted_text,
        "start_char": one.start_char,
        "end_char": one.end_char,
        "answer_start": one.answer_start,
        "answer_end": one.answer_end,
        "support": one.support,
        "verdict": one.verdict or None,
        "judged_by": one.judged_by or None,
        "status": status,
        "message": MESSAGES[status],
    }
