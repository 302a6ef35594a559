"""The exchangeable parts of answering."""

from collections.abc import AsyncGenerator, Awaitable, Collection, Sequence
from typing import Protocol, TypeGuard, TypeVar, runtime_checkable
from uuid import UUID

from rag.types.answer import Reason, Sources, Synthesis, Usage
from rag.types.claims import Claim, Judgement, Opinion, Unproved
from rag.types.context import Block, Context, Place, Room
from rag.types.question import Question, Variant
from rag.types.retrieval import Examination, Passage, Retrieval, Saying

P = TypeVar("P")
_known: dict[tuple[type, type], bool] = {}


def can(part: object, protocol: type[P]) -> TypeGuard[P]:
    """Return `isinstance`, cached by class: looking a protocol's members up takes 20 us each time."""
    key = type(part), protocol
    if key not in _known:
        _known[key] = isinstance(part, protocol)
    return _known[key]


class Retriever(Protocol):
    """Role RETRIEVER."""

    async def retrieve(self, question: Question) -> Retrieval:
        """Passages of the question's collections, best first, at most what reranking needs.

        Holds no database connection when it returns. Raises RetrievalFailed (the question could not be
        embedded, or the search failed), DatabaseUnavailable.
        """
        ...


class Examiner(Protocol):
    """Role RETRIEVER, of one that can say what it knows of a chunk."""

    async def examine(self, question: Question, chunk_id: UUID) -> Examination:
        """Tell what is known of a chunk that is there. Raises as `retrieve`."""
        ...


@runtime_checkable
class Completing(Protocol):
    """Role RETRIEVER, of one that can fetch what stands beside a passage."""

    async def neighbours(
        self, question: Question, found: Retrieval, places: Sequence[Place]
    ) -> tuple[Passage, ...]:
        """Return those of these chunks that the question may read, in one statement, in any order.

        found: what was retrieved for the question; its vector is used again. They have a distance, no ranks,
        no score and no relevance. Raises nothing for their sake: without them there is an answer, too.
        """
        ...


@runtime_checkable
class Sampling(Protocol):
    """Role RETRIEVER, of one that can fetch chunks spread over a document."""

    async def sample(
        self, question: Question, found: Retrieval, document_id: UUID, count: int
    ) -> tuple[Passage, ...]:
        """Return so many of those that the question may read, at most, at even distances, the first
        included, in the document's order, in one statement. They are as `Completing.neighbours` are;
        nothing is raised.
        """
        ...


@runtime_checkable
class Accounting(Protocol):
    """Role RETRIEVER, of one that can say why it found nothing."""

    async def why_nothing(self, question: Question) -> Reason:
        """Find the reason, by one more statement. Raises as `retrieve`."""
        ...


@runtime_checkable
class Correcting(Protocol):
    """Role RETRIEVER, of one that knows the words of the documents."""

    async def suggest(self, question: Question, *, sure: bool = False) -> str | None:
        """Return the question with words put right that no document has; None if there are none.

        sure: leave words that are surely meant as they are typed. Raises as `retrieve`.
        """
        ...


@runtime_checkable
class Respelling(Protocol):
    """Role RETRIEVER, of one that knows how the documents write compounds."""

    async def respell(self, question: Question) -> str | None:
        """Return the question with "e-mail" as "email", "500GB" as "500 GB" and so on, where the documents
        have these; None if there are none. Raises as `retrieve`.
        """
        ...


@runtime_checkable
class Narrowing(Protocol):
    """Role RETRIEVER, of one that can search documents that a question names."""

    async def retrieve_within(self, question: Question, document_ids: Collection[UUID]) -> Retrieval:
        """Retrieve from these documents alone, whatever else the question may find; never rewritten. Raises
        as `retrieve`.
        """
        ...

    async def find_sayings(self, question: Question, lexemes: Collection[str]) -> Sequence[Saying]:
        """Return which documents, of those that the caller may read, say these lexemes; nothing of what very
        many chunks say. Raises as `retrieve`.
        """
        ...


class Widening(
    Retriever, Examiner, Completing, Sampling, Accounting, Correcting, Respelling, Narrowing, Protocol
):
    """Role PLAIN_RETRIEVER: a Retriever that can search for variants of the question, too."""

    async def retrieve_widened(self, question: Question, variants: Awaitable[Sequence[Variant]]) -> Retrieval:
        """Return what `retrieve` finds and what only the variants do, in one order; says whether it was
        `rewriting`.

        The variants are written during the plain search and waited for after it; what they find has the
        scores that it has for the question itself. Raises as `retrieve`, and nothing for the variants' sake.
        """
        ...


class Reranker(Protocol):
    """Role RERANKER: a new order and `score`; pure computation or one model call."""

    async def rerank(self, question: Question, retrieval: Retrieval) -> Retrieval:
        """Return the passages, best first, with `sentences`, `score` and `rerank_score`; some at the end
        may go.

        Never fails an answer: where a model cannot be asked, the order before stays.
        """
        ...


@runtime_checkable
class ModelBacked(Protocol):
    """A Reranker that stands on a model."""

    async def state(self) -> str:
        """Return "connected" or "loaded"; else "unreachable", "not_loaded", or "resting" after it was too
        slow.

        Asks for nothing that costs; may raise OSError or ValueError for the first two.
        """
        ...

    def check(self) -> None:
        """Raise ValueError, at the start, if what is configured cannot be used, whatever comes later."""
        ...


class Synthesizer(Protocol):
    """Role SYNTHESIZER: context -> text with `[n]` markers. model_name: in the usage of every answer."""

    @property
    def model_name(self) -> str: ...

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        """Write the answer; `[n]` names `context.blocks[n - 1]`. Raises SynthesisFailed, SynthesisTimeout."""
        ...

    def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Sources | Usage]:
        """Yield the same in pieces, as the model makes them, and last of all the usage; in a structured
        reply each claim is ended by its `Sources`.

        Raises as `synthesize`, also in the middle; one that ends without the usage was cut off. Closing it
        ends the model's work.
        """
        ...


@runtime_checkable
class Prompting(Protocol):
    """A Synthesizer that asks a model."""

    @property
    def prompt_version(self) -> str:
        """Changes whenever the wording of the prompt does."""
        ...

    def room(self, question: Question) -> Room:
        """Return what the model's window has to hold besides the blocks of the context."""
        ...


@runtime_checkable
class Reading(Protocol):
    """A Synthesizer that can tell by reading that passages answer which do not seem relevant enough."""

    async def read_passages(self, question: Question, found: Retrieval) -> Retrieval:
        """Return the retrieval with a higher relevance where a sentence answers; order kept."""
        ...


@runtime_checkable
class CitingAgain(Protocol):
    """A Synthesizer that can be asked once more for the markers that its reply lacks."""

    async def cite_again(self, question: Question, context: Context, reply: str) -> Synthesis:
        """Return the same answer with `[n]`, or a refusal. reply: the text without any marker. Raises as
        `synthesize`.
        """
        ...


class ClaimJudge(Protocol):
    """Role CLAIM_JUDGE: what does a context say of a claim?"""

    async def judge(self, claim: Claim, blocks: Sequence[Block]) -> Judgement:
        """Return the claim's state for each block that is to be cited for it, or what contradicts the
        blocks.
        """
        ...


class AnswerReader(Protocol):
    """Role ANSWER_READER: a model that reads answers after they were sent; no part where there is none."""

    @property
    def model_name(self) -> str: ...

    async def read(self, question: str, answer: str, claims: Sequence[Unproved]) -> Opinion:
        """Return what it says of the first claims, as many as it reads at once, and of the answer.

        Raises SynthesisFailed where the model cannot be asked now.
        """
        ...

    async def aclose(self) -> None:
        """Close this event loop's connections; the next call opens new ones."""
        ...
