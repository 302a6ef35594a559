"""What all faces share of a question and its answer: who asks, the response, and parts of its body.

A shape in snake_case is the Platform API's; its subclass in camelCase is that of the other faces.
"""

from typing import Annotated, Any, TypeVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import Field

from documents.access import access_of
from knowlex.runtime.admission import came
from knowlex.web.openapi import JSON, QUERY_ID, answer, event_stream
from knowlex.web.openapi import Answer as Response
from knowlex.web.responses import QUERY_ID_HEADER, failed_query, plain_json_response
from knowlex.web.shapes import (
    CamelShape,
    Count,
    Number,
    Omittable,
    OutputShape,
    Share,
    TextOrNull,
    integer,
    text,
)
from rag.answering import ask
from rag.answering.ask import AskResult, Caller, FaceName
from rag.citations.numbering import Numbering, misstatements
from rag.types.answer import Answer, Reason, Support
from rag.types.question import Question
from rag.types.retrieval import Passage

NOT_ENOUGH = "I don't have enough information to answer that."
NEAREST = 3
EVENTS_EXAMPLE = (
    'event: token\ndata: {"text":"It has 253 steps [1]."}\n\nevent: sources\ndata: {"sources":[]}\n\n'
    'event: done\ndata: {"query_id":"","answer":"It has 253 steps [1].","metadata":{"citations":[]}}\n\n'
)
NOT_STORED = {"no-cache", "no-store", "max-age=0"}

SupportOf = Annotated[
    Support,
    Field(
        description="exact: the claim stands in the passage word for word. supported: its facts (numbers,"
        " dates, names, negation) stand in the quote, and the check found that the quote says it."
        " unverified: the model cites this passage, which does not contradict the claim, but the check could"
        ' not confirm it: show it as "from this passage; check it". exact and supported are verified.'
    ),
]
CONTRADICTED = (
    "Claims that lost their marker: a number, date, name or quotation in them does not stand where the"
    " passages speak of the same, or a negation is turned around."
)
StageTimes = Annotated[dict[str, Number], Field(description="`retrieve` holds `embed` and `search`.")]
CollectionName = Annotated[
    Omittable[Annotated[str, text(255)]], Field(description="Name or id; `default` if it is left out.")
]
MaxTokens = Omittable[Annotated[int, integer(1, 4096)]]
PLACE = "In words: `page 3`, `slide 4`, `Sheet1, rows 2-31`, or chapter and section; null if it is not known."
WhyNot = Annotated[Reason | None, Field(description="Why nothing was answered; null if it was.")]


class VerificationShape(OutputShape):
    """How many claims of the answer were found to be what, each counted once, as its best."""

    exact: Count
    supported: Count
    unverified: Count
    contradicted: Count
    uncited: Annotated[Count, Field(description="Sentences that claim something and carry no marker.")]


class QueryCitation(OutputShape):
    citation_index: Annotated[int, Field(description="The k of the claim's marker.", ge=1)]
    chunk_id: UUID
    document_id: UUID
    document_name: str
    title: str
    page_number: Annotated[int | None, Field(description="On which the quote stands, or most of it.")]
    place: Annotated[TextOrNull, Field(description=PLACE)]
    quoted_text: Annotated[str, Field(description="An exact part of the chunk's content.")]
    start_char: Annotated[Count, Field(description="Of the quote in the document's text.")]
    end_char: Count
    checksum: Annotated[str, Field(description="SHA-256 of the version of the document that was quoted.")]
    answer_start: Annotated[Count, Field(description="Of the claim in the answer.")]
    answer_end: Count
    support: SupportOf


class PassageShape(OutputShape):
    chunk_id: UUID
    document_id: UUID
    document_name: str
    title: str
    place: Annotated[TextOrNull, Field(description=PLACE)]


class ContradictedClaim(OutputShape):
    text: Annotated[str, Field(description="The claim, without markers.")]
    answer_start: Annotated[Count, Field(description="Of the claim in the answer.")]
    answer_end: Count
    missing: Annotated[
        tuple[str, ...], Field(description="What of it the passages do not say, as the claim writes it.")
    ]


class NearPassage(PassageShape):
    """One of the passages that came nearest, where there is no answer."""

    page_number: int | None
    relevance: Share


class UnreadPages(OutputShape):
    document_id: UUID
    document_name: str
    title: str
    message: Annotated[str, Field(description="Why pages of this cited document are unread.")]
    unread_pages: list[int]


class CitationInMetadata(QueryCitation, CamelShape):
    pass


class ContradictionInMetadata(ContradictedClaim, CamelShape):
    pass


class NearInMetadata(NearPassage, CamelShape):
    """Without its text: who gets no answer here is shown nothing that was not found fit to be one."""


class WarningInMetadata(UnreadPages, CamelShape):
    pass


class TimedShape(CamelShape):
    processing_time_ms: Number


class AnswerMetadata(CamelShape):
    """What the answers of the camelCase faces say about themselves."""

    query_id: Annotated[UUID, Field(description="Also in the header X-Query-ID.")]
    answer_synthesized: Annotated[bool, Field(validation_alias="answered")]
    chunks_retrieved: Annotated[
        int, Field(validation_alias="retrieved", description="Before the relevance threshold.")
    ]
    reason: WhyNot
    nearest: Annotated[list[NearInMetadata], Field(description="Of a question without an answer.")]
    citations: list[CitationInMetadata]
    contradicted: Annotated[list[ContradictionInMetadata], Field(description=CONTRADICTED)]
    verification: VerificationShape
    relevance: Annotated[
        Number, Field(validation_alias="confidence", description="Of the best passage, 0 to 1.")
    ]
    model: str
    cached: bool
    stage_times_ms: Annotated[StageTimes, Field(validation_alias="stage_ms")]
    warnings: list[WarningInMetadata]


MetadataT = TypeVar("MetadataT", bound=AnswerMetadata)
CitationT = TypeVar("CitationT", bound=QueryCitation)
WarningT = TypeVar("WarningT", bound=UnreadPages)


def asker_of(request: HttpRequest, face: FaceName, conversation_id: str = "") -> Caller:
    """Return who asks; the time runs from when the request came. Raises Unauthorized."""
    directives = {part.strip().lower() for part in request.META.get("HTTP_CACHE_CONTROL", "").split(",")}
    return Caller(
        face,
        access_of(request),
        fresh=bool(directives & NOT_STORED),
        conversation_id=conversation_id,
        started=came(),
    )


async def answer_question(request: HttpRequest, question: Question, asker: Caller) -> AskResult:
    """Ask, so that what `rag.answering.ask` raises becomes an error response with the query's id."""
    try:
        return await ask.ask(question, asker)
    except Exception:
        failed_query(request, asker.query_id)
        raise


def answer_response(asked: AskResult, body: OutputShape) -> HttpResponse:
    """Return the body; no cache on its way may keep an answer: documents go, and keys differ."""
    response = plain_json_response(body)
    response["Cache-Control"] = "no-store"
    response[QUERY_ID_HEADER] = str(asked.query_id)
    return response


def answer_metadata(
    asked: AskResult,
    text: str,
    numbering: Numbering,
    shape: type[MetadataT],
    **more: Any,
) -> MetadataT:
    """Return what an answer says about itself. text, numbering: of the answer, as the face numbers it."""
    answer = asked.answer
    return shape.of(
        answer,
        query_id=asked.query_id,
        nearest=nearest_passages(answer),
        citations=cited_claims(asked, numbering, CitationInMetadata),
        contradicted=misstatements(answer, text, numbering),
        model=answer.usage.model,
        cached=asked.cached,
        warnings=unread_pages(answer, WarningInMetadata),
        **more,
    )


def cited_claims(asked: AskResult, numbering: Numbering, shape: type[CitationT]) -> list[CitationT]:
    """Return the citations in the order of the answer, as the face numbers them."""
    claims = []
    for citation, page in zip(asked.answer.citations, asked.pages, strict=True):
        passage = asked.answer.context[citation.passage - 1]
        claims.append(
            shape.of(
                passage,
                citation_index=numbering.place_of(citation.passage),
                page_number=page,
                place=passage.place_on(page),
                quoted_text=passage.content[citation.quote_start : citation.quote_end],
                start_char=passage.start_char + citation.quote_start,
                end_char=passage.start_char + citation.quote_end,
                checksum=passage.checksum,
                answer_start=numbering.sent(citation.answer_start),
                answer_end=numbering.sent(citation.answer_end),
                support=citation.support,
            )
        )
    return claims


def nearest_passages(answer: Answer) -> list[Passage]:
    """Return at most three passages, the most relevant first; none where there is an answer."""
    if answer.answered:
        return []
    return sorted(answer.passages, key=lambda passage: -passage.relevance)[:NEAREST]


def unread_pages(answer: Answer, shape: type[WarningT]) -> list[WarningT]:
    """Return a warning for each cited document with pages that nobody could read, first cited first."""
    documents: dict[UUID, Passage] = {}
    for number in answer.cited:
        passage = answer.context[number - 1]
        if passage.unread_pages:
            documents.setdefault(passage.document_id, passage)
    return [shape.of(passage, message=" ".join(passage.document_warnings)) for passage in documents.values()]


def question_as_asked(asked: AskResult) -> str:
    """Return what the user wrote."""
    return asked.answer.question.original or asked.answer.question.text


def rewritten_question(asked: AskResult) -> str | None:
    """Return what was searched for, where it is not what was asked."""
    return asked.answer.question.text if asked.answer.question.original else None


def answered(shape: Any) -> tuple[str, Response]:
    """Describe the response of a camelCase face, whole or as events."""
    return answer(
        200,
        "Answered, or not enough. With `Accept: text/event-stream`: `token` events, whose texts are the"
        " answer, `sources`, `done` with the whole body and `query_id`: with `metadata.citations` and"
        " `metadata.contradicted` a client can mark each claim of what it has shown. The `answer` of `done`"
        " is another one where every claim is contradicted or none has a source. A failure after the first"
        " token is an event `error` with the error body, and the end.",
        {JSON: shape, **event_stream(EVENTS_EXAMPLE)},
        headers=QUERY_ID,
    )
