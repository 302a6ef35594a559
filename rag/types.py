"""Question in, answer out, and what lies between. Plain Python, frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Question:
    """A validated question (1 to 2000 characters, not blank).

    collection_ids: which collections are read; with none, nothing is found.
    top_k: how many passages to retrieve, 1 to 50. max_tokens: of the answer, None = provider's default.
    min_relevance: passages below it never reach the synthesizer.
    """

    text: str
    collection_ids: tuple[UUID, ...]
    top_k: int
    max_tokens: int | None = None
    min_relevance: float = 0.8


class SentenceScore(NamedTuple):
    """One sentence of a passage, as ranked for the question. A tuple: hundreds are made for each question.

    start, end: offsets into the passage's content. coverage: share [0, 1] of the question's idf mass
    that stands in the sentence; coverage_with_previous: the same with the sentence before it.
    similarity: cosine to the question, None where the embedder gives no sentence vectors.
    """

    start: int
    end: int
    coverage: float
    coverage_with_previous: float
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved chunk with everything a face may show of it.

    distance: cosine distance to the question, 0 to 2. sparse_score: BM25, None if it holds none of the words.
    dense_rank, sparse_rank: 1-based, None if the ranking does not hold it. score: fused or reranked, higher
    is better.
    relevance: calibrated probability [0, 1] that the passage helps to answer.
    document_warnings, unread_pages: of its document; pages that nobody could read, 1-based, the first 1000.
    """

    chunk_id: UUID
    document_id: UUID
    document_name: str
    title: str
    chunk_index: int
    content: str
    page_number: int | None
    last_page: int | None
    chapter: str
    section: str
    start_char: int
    token_count: int
    distance: float
    document_warnings: tuple[str, ...] = ()
    unread_pages: tuple[int, ...] = ()
    dense_rank: int | None = None
    sparse_rank: int | None = None
    sparse_score: float | None = None
    score: float = 0.0
    relevance: float = 0.0
    sentences: tuple[SentenceScore, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What one search found, best first.

    idf: of every distinct lexeme of the question; `lexical.idf(0, chunks)` for those that no chunk holds.
    model_name, calibration: of the active embedding model; calibration is None where none was fitted.
    """

    passages: tuple[Passage, ...]
    idf: dict[str, float] = field(default_factory=dict)
    model_name: str = ""
    calibration: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the model call, as the provider counts them; zero for the extractive synthesizer."""

    input_tokens: int = 0
    output_tokens: int = 0
    model: str = "extractive"


@dataclass(frozen=True, slots=True)
class Synthesis:
    """A synthesizer's raw reply: text with `[n]`, n being the 1-based place in the context."""

    text: str
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Answer:
    """The pipeline's result, before a face numbers its citations anew.

    text: with `[n]` markers into `context` (1-based), all of them valid; "" when not answered.
    context: the passages that were given to the synthesizer. cited: distinct n in order of first citation.
    retrieved: number of passages before the relevance threshold. confidence: relevance of the best passage.
    """

    question: Question
    answered: bool
    text: str
    context: tuple[Passage, ...]
    cited: tuple[int, ...]
    retrieved: int
    confidence: float
    usage: Usage = Usage()
    stage_ms: dict[str, float] = field(default_factory=dict)
