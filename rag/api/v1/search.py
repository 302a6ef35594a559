"""POST /v1/search: what a question finds, with every score and without a reply."""

import time
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import Field

from documents.access import access_of
from knowlex.web.openapi import answer, operation
from knowlex.web.responses import plain_json_response
from knowlex.web.shapes import Count, Number, OutputShape, Share, TextOrNull, read_body
from rag.answering import services
from rag.api.answers import PLACE
from rag.api.v1.questions import SearchRequest
from rag.types.retrieval import Passage, Rewriting, SearchResult


class SearchResultShape(OutputShape):
    rank: Annotated[int, Field(ge=1)]
    chunk_id: UUID
    document_id: UUID
    document_name: str
    title: str
    chunk_index: Count
    content: str
    page_number: int | None
    place: Annotated[TextOrNull, Field(description=PLACE)]
    last_page: int | None
    chapter: TextOrNull
    section: TextOrNull
    score: Annotated[Number, Field(description="The one that ranked it; higher is better.")]
    dense_score: Annotated[
        Number | None, Field(description="Cosine similarity; null where no model was called.")
    ]
    sparse_score: Annotated[
        Number | None, Field(description="BM25; null if the ranking by words does not hold it.")
    ]
    fused_score: Annotated[Number, Field(description="Before reranking.")]
    rerank_score: Annotated[Number | None, Field(description="null if it was not reranked.")]
    relevance: Annotated[Share, Field(description="Probability that the passage helps to answer.")]


class SearchStage(OutputShape):
    stage: str
    kept: Annotated[bool | None, Field(description="null where the chunk never came.")]
    rank: Annotated[int | None, Field(ge=1)]
    score: Number | None
    limit: Annotated[Number | None, Field(description="Of the rank; at `relevance`, of the score.")]
    reason: str


class SearchExplanation(OutputShape):
    chunk_id: UUID
    found: Annotated[bool, Field(description="It is among the results.")]
    lost_at: Annotated[
        str | None,
        Field(description="The first stage that did not keep it; of two rankings one is enough."),
    ]
    stages: list[SearchStage]


class SearchResults(OutputShape):
    results: list[SearchResultShape]
    mode: str
    reranked: bool
    reranker: Annotated[TextOrNull, Field(description="Whose order it is: sentence, cross-encoder or http.")]
    rewriting: Annotated[
        Rewriting | None,
        Field(description="null where it was not asked for; unless done, the search was the plain one."),
    ]
    embedding_model: TextOrNull
    stage_times_ms: dict[str, Number]
    latency_ms: Count
    explanation: Annotated[SearchExplanation | None, Field(exclude_if=lambda value: value is None)] = None


@operation(
    "search",
    "The passages that an answer would be made from, with every score",
    answer(200, "Best first; none is withheld for its relevance.", SearchResults),
    body=SearchRequest,
    failures="404",
)
async def create(request: HttpRequest) -> HttpResponse:
    started = time.perf_counter()
    asked, access = read_body(request, SearchRequest), access_of(request)
    question = await asked.question(access=access)
    if asked.explain is None:
        return plain_json_response(_body(await services.search(question), started))
    found, explanation = await services.explain(question, asked.explain, access=access)
    return plain_json_response(_body(found, started, explanation=explanation))


def _body(found: SearchResult, started: float, **explanation: Any) -> SearchResults:
    return SearchResults(
        results=[_hit(rank, passage) for rank, passage in enumerate(found.passages, start=1)],
        mode=found.question.mode,
        reranked=any(passage.rerank_score is not None for passage in found.passages),
        reranker=found.reranker,
        rewriting=found.rewriting,
        embedding_model=found.model_name,
        stage_times_ms=found.stage_ms,
        latency_ms=round((time.perf_counter() - started) * 1000),
        **explanation,
    )


def _hit(rank: int, passage: Passage) -> SearchResultShape:
    dense_score = None if passage.distance is None else 1 - passage.distance
    return SearchResultShape.of(passage, rank=rank, dense_score=dense_score)
