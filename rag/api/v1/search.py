"""POST /v1/search: what a question finds, with every score and without a reply."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from documents.access import access_of
from knowlex.base.ids import parse_id
from knowlex.web.fields import text_field
from knowlex.web.responses import json_object, plain_json_response
from rag.answering import services
from rag.api.v1.questions import asked_question
from rag.types.retrieval import Passage, SearchResult


async def create(request: HttpRequest) -> HttpResponse:
    started = time.perf_counter()
    body, access = json_object(request), access_of(request)
    chunk_id = _chunk_to_explain(body)
    question = await asked_question(body, access=access)
    if chunk_id is None:
        return plain_json_response(_body(await services.search(question), started))
    found, explanation = await services.explain(question, chunk_id, access=access)
    return plain_json_response({**_body(found, started), "explanation": asdict(explanation)})


def _chunk_to_explain(body: Mapping[str, Any]) -> UUID | None:
    text = text_field(body, "explain", max_chars=36, required=False)
    return None if text is None else parse_id(text, field="explain")


def _body(found: SearchResult, started: float) -> dict[str, Any]:
    return {
        "results": [_result(rank, passage) for rank, passage in enumerate(found.passages, start=1)],
        "mode": found.question.mode,
        "reranked": any(passage.rerank_score is not None for passage in found.passages),
        "reranker": found.reranker or None,
        "rewriting": found.rewriting,
        "embedding_model": found.model_name or None,
        "stage_times_ms": found.stage_ms,
        "latency_ms": round((time.perf_counter() - started) * 1000),
    }


def _result(rank: int, passage: Passage) -> dict[str, Any]:
    """score: the one that ranked it, higher is better."""
    return {
        "rank": rank,
        "chunk_id": passage.chunk_id,
        "document_id": passage.document_id,
        "document_name": passage.document_name,
        "title": passage.title,
        "chunk_index": passage.chunk_index,
        "content": passage.content,
        "page_number": passage.page_number,
        "last_page": passage.last_page,
        "chapter": passage.chapter or None,
        "section": passage.section or None,
        "score": passage.score,
        "dense_score": None if passage.distance is None else 1 - passage.distance,
        "sparse_score": passage.sparse_score,
        "fused_score": passage.fused_score,
        "rerank_score": passage.rerank_score,
        "relevance": passage.relevance,
    }
