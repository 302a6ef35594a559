"""What is answered, with its citations and what their check found. Plain Python, frozen."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from rag.types.question import Question
from rag.types.retrieval import Passage, Rewriting

# exact: the claim stands in the passage word for word. supported: the quote was found to say it. unverified:
# the model cites this passage, nothing contradicts it, and the check could not confirm it.
Support = Literal["exact", "supported", "unverified"]
# Why nothing was answered. model_declined: the chat model said that the passages do not tell. not_supported:
# what it said cites nothing, or nothing of it stands in the passages.
Reason = Literal[
    "no_documents", "embeddings_pending", "filtered_out", "below_threshold", "not_supported", "model_declined"
]

EXTRACTIVE = "extractive"  # the model of answers that quote their passages word for word


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the model call, as the provider counts them; zero for the extractive synthesizer.

    model: the Synthesizer's `model_name`, also where it was not asked. cut: it had to stop at its limit.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""
    cut: bool = False

    def plus(self, further: "Usage") -> "Usage":
        """Return this with the tokens of a further call of the same model."""
        tokens = self.input_tokens + further.input_tokens, self.output_tokens + further.output_tokens
        return Usage(*tokens, self.model, self.cut or further.cut)


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
