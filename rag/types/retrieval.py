"""What a question finds: passages, and how they were found. Plain Python, frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from uuid import UUID

from documents.text.headings import describe_place
from embeddings.types import Vector
from rag.types.question import Question
from rag.types.sentences import Scale, Sentences

# done: it was searched for with what a chat model wrote, too. unavailable: no chat model is configured.
# failed: the model failed, took too long or wrote nothing of use, so the search was the plain one.
Rewriting = Literal["done", "unavailable", "failed"]


class Passage(NamedTuple):
    """A retrieved chunk with everything a face may show of it.

    A tuple: each question makes 20 of them and 40 copies, and a frozen dataclass takes five times as long.

    distance: cosine distance to the question, 0 to 2; None where the question was not embedded (`sparse` and
    `exact`). sparse_score: BM25, None if it holds none of the words.
    dense_rank, sparse_rank: 1-based, None if the ranking does not hold it. fused_score: of the rankings.
    rerank_score: None where it was not reranked. score: the one that it was ranked by last; higher is better.
    language: ISO 639-1 code of its document, "" if unknown: which analysis its words went through.
    bounds: start and end of each of its sentences that have a vector, offsets into the content;
    similarities: the cosine of each to the question; both () where there are none.
    relevance: calibrated probability [0, 1] that the passage helps to answer.
    document_warnings, unread_pages: of its document; pages that nobody could read, 1-based, the first 1000.
    checksum: SHA-256 of the document's bytes, "" where it is no document of Knowlex's own.
    analysis: its sentences and words as they were written down when it was stored, "" where they were not.
    table_head: title and columns of the table that it has rows of, () if there is none.
    stored_id: under which others keep it, where it is no chunk of Knowlex's own. source: the format of its
    document, "" if unknown.
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
    distance: float | None
    document_warnings: tuple[str, ...] = ()
    unread_pages: tuple[int, ...] = ()
    dense_rank: int | None = None
    sparse_rank: int | None = None
    sparse_score: float | None = None
    score: float = 0.0
    fused_score: float = 0.0
    rerank_score: float | None = None
    language: str = ""
    bounds: tuple[tuple[int, int], ...] = ()
    similarities: tuple[float, ...] = ()
    relevance: float = 0.0
    sentences: Sentences = ()
    stored_id: str = ""
    checksum: str = ""
    analysis: str = ""
    table_head: tuple[str, ...] = ()
    source: str = ""

    @property
    def place(self) -> str:
        return self.place_on(self.page_number)

    def place_on(self, page: int | None) -> str:
        """Return its place in words. page: the one of its pages that is meant."""
        return describe_place(self.source, page, self.chapter, self.section)

    @property
    def end_char(self) -> int:
        """Where the passage ends in its document's text."""
        return self.start_char + len(self.content)

    def similarity_within(self, start: int, end: int) -> float | None:
        """Return the cosine of the question and the nearest sentence in `content[start:end]`; None where no
        sentence there was compared.
        """
        compared = zip(self.bounds, self.similarities, strict=False)
        return max((one for (first, last), one in compared if first < end and last > start), default=None)


class Saying(NamedTuple):
    """That a document says a word. chunks: how many of its `document_chunks` say it or stand below it; of the
    `read_chunks` of all collections that are read, `all_chunks` do.
    """

    lexeme: str
    document_id: UUID
    chunks: int
    document_chunks: int
    all_chunks: int
    read_chunks: int


class NamedDocuments(NamedTuple):
    """Documents that a question names. ids: empty where it says whose documents all are. name: the lexemes of
    it that do. rest: what it asks there, without them.
    """

    ids: frozenset[UUID]
    name: frozenset[str]
    rest: str


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What one search found, best first.

    idf: of every distinct lexeme of the question; `lexical.idf(0, chunks)` for those that no chunk holds.
    model_name, calibration: of the active embedding model; calibration is None where none was fitted.
    reranker: whose order it is, such as "sentence" or "http"; "" while it is that of the fusion.
    rerank_model: the model whose probabilities the `rerank_score`s are, such as "http:bge-reranker"; "" where
    they are none. rewriting: None where it was not asked for. stage_ms: what took its time in the retrieval.
    scale: by which a `rerank_score` is a passage's strength; None if it is not. model_id, vector: what the
    question was embedded with, and its vector; None where it was not embedded. named: documents that it
    names, which were searched for the rest of it. counts: in how many chunks each of the lexemes stands; None
    where that is not known. paraphrases: by word of the question what texts say for it, with what each
    of these weighs.
    """

    passages: tuple[Passage, ...]
    idf: dict[str, float] = field(default_factory=dict)
    model_name: str = ""
    calibration: Mapping[str, Any] | None = None
    reranker: str = ""
    rerank_model: str = ""
    rewriting: Rewriting | None = None
    stage_ms: Mapping[str, float] = field(default_factory=dict)
    scale: Scale | None = field(default=None, repr=False, compare=False)
    model_id: int | None = None
    vector: Vector | None = field(default=None, repr=False, compare=False)
    named: NamedDocuments | None = None
    counts: Mapping[str, int] | None = None
    paraphrases: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trail:
    """What a search held at its stages, each in its order: candidates, those that were judged, the result.

    asked: what was searched for instead of the question, "" for itself. near: of the result, the chunks that
    a chat model is asked about, whatever their relevance.
    """

    found: tuple[Passage, ...] = ()
    judged: tuple[Passage, ...] = ()
    passages: tuple[Passage, ...] = ()
    asked: str = ""
    near: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class Examination:
    """What a retriever knows of one chunk and a question, whether it found the chunk or not.

    read: its collection is. failing: the filters that it does not pass. embedded: by the active model.
    similarity, dense_rank: by exact search among all that pass; None without a vector, or in a mode without.
    sparse_score, sparse_rank: BM25, None if no word finds it. asked: idf of the question's words. held: those
    that it holds. found_by_words: a candidate of BM25. fused_score: None if neither ranking holds it. times:
    how often it holds the literal string. limit: of each ranking; candidates: of what is handed on.
    """

    read: bool
    failing: tuple[str, ...]
    embedded: bool
    has_words: bool
    limit: int
    candidates: int
    similarity: float | None = None
    dense_rank: int | None = None
    sparse_score: float | None = None
    sparse_rank: int | None = None
    asked: Mapping[str, float] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    found_by_words: bool = False
    fused_score: float | None = None
    times: float | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """kept: None where the chunk never came. rank: from 1. limit: of rank, or of score at `relevance`."""

    stage: str
    kept: bool | None
    rank: int | None = None
    score: float | None = None
    limit: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """found: it is among the results. lost_at: the first stage that did not keep it, None if it was found.

    Of the two rankings of `hybrid` one is enough: what neither holds is lost at the fusion.
    """

    chunk_id: UUID
    found: bool
    lost_at: str | None
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a question finds, best first: at most its `top_k`, whatever their relevance, no wording twice.

    model_name: of the active embedding model, "" where nothing was found. reranker, rewriting: as in
    `Retrieval`.
    """

    question: Question
    passages: tuple[Passage, ...]
    model_name: str = ""
    stage_ms: dict[str, float] = field(default_factory=dict)
    reranker: str = ""
    rewriting: Rewriting | None = None
