"""POST /query: `query` is answered in the Query API's form, `question` in the Book API's."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from pydantic import ConfigDict, Field

from knowlex.base.errors import InvalidQuestion
from knowlex.web.fields import QUESTION_RULE
from knowlex.web.json_body import json_object
from knowlex.web.openapi import operation
from knowlex.web.responses import allow
from knowlex.web.shapes import CamelShape, InputShape, Omittable, OutputShape, QuestionText, integer, parse
from knowlex.web.sse import wants_events
from rag.answering import services
from rag.answering.ask import AskResult
from rag.api.answers import (
    NOT_ENOUGH,
    AnswerMetadata,
    CollectionName,
    MaxTokens,
    TimedShape,
    answer_metadata,
    answer_question,
    answer_response,
    answered,
    asker_of,
)
from rag.api.events import AnswerFormat, event_response
from rag.citations import claim
from rag.citations.numbering import (
    FirstCited,
    Numbering,
    PlaceOf,
    PlainWriter,
    clean,
    number_citations,
    snippet,
)
from rag.types.answer import Started
from rag.types.retrieval import Passage

DEFAULT_SOURCES = {"query": 10, "question": 5}
NOT_FOUND = "Answer not found in provided content"
Sources = Omittable[Annotated[int, integer(1, 50)]]


class AskedFields(InputShape):
    maxTokens: MaxTokens = None
    collection: CollectionName = None


class QueryRequest(AskedFields):
    model_config = ConfigDict(
        json_schema_extra={"example": {"query": "How are answers cited?", "maxSources": 10}}
    )

    query: QuestionText
    maxSources: Annotated[Sources, Field(description="10 if it is left out.")] = None
    topK: Annotated[Sources, Field(description="Another name for maxSources.")] = None


class BookRequest(AskedFields):
    question: QuestionText
    topK: Annotated[Sources, Field(description="5 if it is left out.")] = None
    maxSources: Annotated[Sources, Field(description="Another name for topK. Goes before it.")] = None


class CitedDocument(OutputShape):
    id: UUID
    documentName: Annotated[str, Field(description="The file's name.")]
    title: str
    snippet: str
    url: str | None
    pageNumber: int | None
    pages: list[int]


class QueryMetadata(AnswerMetadata, TimedShape):
    pass


class QueryResponse(CamelShape):
    answer: Annotated[str, Field(description="With [k] for citedDocuments[k - 1].")]
    cited_documents: list[CitedDocument]
    metadata: QueryMetadata


class BookSource(OutputShape):
    source_file: str
    chapter: str
    section: str


class BookResponse(OutputShape):
    answer: str
    sources: list[BookSource]


@allow("POST")
@operation(
    "query",
    "Answer a question with cited documents (`query`) or book places (`question`)",
    answered(QueryResponse | BookResponse),
    tag="ask",
    body=QueryRequest | BookRequest,
    failures={"404": "No such collection", "503": "RETRIEVAL_FAILED or SYNTHESIS_FAILED"},
    query_id_on=("503",),
)
async def query(request: HttpRequest) -> HttpResponseBase:
    asker = asker_of(request, "query")
    body = json_object(request)
    field = _question_name(body)
    shape: type[QueryRequest] | type[BookRequest] = QueryRequest if field == "query" else BookRequest
    asked = parse(shape, body)
    question = await services.make_question(
        getattr(asked, field),
        access=asker.access,
        collections=[asked.collection] if asked.collection else [],
        top_k=asked.maxSources or asked.topK or DEFAULT_SOURCES[field],
        max_tokens=asked.maxTokens,
        strict_context=field == "query",  # its document: each passage is held to the threshold
    )
    asker, answer_format = (asker, QUERY) if field == "query" else (replace(asker, face="book"), BOOK)
    if wants_events(request):
        return await event_response(request, question, asker, answer_format)
    result = await answer_question(request, question, asker)
    return answer_response(result, query_body(result) if field == "query" else book_body(result))


def _question_name(body: dict[str, Any]) -> str:
    given = [name for name in DEFAULT_SOURCES if name in body]
    if len(given) == 2:
        raise InvalidQuestion("Send either query or question, not both.", field="query")
    if not given:
        raise InvalidQuestion(QUESTION_RULE, field="query")
    return given[0]


def query_body(asked: AskResult) -> QueryResponse:
    answer = asked.answer
    text, numbering = number_citations(answer, _by_document(answer.context))
    return QueryResponse(
        answer=text if answer.answered else NOT_ENOUGH,
        cited_documents=_documents(asked, numbering.place_of),
        metadata=answer_metadata(asked, text, numbering, QueryMetadata, processing_time_ms=asked.latency_ms),
    )


def book_body(asked: AskResult) -> BookResponse:
    answer = asked.answer
    if not answer.answered:
        return BookResponse(answer=NOT_FOUND, sources=[])
    places = dict.fromkeys(_place(answer.context[n - 1]) for n in answer.cited)
    sources = [
        BookSource(source_file=name, chapter=chapter, section=section) for name, chapter, section in places
    ]
    return BookResponse(answer=clean(answer.text), sources=sources)


def _by_document(context: Sequence[Passage]) -> PlaceOf:
    """One number for each document, in the order of first citation."""
    return FirstCited(lambda number: context[number - 1].document_id)


def _documents(asked: AskResult, place_of: PlaceOf) -> list[CitedDocument]:
    """Return them in the order of first citation."""
    first = {place_of(n): n for n in reversed(asked.answer.cited)}
    return [_cited(asked, first[place]) for place in sorted(first)]


def _cited(asked: AskResult, n: int) -> CitedDocument:
    """Return one document; n is the first of its passages that the answer cites.

    pages: those of what the answer quotes.

    pageNumber and snippet are of the page that most of what is quoted stands on: what leads to an answer may
    stand on the page before.
    """
    passages, passage = asked.answer.context, asked.answer.context[n - 1]
    quotes = [
        (citation, passages[citation.passage - 1].page_number if page is None else page)
        for citation, page in zip_longest(asked.answer.citations, asked.pages)
        if passages[citation.passage - 1].document_id == passage.document_id
    ]
    quoted = Counter[int | None]()
    for citation, page in quotes:
        quoted[page] += citation.quote_end - citation.quote_start
    number = quoted.most_common(1)[0][0] if quoted else passage.page_number
    main = next((citation for citation, page in quotes if page == number), None)
    shown = passages[main.passage - 1] if main else passage
    claimed = asked.answer.text[main.answer_start : main.answer_end] if main else claim(asked.answer.text, n)
    return CitedDocument(
        id=passage.document_id,
        documentName=passage.document_name,
        title=passage.title,
        snippet=snippet(shown.content, claimed),
        url=None,
        pageNumber=number,
        pages=sorted({page for _, page in quotes if page is not None}),
    )


def _place(passage: Passage) -> tuple[str, str, str]:
    return passage.document_name, passage.chapter, passage.section


def _numbering(started: Started) -> Numbering:
    return Numbering(_by_document(started.context))


QUERY = AnswerFormat(lambda asked: query_body(asked).model_dump(), _numbering, sources="citedDocuments")
BOOK = AnswerFormat(lambda asked: book_body(asked).model_dump(), lambda _: PlainWriter(), sources="sources")
