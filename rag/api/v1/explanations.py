"""A past question as /v1/queries shows it: in a list, and with all that explains its answer."""

from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

from pydantic import Field

from documents.text.headings import describe_place
from knowlex.web.shapes import (
    Count,
    Number,
    Object,
    OutputShape,
    TextOrNull,
    Time,
    Unchecked,
)
from rag.api.answers import (
    CONTRADICTED,
    NOT_ENOUGH,
    PLACE,
    ContradictedClaim,
    StageTimes,
    SupportOf,
    VerificationShape,
)
from rag.api.v1.feedback import OwnFeedback
from rag.deadlines import sort_stages
from rag.history.queries import QueryDetails
from rag.relevance import answers
from rag.types import claims

SummaryT = TypeVar("SummaryT", bound="QuerySummary")
GONE = "A document that this answer cites was deleted; what the answer said is gone with it."
MESSAGES = {
    "current": None,
    "replaced": "The document has been replaced since; this is what the former version said.",
    "gone": "The document was deleted; what it said is gone.",
}
DocumentState = Annotated[
    Literal["current", "replaced", "gone"],
    Field(description="replaced: the document has a newer version. gone: it was deleted."),
]
Faithfulness = Annotated[Number | None, Field(description=claims.HOW)]


class PastVerification(VerificationShape):
    """As in `Verification`; null if the question failed, or a release answered that did not count."""


class RatingCounts(OutputShape):
    thumbs_up: Count
    thumbs_down: Count


class QuerySummary(OutputShape):
    query_id: UUID
    conversation_id: str
    face: Annotated[str, Field(description="ask, query, book, platform or replay: the route it came by.")]
    query: str
    rewritten_query: TextOrNull
    collection_ids: list[UUID]
    answered: bool
    reason: TextOrNull
    error: Annotated[TextOrNull, Field(description="Code of what failed; CLIENT_LEFT: before the answer.")]
    answer: Annotated[str | None, Field(description="With [k] for the citations whose citation_index is k.")]
    answer_gone: Annotated[
        bool, Field(description="A document that it cites was deleted, and its words with it.")
    ]
    model: str | None
    verification: Annotated[PastVerification | None, Unchecked()]
    faithfulness_score: Faithfulness
    ratings: RatingCounts
    cached: bool
    replay_of: UUID | None
    latency_ms: Count
    created_at: Time


class QuestionInput(OutputShape):
    original: str
    rewritten: TextOrNull


class NamedCollection(OutputShape):
    id: UUID
    name: str


class CandidateShape(OutputShape):
    rank: Annotated[int | None, Field(description="As judged; null for a neighbour in the context.")]
    chunk_id: UUID
    document_id: UUID
    document_name: str | None
    title: str | None
    page_number: int | None
    status: DocumentState
    dense_score: Annotated[Number | None, Field(description="Cosine similarity.")]
    sparse_score: Annotated[Number | None, Field(description="BM25.")]
    fused_score: Number | None
    rerank_score: Number | None
    relevance: Number
    result_rank: Annotated[
        int | None, Field(validation_alias="place", description="Among the results, from 1.")
    ]
    context_number: Annotated[
        int | None, Field(description="Among the passages the model was given, from 1.")
    ]


class PastCitation(OutputShape):
    citation_index: Count
    chunk_id: UUID
    document_id: UUID
    document_name: Annotated[str | None, Field(description="As it is called now; null if it was deleted.")]
    title: str | None
    page_number: int | None
    place: Annotated[TextOrNull, Field(description=PLACE)]
    quoted_text: str | None
    start_char: Count
    end_char: Count
    checksum: Annotated[
        str | None,
        Field(description="SHA-256 of the version that was quoted; null where it is no longer there."),
    ]
    answer_start: Count
    answer_end: Count
    support: SupportOf
    verdict: Annotated[
        TextOrNull,
        Field(
            json_schema_extra={"enum": ["supported", "unverified", "contradicted", None]},
            description="What a model that read the claim after the answer says; null if none has.",
        ),
    ]
    judged_by: Annotated[TextOrNull, Field(description="That model.")]
    status: DocumentState
    message: Annotated[str | None, Field(description="Why it is not as it was.")]


class RetrievalTrace(OutputShape):
    chunks: list[CandidateShape]
    latency_ms: Number | None


class PastResponse(OutputShape):
    answer: str | None
    citations: list[PastCitation]
    input_tokens: Count
    output_tokens: Count
    model: str
    latency_ms: Annotated[Number | None, Field(description="Of the writing; null where nothing was written.")]


class TokenUsage(OutputShape):
    input_tokens: Count
    output_tokens: Count
    model: str
    stage_times_ms: StageTimes


class AnswerQuality(OutputShape):
    faithfulness: Faithfulness
    answer_relevance: Annotated[Number | None, Field(description=answers.HOW)]
    relevance: Number
    feedback: Annotated[
        TextOrNull,
        Field(
            json_schema_extra={"enum": ["thumbs_up", "thumbs_down", None]}, description="The caller's own."
        ),
    ]


class IdShape(OutputShape):
    id: UUID


class ExplainedQuery(QuerySummary, IdShape):
    """The list's fields, what /v1/query tells of an answer, and the objects of the design's query schema."""

    message: str | None
    original_query: str
    input: QuestionInput
    collections: list[NamedCollection]
    filters: Object
    settings: Object
    retrieved: Annotated[Count, Field(description="Before the relevance threshold.")]
    relevance: Number
    embedding_model: TextOrNull
    reranker: TextOrNull
    rewriting: TextOrNull
    retrieval: RetrievalTrace
    response: PastResponse | None
    citations: list[PastCitation]
    contradicted: Annotated[
        list[ContradictedClaim],
        Unchecked(),
        Field(description=f"{CONTRADICTED} Empty if the answer is gone."),
    ]
    usage: TokenUsage | None
    prompt_version: str | None
    stage_times_ms: StageTimes
    total_latency_ms: Count
    faithfulness_judged_at: Annotated[
        Time | None,
        Field(description="Some seconds after the answer; later where a model that reads it was away."),
    ]
    quality: AnswerQuality
    feedback: OwnFeedback | None


def explained_body(explained: QueryDetails) -> ExplainedQuery:
    query, response, own = explained.query, explained.response, explained.own_feedback
    stage_times_ms = sort_stages(query.stage_ms)
    citations = [citation_body(citation) for citation in explained.citations]
    return summary(
        query,
        ExplainedQuery,
        message=GONE if response and response.quotes_gone else None,
        input=QuestionInput(original=query.original_query, rewritten=query.rewritten_query),
        collections=explained.collections,
        relevance=query.confidence,
        retrieval={"chunks": explained.retrievals, "latency_ms": stage_times_ms.get("retrieve")},
        response=response
        and PastResponse.of(
            response,
            answer=_answer(query, response),
            citations=citations,
            latency_ms=stage_times_ms.get("synthesize"),
        ),
        citations=citations,
        contradicted=response.contradicted if response else [],
        usage=response and TokenUsage.of(response, stage_times_ms=stage_times_ms),
        prompt_version=(response.prompt_version or None) if response else None,
        stage_times_ms=stage_times_ms,
        total_latency_ms=query.latency_ms,
        faithfulness_judged_at=response.faithfulness_judged_at if response else None,
        quality=AnswerQuality(
            faithfulness=response.faithfulness_score if response else None,
            answer_relevance=response.answer_relevance if response else None,
            relevance=query.confidence,
            feedback=own.rating if own else None,
        ),
        feedback=own,
    )


def summary(query: Any, shape: type[SummaryT], **more: Any) -> SummaryT:
    """Return the shape of a query as rag.history.queries finds it, with its response and ratings."""
    response = getattr(query, "response", None)
    return shape.of(
        query,
        query_id=query.id,
        query=query.original_query,
        answer=_answer(query, response),
        answer_gone=response is not None and response.quotes_gone,
        model=response.model if response else None,
        verification=(response.verification or None) if response else None,
        faithfulness_score=response.faithfulness_score if response else None,
        ratings=query,
        **more,
    )


def _answer(query: Any, response: Any) -> str | None:
    """Return None where there is none: the question failed, or what was answered is gone."""
    if response is None or response.quotes_gone:
        return None
    return str(response.answer) if query.answered else NOT_ENOUGH


def citation_body(citation: Any) -> PastCitation:
    status = "gone" if citation.gone else citation.status
    withheld = {"title": None, "quoted_text": None} if status == "gone" else {}
    place = describe_place(page=citation.page_number, **citation.where) if citation.where else ""
    return PastCitation.of(citation, status=status, message=MESSAGES[status], place=place, **withheld)
