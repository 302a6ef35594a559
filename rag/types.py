"""Question in, answer out, and what lies between. Plain Python, frozen."""

import math
import time
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import date
from typing import Any, Literal, NamedTuple, TypeAlias
from uuid import UUID

from rag.sentence_scores import Sentences

Mode = Literal["hybrid", "dense", "sparse", "exact"]
# done: it was searched for with what a chat model wrote, too. unavailable: no chat model is configured.
# failed: the model failed, took too long or wrote nothing of use, so the search was the plain one.
Rewriting = Literal["done", "unavailable", "failed"]
FilterValue: TypeAlias = str | int | float | bool
# exact: the claim stands in the passage word for word. supported: the quote was found to say it. unverified:
# the model cites this passage, nothing contradicts it, and the check could not confirm it.
Support = Literal["exact", "supported", "unverified"]
# Why nothing was answered. model_declined: the chat model said that the passages do not tell. not_supported:
# what it said cites nothing, or nothing of it stands in the passages.
Reason = Literal[
    "no_documents", "embeddings_pending", "filtered_out", "below_threshold", "not_supported", "model_declined"
]


@dataclass(frozen=True, slots=True)
class MetadataFilter:
    """One key of the documents' metadata, at the top or under `custom`; what is not given is not asked.

    any_of: the value, or one of a list of values, is one of these, in the same JSON type. at_least, at_most:
    inclusive; numbers compare with numbers, strings (ISO dates) with strings.
    """

    key: str
    any_of: tuple[FilterValue, ...] = ()
    at_least: str | int | float | None = None
    at_most: str | int | float | None = None


@dataclass(frozen=True, slots=True)
class Filters:
    """Which passages may be found at all, the same in every mode; all that are given must hold.

    document_ids: None for all. tags: the document has one of them; () for all. created_from, created_until:
    whole UTC days of the document's `created_at`, both included. page_from, page_to: 1-based, both included;
    the passage touches one of them, and one without pages never does. chapters, sections: one of these
    titles; () for all.
    """

    document_ids: tuple[UUID, ...] | None = None
    tags: tuple[str, ...] = ()
    metadata: tuple[MetadataFilter, ...] = ()
    created_from: date | None = None
    created_until: date | None = None
    page_from: int | None = None
    page_to: int | None = None
    chapters: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Question:
    """A validated question (1 to 2000 characters, not blank).

    collection_ids: which collections are read; with none, nothing is found.
    top_k: how many passages to retrieve, 1 to 50. max_tokens: of the answer, None = provider's default.
    min_relevance: what the best passage must reach for an answer to be written at all.
    strict_context: every passage of the context must reach it, also where a chat model is asked.
    mode: which rankings are used; in `sparse` and `exact` no model is called. rerank: None reranks in
    `hybrid` only, whose order it is part of. rewrite: None leaves it to the settings.
    original: what the user wrote, where `text` is a follow-up question made to stand alone; else "".
    state: of all that is read, for reusing answers: another one after every change of it; "" if unknown.
    deadline: of the whole request, by `time.monotonic()`; every stage takes what is left at most. None: none.
    """

    text: str
    collection_ids: tuple[UUID, ...]
    top_k: int
    max_tokens: int | None = None
    min_relevance: float = 0.8
    strict_context: bool = False
    mode: Mode = "hybrid"
    filters: Filters = NO_FILTERS
    rerank: bool | None = None
    rewrite: bool | None = None
    original: str = ""
    state: str = ""
    deadline: float | None = None

    def within(self, limit_s: float) -> float:
        """Seconds that a stage with this limit of its own may take, at least 0."""
        if self.deadline is None:
            return limit_s
        return max(0.0, min(limit_s, self.deadline - time.monotonic()))

    def spare(self, limit_s: float) -> float:
        """The same for a stage that an answer can do without: half of what is left is for the others."""
        if self.deadline is None:
            return limit_s
        return min(limit_s, self.within(math.inf) / 2)

    @property
    def reranked(self) -> bool:
        return self.mode == "hybrid" if self.rerank is None else self.rerank


@dataclass(frozen=True)
class Passage:
    """A retrieved chunk with everything a face may show of it.

    Without slots: each question makes 20 of them and 40 copies, and a dictionary is copied in a fourth of the
    time.

    distance: cosine distance to the question, 0 to 2; None where the question was not embedded (`sparse` and
    `exact`). sparse_score: BM25, None if it holds none of the words.
    dense_rank, sparse_rank: 1-based, None if the ranking does not hold it. fused_score: of the rankings.
    rerank_score: None where it was not reranked. score: the one that it was ranked by last; higher is better.
    language: ISO 639-1 code of its document, "" if unknown: which analysis its words went through.
    bounds: start and end of each of its sentences that have a vector, offsets into the content;
    similarities: the cosine of each to the question; both () where there are none.
    relevance: calibrated probability [0, 1] that the passage helps to answer.
    document_warnings, unread_pages: of its document; pages that nobody could read, 1-based, the first 1000.
    stored_id: under which others keep it, where it is no chunk of Knowlex's own.
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

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Passage":
        """Of fields by their names; every one that has no default must be there."""
        made = object.__new__(cls)
        held = made.__dict__
        held.update(_DEFAULTS)
        held.update(row)
        return made

    def but(self, **fields: Any) -> "Passage":
        """As `dataclasses.replace`, in a tenth of its time."""
        copy = object.__new__(Passage)
        held = copy.__dict__
        held.update(self.__dict__)
        held.update(fields)
        return copy


_DEFAULTS = {one.name: one.default for one in fields(Passage) if one.default is not MISSING}


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What one search found, best first.

    idf: of every distinct lexeme of the question; `lexical.idf(0, chunks)` for those that no chunk holds.
    model_name, calibration: of the active embedding model; calibration is None where none was fitted.
    reranker: whose order it is, such as "sentence" or "http"; "" while it is that of the fusion.
    rerank_model: the model whose probabilities the `rerank_score`s are, such as "http:bge-reranker"; "" where
    they are none. rewriting: None where it was not asked for. stage_ms: what took its time in the retrieval.
    scale: the `rag.ordering.Scale` by which each passage's `rerank_score` is its strength; None if it is not.
    model_id, vector: what the question was embedded with, and its `embeddings.types.Vector`; None where it
    was not embedded.
    """

    passages: tuple[Passage, ...]
    idf: dict[str, float] = field(default_factory=dict)
    model_name: str = ""
    calibration: Mapping[str, Any] | None = None
    reranker: str = ""
    rerank_model: str = ""
    rewriting: Rewriting | None = None
    stage_ms: Mapping[str, float] = field(default_factory=dict)
    scale: Any = field(default=None, repr=False, compare=False)
    model_id: int | None = None
    vector: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Trail:
    """What a search held at its stages, each in its order: candidates, those that were judged, the result."""

    found: tuple[Passage, ...] = ()
    judged: tuple[Passage, ...] = ()
    passages: tuple[Passage, ...] = ()


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


class Part(NamedTuple):
    """A stretch of a block that comes from one passage: `content[start:start + length]` of the block is
    `content[begin:begin + length]` of the passage. passage: 0-based place in `Context.passages`.
    """

    start: int
    length: int
    passage: int
    begin: int


@dataclass(frozen=True, slots=True)
class Block:
    """What the synthesizer is shown under one number: a chunk, a part of it, or adjoining chunks.

    parts: in reading order, may overlap where the chunks do; what no part covers is glue (white space).
    """

    content: str
    parts: tuple[Part, ...]
    language: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """Blocks are numbered from 1, as the prompt shows them. passages: all that they are made of."""

    blocks: tuple[Block, ...] = ()
    passages: tuple[Passage, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.blocks)


class Room(NamedTuple):
    """What a chat model's window holds besides the blocks. prompt: all else that it is told, the question
    included. reply_tokens: kept for what it says.
    """

    prompt: str
    reply_tokens: int


class Place(NamedTuple):
    """Of a chunk in its document; chunk_index from 0."""

    document_id: UUID
    chunk_index: int


EXTRACTIVE = "extractive"  # the model of answers that quote their passages word for word


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the model call, as the provider counts them; zero for the extractive synthesizer.

    model: the Synthesizer's `model_name`, also where it was not asked.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""


class Source(NamedTuple):
    """What a model names for a claim. block: its number in the prompt, from 1, unchecked. quote: the words of
    the block that say so, as the model wrote them, unchecked; "" where it gives none.
    """

    block: int
    quote: str = ""


class Sources(NamedTuple):
    """Ends a claim of a structured reply: the sources of all text since the claim before it.

    ending: the claim's closing punctuation, which stands behind its markers.
    """

    sources: tuple[Source, ...]
    ending: str = ""


@dataclass(frozen=True, slots=True)
class Synthesis:
    """A synthesizer's raw reply: text with `[n]`, n being the number of a block of the context.

    pieces: of a structured reply, the text of each claim and then its `Sources`; `text` is "" then.
    """

    text: str
    usage: Usage = Usage()
    pieces: tuple[str | Sources, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """One marked claim and the sentences of its passage that come nearest to it.

    passage: its 1-based number in `Answer.context`, as the marker `[n]` of the claim says.
    quote_start, quote_end: of those sentences, offsets into that passage's content.
    answer_start, answer_end: of the claim, offsets into `Answer.text`, without markers that stand at its end.
    """

    passage: int
    quote_start: int
    quote_end: int
    answer_start: int
    answer_end: int
    support: Support


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A claim that the context contradicts, so that it lost its marker.

    answer_start, answer_end: of the claim, offsets into `Answer.text`. missing: what of it the passages do
    not say, as the claim writes it: numbers, dates, names, quotations, or the negation.
    """

    answer_start: int
    answer_end: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verification:
    """How many claims of an answer were found to be what. A claim with several markers counts once, as the
    best of them. uncited: sentences that claim something and carry no marker.
    """

    exact: int = 0
    supported: int = 0
    unverified: int = 0
    contradicted: int = 0
    uncited: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The pipeline's result, before a face numbers its citations anew.

    text: with `[n]` markers into `context` (1-based), all of them checked; "" when not answered.
    contradicted: in the order of the answer. verification: counts of its claims.
    context: the passages that were given to the synthesizer. cited: distinct n in order of first citation.
    citations: in the order of the answer. reason: why it was not answered, None if it was.
    retrieved: number of passages before the relevance threshold. confidence: relevance of the best passage.
    passages: those, in their order; candidates: all that were judged, in theirs. prompt_version: "" where no
    prompt was used.
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
    passages: tuple[Passage, ...] = ()
    citations: tuple[Citation, ...] = ()
    reason: Reason | None = None
    candidates: tuple[Passage, ...] = ()
    model_name: str = ""
    reranker: str = ""
    rewriting: Rewriting | None = None
    prompt_version: str = ""
    contradicted: tuple[Contradiction, ...] = ()
    verification: Verification = Verification()


@dataclass(frozen=True, slots=True)
class Started:
    """What is known of a streamed answer before its first token: the passages that markers name."""

    question: Question
    context: tuple[Passage, ...]


# A streamed answer: `Started`, then text with `[n]` as in `Answer.text`, no marker ever taken back or split
# between two pieces, then the `Answer`. Where nothing was answered there may be no text at all.
Event: TypeAlias = Started | str | Answer
