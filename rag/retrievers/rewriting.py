"""A Retriever that asks a chat model for variants of a question, and adds what they find.

The variants are a hypothetical answer and other phrasings. Gao, Ma, Lin, Callan: Precise Zero-Shot Dense
Retrieval without Relevance Labels (HyDE), ACL 2023.
"""

import asyncio
import logging
import math
import re
import time
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import UUID

from django.conf import settings

from knowlex.base.errors import SynthesisFailed
from knowlex.runtime.components import component
from rag.chat.protocol import ChatModel, user
from rag.prompts import says_not_found
from rag.protocols import Widening
from rag.types.answer import Reason
from rag.types.context import Place
from rag.types.question import Question, Variant
from rag.types.retrieval import Examination, Passage, Retrieval, Saying

MAX_TOKENS = 150
MAX_EXPANSIONS = 3
MAX_CHARS = 2000  # of each, as of a question

_HYDE = """Given the question, write a short paragraph
that would answer it. Write as if you know the answer.

Question: {query}

Hypothetical answer:"""
_EXPANSIONS = """Generate 3 alternative phrasings of this question:

Question: {query}

Alternative phrasings:
1."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")
_NUMBERED = re.compile(r"[*_#>\s-]*\(?(\d{1,2})\s?[.):\]][*_]*\s+(?=\S)")
_BULLET = re.compile(r"\s*[-*•–]\s+(?=\S)")
_SPACES = re.compile(r"[ \t]+")
_IN_ONE_LINE = re.compile(r" (?=\(?[23][.)] \S)")
_AROUND = " \t\"'`*_“”„«»‘’"
_NO_WORD = re.compile(r"[\W_]+")


def hyde_prompt(question: str) -> str:
    return _HYDE.format(query=_one_line(question))


def expansion_prompt(question: str) -> str:
    return _EXPANSIONS.format(query=_one_line(question))


def hypothetical_answer(reply: str) -> str:
    """Return the paragraph, on one line; "" where the model declined to write one."""
    text = _one_line(reply).removeprefix("Hypothetical answer:").strip()
    return "" if says_not_found(text) or not any(map(str.isalpha, text)) else text[:MAX_CHARS].rstrip()


def expansions(reply: str, question: str) -> tuple[str, ...]:
    """Return at most three other phrasings, none the question itself and none twice.

    The prompt has begun the list: a reply goes on after its "1.", or begins it anew. What stands before the
    numbers or goes on after them is no phrasing; without numbers, bullets are, or the first line.
    """
    seen = {_words(question)}
    found: list[str] = []
    for item in _items(reply[: 8 * MAX_CHARS]):
        text = _one_line(item)[:MAX_CHARS].strip(_AROUND)
        if any(map(str.isalpha, text)) and _words(text) not in seen:
            seen.add(_words(text))
            found.append(text)
    return tuple(found[:MAX_EXPANSIONS])


def _items(reply: str) -> list[str]:
    lines = [line for line in _IN_ONE_LINE.sub("\n", _SPACES.sub(" ", reply)).splitlines() if line.strip()]
    numbered = [(int(match[1]), line[match.end() :]) for line in lines if (match := _NUMBERED.match(line))]
    if not numbered:
        bullets = [line[match.end() :] for line in lines if (match := _BULLET.match(line))]
        return bullets or _first(lines)
    continued = _first(lines) if numbered[0][0] == 2 else []
    return continued + [text for _, text in numbered]


def _first(lines: list[str]) -> list[str]:
    """Return the first line, unless it only announces what follows."""
    return [line for line in lines[:1] if not line.rstrip().endswith(":")]


def _one_line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


def _words(text: str) -> str:
    """Return letters and digits alone, for comparing."""
    return _NO_WORD.sub(" ", text).strip().casefold()


KEPT, KEPT_S = 500, 300.0  # questions, at most 8 kB each


class Rewriter:
    """timeout_s: of each call. What a model wrote for a question is kept for a while, if it wrote both."""

    def __init__(self, model: ChatModel, *, timeout_s: float) -> None:
        self._model, self._timeout_s = model, timeout_s
        self._kept: OrderedDict[str, tuple[float, tuple[Variant, ...]]] = OrderedDict()
        self._calls = self._failures = 0

    async def variants(self, question: str, *, within_s: float = math.inf) -> tuple[Variant, ...]:
        """Return the variants; () if the model fails, or takes longer than this or its own limit. Never
        raises.
        """
        kept = self._recall(question)
        if kept is not None:
            return kept
        answer, phrasings = await asyncio.gather(
            self._reply(hyde_prompt(question), within_s), self._reply(expansion_prompt(question), within_s)
        )
        hypothetical = hypothetical_answer(answer)
        found = [Variant(hypothetical, hypothetical=True)] if hypothetical else []
        found += [Variant(text, hypothetical=False) for text in expansions(phrasings, question)]
        if answer and phrasings:
            self._keep(question, tuple(found))
        return tuple(found)

    async def _reply(self, prompt: str, within_s: float) -> str:
        """Return the model's reply, "" if there is none."""
        self._calls += 1
        try:
            async with asyncio.timeout(min(self._timeout_s, within_s)):
                return (await self._model.complete([user(prompt)], max_tokens=MAX_TOKENS)).text
        except (SynthesisFailed, TimeoutError) as exc:
            self._failures += 1
            totals = {"failures": self._failures, "calls": self._calls}
            log.warning("question not rewritten", extra={"error": type(exc).__name__, **totals})
            return ""

    def _recall(self, question: str) -> tuple[Variant, ...] | None:
        written_at, variants = self._kept.get(question, (-KEPT_S, ()))
        return variants if time.monotonic() - written_at < KEPT_S else None

    def _keep(self, question: str, variants: tuple[Variant, ...]) -> None:
        self._kept[question] = (time.monotonic(), variants)
        self._kept.move_to_end(question)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)


log = logging.getLogger(__name__)
MODES = ("hybrid", "dense")  # in the others no model is called


class RewritingRetriever:
    """Around PLAIN_RETRIEVER, with CHAT_MODEL where one is configured.

    on: for questions that do not say whether. timeout_s: of each call of the chat model. plain: instead of
    the part.
    """

    def __init__(self, *, on: bool = False, timeout_s: float = 3.0, plain: Widening | None = None) -> None:
        self._on, self._timeout_s, self._given = on, timeout_s, plain
        self._rewriter: Rewriter | None = None

    async def retrieve(self, question: Question) -> Retrieval:
        plain = self._plain()
        if not self._wanted(question):
            return await plain.retrieve(question)
        if "CHAT_MODEL" not in settings.KNOWLEX:
            log.info("no chat model to rewrite the question with")
            return replace(await plain.retrieve(question), rewriting="unavailable")
        return await self._rewritten(plain, question)

    async def retrieve_within(self, question: Question, document_ids: Collection[UUID]) -> Retrieval:
        """Retrieve by the plain search."""
        return await self._plain().retrieve_within(question, document_ids)

    async def find_sayings(self, question: Question, lexemes: Collection[str]) -> Sequence[Saying]:
        """Look up by the plain search."""
        return await self._plain().find_sayings(question, lexemes)

    async def examine(self, question: Question, chunk_id: UUID) -> Examination:
        """Examine by the plain search."""
        return await self._plain().examine(question, chunk_id)

    async def neighbours(
        self, question: Question, found: Retrieval, places: Sequence[Place]
    ) -> tuple[Passage, ...]:
        """Fetch by the plain search."""
        return await self._plain().neighbours(question, found, places)

    async def sample(
        self, question: Question, found: Retrieval, document_id: UUID, count: int
    ) -> tuple[Passage, ...]:
        """Fetch by the plain search."""
        return await self._plain().sample(question, found, document_id, count)

    async def suggest(self, question: Question, *, sure: bool = False) -> str | None:
        return await self._plain().suggest(question, sure=sure)

    async def respell(self, question: Question) -> str | None:
        return await self._plain().respell(question)

    async def why_nothing(self, question: Question) -> Reason:
        """Ask the plain search."""
        return await self._plain().why_nothing(question)

    def _plain(self) -> Widening:
        return self._given or component("PLAIN_RETRIEVER", Widening)

    def _wanted(self, question: Question) -> bool:
        return question.mode in MODES and (self._on if question.rewrite is None else question.rewrite)

    async def _rewritten(self, plain: Widening, question: Question) -> Retrieval:
        """Search by variants. `rewrite` among the stages is the chat model's time, mostly beside the
        plain search.
        """
        started, took = time.perf_counter(), 0.0

        async def variants() -> Sequence[Variant]:
            nonlocal took
            try:
                return await self._model().variants(question.text, within_s=question.spare(self._timeout_s))
            finally:
                took = round((time.perf_counter() - started) * 1000, 3)

        writing = asyncio.create_task(variants())
        try:
            found = await plain.retrieve_widened(question, writing)
        finally:
            writing.cancel()  # where nothing can be found, or the search has failed
        return replace(found, stage_ms={**found.stage_ms, "rewrite": took})

    def _model(self) -> Rewriter:
        if self._rewriter is None:
            self._rewriter = Rewriter(component("CHAT_MODEL", ChatModel), timeout_s=self._timeout_s)
        return self._rewriter
