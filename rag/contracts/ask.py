"""POST /api/v1/rag/ask: a question to the default collection, answered with the chunks that were used."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from documents.access import access_of
from knowlex.common.fields import int_field, question_field, text_field
from knowlex.common.http import allow, json_object, json_response
from rag import services
from rag.citations import renumber
from rag.contracts.metadata import answer_metadata
from rag.types import Answer, Passage

DEFAULT_TOP_K = 5
NOT_ENOUGH = "I don't have enough information to answer that."


@allow("POST")
async def ask(request: HttpRequest) -> HttpResponse:
    body = json_object(request)
    text = question_field(body, "query")
    top_k = int_field(body, "topK", low=1, high=50, default=DEFAULT_TOP_K)
    max_tokens = int_field(body, "maxTokens", low=1, high=4096, default=None)
    collection = text_field(body, "collection", max_chars=255, required=False)
    collections = [collection] if collection is not None else []
    question = await services.make_question(
        text, access=access_of(request), collections=collections, top_k=top_k, max_tokens=max_tokens
    )
    return json_response(_body(await services.ask(question)))


def _body(answer: Answer) -> dict[str, Any]:
    """Markers are numbered anew: the chunks stand in the order of distance, whatever ranked them."""
    by_distance = sorted(enumerate(answer.context, start=1), key=lambda numbered: numbered[1].distance or 0.0)
    places = {number: place for place, (number, _) in enumerate(by_distance, start=1)}
    return {
        "query": answer.question.text,
        "answer": renumber(answer.text, places) if answer.answered else NOT_ENOUGH,
        "sourceChunks": [_chunk(passage) for _, passage in by_distance] if answer.answered else [],
        "metadata": answer_metadata(answer),
    }


def _chunk(passage: Passage) -> dict[str, Any]:
    return {
        "chunkId": passage.chunk_id,
        "documentId": passage.document_id,
        "chunkIndex": passage.chunk_index,
        "content": passage.content,
        "score": passage.distance,
        "title": passage.title,
        "pageNumber": passage.page_number,
        "relevance": passage.relevance,
    }
