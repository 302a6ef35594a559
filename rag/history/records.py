"""What is kept of a question, and how it is told to the database: as little and as cheaply as can be."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pydantic_core import to_json

from knowlex.web.fields import storable
from rag.citations.numbering import FirstCited, Numbering, misstatements, number_citations
from rag.question_settings import stored_filters, stored_settings
from rag.types.answer import Answer, Citation
from rag.types.question import Question
from rag.types.retrieval import Passage

CLIENT_LEFT = "CLIENT_LEFT"  # before its question was answered: nothing of ours failed
MAX_TIMESTAMP_S = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


@dataclass(frozen=True, slots=True, repr=False)
class QueryRecord:
    """A question that was answered, or failed: then `answer` is None and `error` the failure's code or
    CLIENT_LEFT.

    query_id: UUID version 7, made when the question came. face: ask, query, book, platform or replay. pages:
    of each citation, None or () where the passage's own is meant.
    """

    query_id: UUID
    question: Question
    answer: Answer | None
    face: str
    latency_ms: int
    key_id: UUID | None = None
    conversation_id: str = ""
    cached: bool = False
    replay_of: UUID | None = None
    error: str = ""
    pages: Sequence[int | None] = ()
    user_id: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class RecordRow:
    """A record as JSON, as rag.history.recorder reads it; b"" for what there is not.

    citations: what stands in a list of them. document_ids: of what is cited.
    """

    query_id: UUID
    query: bytes
    response: bytes = b""
    citations: bytes = b""
    candidates: bytes = b""
    document_ids: frozenset[UUID] = frozenset()


def build_row(record: QueryRecord) -> RecordRow:
    query = to_json(_query_columns(record))
    answer = record.answer
    if answer is None:
        return RecordRow(record.query_id, query)
    text, numbering = number_citations(answer, FirstCited(lambda number: number))  # as /v1/query numbers them
    return RecordRow(
        record.query_id,
        query,
        to_json(_response_columns(record, answer, text, numbering)),
        to_json(list(_citation_rows(record, answer, numbering)))[1:-1],
        to_json(_candidate_columns(record.query_id, answer)),
        frozenset(answer.context[one.passage - 1].document_id for one in answer.citations),
    )


def read_creation_time(query_id: UUID) -> datetime:
    """Return when the id was made: a UUID of version 7 begins with milliseconds since 1970.

    One that somebody made up may name a year that no date can tell; then it is the last that one can.
    """
    return datetime.fromtimestamp(min((query_id.int >> 80) / 1000, MAX_TIMESTAMP_S), UTC)


def _query_columns(record: QueryRecord) -> dict[str, Any]:
    question, answer = record.question, record.answer
    found = _outcome_columns(answer) if answer is not None else {"answered": False, "error": record.error}
    return found | {
        "id": record.query_id,
        "key_id": record.key_id,
        "user_id": record.user_id,
        "face": record.face,
        "conversation_id": record.conversation_id,
        "original_query": storable(question.original or question.text),
        "rewritten_query": storable(question.text) if question.original else "",
        "collection_ids": question.collection_ids,
        "filters": stored_filters(question.filters),
        "settings": stored_settings(question),
        "cached": record.cached,
        "replay_of": record.replay_of,
        "latency_ms": record.latency_ms,
        "created_at": read_creation_time(record.query_id),
    }


def _outcome_columns(answer: Answer) -> dict[str, Any]:
    return {
        "answered": answer.answered,
        "reason": answer.reason or "",
        "retrieved": answer.retrieved,
        "confidence": answer.confidence,
        "stage_ms": answer.stage_ms,
        "embedding_model": answer.model_name,
        "reranker": answer.reranker,
        "rewriting": answer.rewriting or "",
    }


def _response_columns(record: QueryRecord, answer: Answer, text: str, numbering: Numbering) -> dict[str, Any]:
    return {
        "query_id": record.query_id,
        "answer": storable(text) if answer.answered else "",
        "verification": answer.verification,
        "contradicted": [
            one._asdict() | {"text": storable(one.text), "missing": [storable(part) for part in one.missing]}
            for one in misstatements(answer, text, numbering)
        ],
        "model": answer.usage.model,
        "prompt_version": answer.prompt_version,
        "input_tokens": answer.usage.input_tokens,
        "output_tokens": answer.usage.output_tokens,
    }


def _citation_rows(record: QueryRecord, answer: Answer, numbering: Numbering) -> Iterable[dict[str, Any]]:
    pages = record.pages or [answer.context[one.passage - 1].page_number for one in answer.citations]
    for position, (one, page) in enumerate(zip(answer.citations, pages, strict=True)):
        yield {
            "query_id": record.query_id,
            "position": position,
            "citation_index": numbering.place_of(one.passage),
            "answer_start": numbering.sent(one.answer_start),
            "answer_end": numbering.sent(one.answer_end),
            "page_number": page,
            **_quote_columns(one, answer.context[one.passage - 1]),
        }


def _quote_columns(one: Citation, passage: Passage) -> dict[str, Any]:
    return {
        "chunk_id": passage.chunk_id,
        "document_id": passage.document_id,
        "title": passage.title,
        "quoted_text": passage.content[one.quote_start : one.quote_end],
        "start_char": passage.start_char + one.quote_start,
        "end_char": passage.start_char + one.quote_end,
        "support": one.support,
        "similarity": passage.similarity_within(one.quote_start, one.quote_end),
    }


def _candidate_columns(query_id: UUID, answer: Answer) -> dict[str, Any]:
    """Return all that were judged, in their order, then what else the context was given."""
    judged = answer.candidates or answer.passages
    number_of = {passage.chunk_id.int: n for n, passage in enumerate(judged, start=1)}
    beside = tuple(passage for passage in answer.context if passage.chunk_id.int not in number_of)
    number_of |= {passage.chunk_id.int: n for n, passage in enumerate(beside, start=len(judged) + 1)}
    passages = judged + beside
    return {
        "query_id": query_id,
        "judged": len(judged),
        "chunk_ids": [passage.chunk_id for passage in passages],
        "document_ids": [passage.document_id for passage in passages],
        "dense_scores": [None if p.distance is None else 1 - p.distance for p in passages],
        "sparse_scores": [passage.sparse_score for passage in passages],
        "fused_scores": [passage.fused_score for passage in passages],
        "rerank_scores": [passage.rerank_score for passage in passages],
        "relevances": [passage.relevance for passage in passages],
        "results": [number_of.get(passage.chunk_id.int, 0) for passage in answer.passages],
        "context": [number_of[passage.chunk_id.int] for passage in answer.context],
    }
