"""POST /api/v1/rag/ask: a question to the default collection, answered with the chunks that were used."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from pydantic import ConfigDict, Field

from knowlex.web.openapi import operation
from knowlex.web.responses import allow
from knowlex.web.shapes import CamelShape, Count, InputShape, Number, QuestionText, integer, read_body
from knowlex.web.sse import wants_events
from rag.answering import services
from rag.answering.ask import AskResult
from rag.api.answers import (
    NOT_ENOUGH,
    AnswerMetadata,
    CollectionName,
    MaxTokens,
    answer_metadata,
    answer_question,
    answer_response,
    answered,
    asker_of,
    question_as_asked,
)
from rag.api.events import AnswerFormat, event_response
from rag.citations.numbering import Numbering, PlaceOf, number_citations
from rag.types.answer import Started
from rag.types.retrieval import Passage

DEFAULT_TOP_K = 5


class AskRequest(InputShape):
    model_config = ConfigDict(json_schema_extra={"example": {"query": "How are answers cited?", "topK": 5}})

    query: QuestionText
    topK: Annotated[int, integer(1, 50)] = DEFAULT_TOP_K
    maxTokens: MaxTokens = None
    collection: CollectionName = None


class SourceChunk(CamelShape):
    chunk_id: UUID
    document_id: UUID
    chunk_index: Count
    content: str
    score: Annotated[
        Number, Field(validation_alias="distance", description="Cosine distance, lower is closer.")
    ]
    document_name: str
    title: str
    page_number: int | None
    relevance: Number


class AskResponse(CamelShape):
    query: str
    answer: Annotated[str, Field(description="With [k] for sourceChunks[k - 1].")]
    source_chunks: list[SourceChunk]
    metadata: AnswerMetadata


@allow("POST")
@operation(
    "ask",
    "Answer a question from the chunks",
    answered(AskResponse),
    tag="ask",
    body=AskRequest,
    failures={
        "404": "No such collection",
        "500": "The search or the chat model failed",
        "503": "The database is not reachable",
    },
    query_id_on=("500", "503"),
)
async def ask(request: HttpRequest) -> HttpResponseBase:
    asker = asker_of(request, "ask")
    asked = read_body(request, AskRequest)
    question = await services.make_question(
        asked.query,
        access=asker.access,
        collections=[asked.collection] if asked.collection else [],
        top_k=asked.topK,
        max_tokens=asked.maxTokens,
    )
    if wants_events(request):
        return await event_response(request, question, asker, FORMAT)
    result = await answer_question(request, question, asker)
    return answer_response(result, ask_body(result))


def ask_body(asked: AskResult) -> AskResponse:
    answer = asked.answer
    chunks = _by_distance(answer.context)
    text, numbering = number_citations(answer, _places(chunks))
    return AskResponse(
        query=question_as_asked(asked),
        answer=text if answer.answered else NOT_ENOUGH,
        source_chunks=[SourceChunk.of(passage) for _, passage in chunks] if answer.answered else [],
        metadata=answer_metadata(asked, text, numbering, AnswerMetadata),
    )


def _by_distance(context: Sequence[Passage]) -> list[tuple[int, Passage]]:
    """Return the passages with their numbers in the context, closest first, whatever ranked them."""
    return sorted(enumerate(context, start=1), key=lambda numbered: numbered[1].distance or 0.0)


def _places(chunks: Sequence[tuple[int, Passage]]) -> PlaceOf:
    return {number: place for place, (number, _) in enumerate(chunks, start=1)}.__getitem__


def _numbering(started: Started) -> Numbering:
    return Numbering(_places(_by_distance(started.context)))


FORMAT = AnswerFormat(lambda asked: ask_body(asked).model_dump(), _numbering, sources="sourceChunks")
