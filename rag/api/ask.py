"""POST /api/v1/rag/ask: a question to the default collection, answered with the chunks that were used."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from knowlex.web.fields import int_field, question_field, text_field
from knowlex.web.responses import allow, json_object
from knowlex.web.sse import wants_events
from rag.answering import services
from rag.answering.ask import AskResult
from rag.api.common import answer_response, asked_by, asker_of, question_as_asked
from rag.api.metadata import answer_metadata
from rag.api.sse import Telling, event_response
from rag.citations.numbering import Numbering, PlaceOf, number_citations
from rag.types.answer import Started
from rag.types.retrieval import Passage

DEFAULT_TOP_K = 5
NOT_ENOUGH = "I don't have enough information to answer that."


@allow("POST")
async def ask(request: HttpRequest) -> HttpResponseBase:
    asker = asker_of(request, "ask")
    body = json_object(request)
    text = question_field(body, "query")
    top_k = int_field(body, "topK", low=1, high=50, default=DEFAULT_TOP_K)
    max_tokens = int_field(body, "maxTokens", low=1, high=4096, default=None)
    collection = text_field(body, "collection", max_chars=255, required=False)
    collections = [collection] if collection is not None else []
    question = await services.make_question(
        text, access=asker.access, collections=collections, top_k=top_k, max_tokens=max_tokens
    )
    if wants_events(request):
        return await event_response(request, question, asker, TELLING)
    asked = await asked_by(request, question, asker)
    return answer_response(asked, _body(asked))


def _body(asked: AskResult) -> dict[str, Any]:
    answer = asked.answer
    chunks = _by_distance(answer.context)
    text, numbering = number_citations(answer, _places(chunks))
    return {
        "query": question_as_asked(asked),
        "answer": text if answer.answered else NOT_ENOUGH,
        "sourceChunks": [_chunk(passage) for _, passage in chunks] if answer.answered else [],
        "metadata": answer_metadata(asked, text, numbering),
    }


def _by_distance(context: Sequence[Passage]) -> list[tuple[int, Passage]]:
    """The passages with their numbers in the context, closest first, whatever ranked them."""
    return sorted(enumerate(context, start=1), key=lambda one: one[1].distance or 0.0)


def _places(chunks: Sequence[tuple[int, Passage]]) -> PlaceOf:
    return {number: place for place, (number, _) in enumerate(chunks, start=1)}.__getitem__


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


def _numbering(started: Started) -> Numbering:
    return Numbering(_places(_by_distance(started.context)))


TELLING = Telling(_body, _numbering, sources="sourceChunks")
