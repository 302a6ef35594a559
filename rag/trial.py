"""One question with one passage, asked of the configured synthesizer and checked like every other answer.

It shows whether a chat model answers, and cites as it is asked to. No document and no database is needed.
"""

import time
from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from knowlex.base.errors import KnowlexError, SynthesisTimeout
from knowlex.runtime.components import component
from rag.citations import settle
from rag.citations.checker import Checker
from rag.context.fitting import context_of
from rag.deadlines import within_deadline, writing_timeout
from rag.protocols import ClaimJudge, Synthesizer
from rag.types.answer import Reason, Sources, Synthesis
from rag.types.context import Context
from rag.types.question import Question
from rag.types.retrieval import Passage

QUESTION = "When was the Aldwick lighthouse built, and how tall is it?"
PASSAGE = (
    "The Aldwick lighthouse was built in 1874 and stands 41 metres tall. "
    "Its lamp was converted to electricity in 1931."
)
TOO_SLOW = (
    "Raise KNOWLEX_LLM_TIMEOUT_SECONDS (for Ollama OLLAMA_TIMEOUT_SECONDS, too), or take a smaller model."
)
SHOWN = 200  # characters of the reply
AS_ASKED = "The model cites as asked."
SAID_NOTHING = "The model says that the passage does not tell, though it does. Take a larger model."
UNCITED = (
    "The model answered, but cited nothing: such answers are withheld."
    " Take a larger model, or set KNOWLEX_STRUCTURED_CLAIMS=on."
)
UNFOUNDED = "The model cites, but nothing of what it says was found in the passage."
CONTRADICTED = "The model cites, but says what the passage does not."
UNVERIFIED = "The model cites as asked, in words that could not be verified."


class Step(NamedTuple):
    """ok: False where it failed, so that nothing follows; None where it ended otherwise than asked for.

    took_s: of the whole check for what it found, of the whole trial for the verdict.
    """

    name: str
    ok: bool | None
    says: str
    took_s: float


class CheckSummary(NamedTuple):
    """What the check made of a reply. markers: the numbers of blocks that it names, whatever came of them.
    claims: the state of each, and its words. reason: why it would not be shown.
    """

    markers: tuple[int, ...]
    claims: tuple[tuple[str, str], ...]
    reason: Reason | None


async def trial(*, within_s: float) -> list[Step]:
    """Return the reply, its markers, its claims, and a verdict. Raises ImproperlyConfigured."""
    synthesizer = component("SYNTHESIZER", Synthesizer)
    question = Question(QUESTION, (), top_k=1, deadline=time.monotonic() + within_s)
    context = context_of([_passage()])
    started = time.perf_counter()
    try:
        async with within_deadline(question.deadline, writing_timeout):
            synthesis = await synthesizer.synthesize(question, context)
            replied = time.perf_counter()
            reading = await _read(question, context, synthesis)
    except KnowlexError as exc:
        says = f"{exc.message} {TOO_SLOW}" if isinstance(exc, SynthesisTimeout) else exc.message
        return [Step("reply", False, says, time.perf_counter() - started)]
    finally:
        if aclose := getattr(synthesizer, "aclose", None):
            await aclose()

    ended, verdict = time.perf_counter(), _verdict(reading)
    return [
        Step("reply", True, _excerpt(_said(synthesis)), replied - started),
        *_found(reading, ended - replied),
        Step("verdict", verdict == AS_ASKED or None, verdict, ended - started),
    ]


async def _read(question: Question, context: Context, synthesis: Synthesis) -> CheckSummary:
    """Return the only place that knows the checker."""
    checked = await Checker(context, component("CLAIM_JUDGE", ClaimJudge), question=question.text).whole(
        synthesis
    )
    _, markers = settle(synthesis.text, len(context.blocks))
    named = [
        source.block for piece in synthesis.pieces if isinstance(piece, Sources) for source in piece.sources
    ]
    claims: list[tuple[str, str]] = [
        (one.support, checked.text[one.answer_start : one.answer_end]) for one in checked.citations
    ]
    claims += [
        ("contradicted", checked.text[one.answer_start : one.answer_end]) for one in checked.contradicted
    ]
    return CheckSummary(markers or tuple(dict.fromkeys(named)), tuple(claims), checked.reason)


def _found(reading: CheckSummary, took_s: float) -> Iterator[Step]:
    markers = ", ".join(f"[{number}]" for number in reading.markers)
    yield Step("markers", bool(markers) or None, markers or "none was read", took_s)
    for state, claim in reading.claims:
        yield Step("claim", state in ("exact", "supported") or None, f"{state}: {_excerpt(claim)}", took_s)


def _verdict(reading: CheckSummary) -> str:
    states = {state for state, _ in reading.claims}
    if reading.reason == "model_declined":
        return SAID_NOTHING
    if not reading.markers:
        return UNCITED
    if not states:
        return UNFOUNDED
    if "contradicted" in states:
        return CONTRADICTED
    return UNVERIFIED if "unverified" in states else AS_ASKED


def _said(synthesis: Synthesis) -> str:
    """Return the text; that of a structured reply stands in its claims."""
    return synthesis.text or " ".join(piece for piece in synthesis.pieces if isinstance(piece, str))


def _excerpt(text: str) -> str:
    """Return the text on one line."""
    line = " ".join(text.split())
    return f'"{line[:SHOWN]}"{" …" if len(line) > SHOWN else ""}'


def _passage() -> Passage:
    return Passage(
        chunk_id=UUID(int=1),
        document_id=UUID(int=1),
        document_name="lighthouses.md",
        title="Lighthouses of the coast",
        chunk_index=0,
        content=PASSAGE,
        page_number=None,
        last_page=None,
        chapter="",
        section="",
        start_char=0,
        token_count=len(PASSAGE.split()),
        distance=None,
        language="en",
        relevance=1.0,
    )
