"""POST /v1/query: a question to the collections that the caller may read, answered with checked citations."""

from dataclasses import replace
from itertools import groupby
from typing import Annotated, Any, TypeVar, get_args
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from pydantic import Field

from knowlex.web.openapi import JSON, QUERY_ID, answer, event_stream, operation
from knowlex.web.shapes import Count, Number, OutputShape, Share, TextOrNull, read_body
from knowlex.web.sse import takes_events, wants_events
from rag.answering.ask import AskResult
from rag.api.answers import (
    CONTRADICTED,
    NOT_ENOUGH,
    ContradictedClaim,
    NearPassage,
    PassageShape,
    QueryCitation,
    StageTimes,
    UnreadPages,
    VerificationShape,
    WhyNot,
    answer_question,
    answer_response,
    asker_of,
    cited_claims,
    nearest_passages,
    rewritten_question,
    unread_pages,
)
from rag.api.events import AnswerFormat, event_response
from rag.api.v1.questions import QueryAsked, QuestionSettings
from rag.citations import claim
from rag.citations.numbering import (
    FirstCited,
    Numbering,
    PlaceOf,
    misstatements,
    number_citations,
    snippet,
    snippet_from,
)
from rag.types.answer import Answer, Started, Support

BEST_FIRST: tuple[Support, ...] = get_args(Support)


class PassagePlace(OutputShape):
    """Where a passage stands in its document, to look at it."""

    start_char: Count
    end_char: Count
    checksum: Annotated[str, Field(description="SHA-256 of the version that it is from.")]


class QuerySource(PassageShape, PassagePlace):
    content_snippet: str
    score: Annotated[Number, Field(description="The one that ranked it; higher is better.")]
    citation_index: Annotated[int, Field(ge=1)]
    page_number: int | None
    last_page: int | None
    chapter: TextOrNull
    section: TextOrNull
    relevance: Share


class QueryNear(NearPassage, PassagePlace):
    content_snippet: str


class FoundPassage(QueryNear):
    chapter: TextOrNull
    section: TextOrNull


class QueryClaim(OutputShape):
    text: str
    citation_indexes: list[int]
    support: Annotated[Support, Field(description="The best of its citations.")]


class QueryUsage(OutputShape):
    input_tokens: Count
    output_tokens: Count
    model: str
    stage_times_ms: StageTimes


_REWRITTEN = (
    "What was searched for where that is not what was asked: a follow-up question as it stands alone, or one "
    "with words put right that are a letter off from those of the documents."
)


class QueryAnswer(OutputShape):
    query_id: Annotated[UUID, Field(description="Also in the header X-Query-ID.")]
    conversation_id: Annotated[str, Field(description="As it was sent, or a new one.")]
    answer: Annotated[
        str, Field(description="[k] names the source, and the citations, whose citation_index is k.")
    ]
    sources: Annotated[
        list[QuerySource], Field(description="The cited passages, in order of first citation.")
    ]
    citations: Annotated[list[QueryCitation], Field(description="One for each marked claim and its passage.")]
    contradicted: Annotated[list[ContradictedClaim], Field(description=CONTRADICTED)]
    verification: VerificationShape
    usage: QueryUsage
    latency_ms: Count
    reason: WhyNot
    nearest: Annotated[list[QueryNear], Field(description="Of a question without an answer: at most three.")]
    relevance: Annotated[Share, Field(description="Of the best passage.")]
    cached: bool
    rewritten_query: Annotated[str | None, Field(description=_REWRITTEN)]
    stage_times_ms: StageTimes
    warnings: list[UnreadPages]
    claims: Annotated[
        list[QueryClaim] | None,
        Field(
            description="With response_format json: each marked claim once.",
            exclude_if=lambda value: value is None,
        ),
    ] = None


AnswerT = TypeVar("AnswerT", bound=QueryAnswer)
EXAMPLE = (
    'event: token\ndata: {"text":"It has 253 steps [1]."}\n\n'
    'event: sources\ndata: {"sources":[]}\n\n'
    'event: done\ndata: {"query_id":"","answer":"It has 253 steps [1].","citations":[{"citation_index":1,'
    '"answer_start":0,"answer_end":16,"support":"exact"}],"contradicted":[],"verification":{"exact":1,'
    '"supported":0,"unverified":0,"contradicted":0,"uncited":0},"usage":{}}\n\n'
)


@operation(
    "platformQuery",
    "An answer that says of each claim how far it was checked, whole or as it is written",
    answer(
        200,
        "Answered, or not enough. With `Accept: text/event-stream`, or `settings.streaming`: `token` events"
        " whose texts joined are the answer, `sources`, then `done` with the rest: with `citations` and"
        " `contradicted` a client can mark each claim of what it has shown. Where every claim is contradicted"
        " or none has a source, the `answer` of `done` is another than what was written. A failure after the"
        " first token is an event `error` with the error body, and the end.",
        {JSON: QueryAnswer, **event_stream(EXAMPLE)},
        headers=QUERY_ID,
    ),
    body=QueryAsked,
    failures="404",
    query_id_on=("503",),
)
async def create(request: HttpRequest) -> HttpResponseBase:
    asker = asker_of(request, "platform")
    asked = read_body(request, QueryAsked)
    settings = asked.settings
    asker = replace(asker, conversation_id=asked.conversation_id or "")
    question = await asked.question(access=asker.access)
    if wants_events(request) or (settings.streaming and takes_events(request)):
        return await event_response(request, question, asker, _format(settings))
    answered = await answer_question(request, question, asker)
    return answer_response(answered, answer_body(answered, settings, QueryAnswer))


def answer_body(asked: AskResult, settings: QuestionSettings, shape: type[AnswerT], **more: Any) -> AnswerT:
    answer = asked.answer
    text, numbering = number_citations(answer, number_by_passage())
    cited = cited_claims(asked, numbering, QueryCitation)
    return shape.of(
        asked,
        answer=text if answer.answered else NOT_ENOUGH,
        sources=_sources(answer, numbering.place_of) if settings.include_sources else [],
        citations=cited,
        contradicted=misstatements(answer, text, numbering),
        verification=answer.verification,
        usage=QueryUsage.of(answer.usage, stage_times_ms=answer.stage_ms),
        reason=answer.reason,
        nearest=_nearest(answer),
        relevance=answer.confidence,
        rewritten_query=rewritten_question(asked),
        stage_times_ms=answer.stage_ms,
        warnings=unread_pages(answer, UnreadPages),
        claims=_claims(cited, text) if settings.response_format == "json" else None,
        **more,
    )


def number_by_passage() -> PlaceOf:
    """Give one number to each chunk, in the order of first citation."""
    return FirstCited(lambda number: number)


def _format(settings: QuestionSettings) -> AnswerFormat:
    def body(asked: AskResult) -> dict[str, Any]:
        return answer_body(asked, settings, QueryAnswer).model_dump()

    return AnswerFormat(
        body,
        lambda _: Numbering(number_by_passage()),
        sources="sources",
        again=False,
        passages=_found if settings.passages_first else None,
    )


def _found(started: Started) -> dict[str, Any]:
    """Return the body of the event `passages`: what the answer may cite, best first."""
    text = started.question.text
    found = [
        FoundPassage.of(passage, content_snippet=snippet(passage.content, text))
        for passage in started.context
    ]
    return {"passages": [passage.model_dump() for passage in found]}


def _sources(answer: Answer, place_of: PlaceOf) -> list[QuerySource]:
    sources = []
    for number in answer.cited:
        passage, snippet = answer.context[number - 1], _snippet(answer, number)
        sources.append(QuerySource.of(passage, content_snippet=snippet, citation_index=place_of(number)))
    return sources


def _snippet(answer: Answer, number: int) -> str:
    """Return the passage's text from the first quote on, where one is known."""
    content = answer.context[number - 1].content
    quotes = [citation.quote_start for citation in answer.citations if citation.passage == number]
    return snippet_from(content, quotes[0]) if quotes else snippet(content, claim(answer.text, number))


def _nearest(answer: Answer) -> list[QueryNear]:
    text = answer.question.text
    return [
        QueryNear.of(passage, content_snippet=snippet(passage.content, text))
        for passage in nearest_passages(answer)
    ]


def _claims(cited: list[QueryCitation], text: str) -> list[QueryClaim]:
    """Return each claim once, with all that it cites; its support is the best of its passages."""
    claims = []
    for (start, end), group in groupby(cited, key=lambda one: (one.answer_start, one.answer_end)):
        citations = list(group)
        claims.append(
            QueryClaim(
                text=text[start:end],
                citation_indexes=list(dict.fromkeys(one.citation_index for one in citations)),
                support=min((one.support for one in citations), key=BEST_FIRST.index),
            )
        )
    return claims
