"""Variants of a question from a chat model: a hypothetical answer and other phrasings, asked for at once.

Gao, Ma, Lin, Callan: Precise Zero-Shot Dense Retrieval without Relevance Labels (HyDE), ACL 2023.
"""

import asyncio
import logging
import math
import time
from collections import OrderedDict

from knowlex.common.errors import SynthesisFailed
from rag.chat.protocol import ChatModel, user
from rag.rewriting.prompts import MAX_TOKENS, expansion_prompt, expansions, hyde_prompt, hypothetical_answer
from rag.rewriting.types import Variant

log = logging.getLogger(__name__)
KEPT, KEPT_S = 500, 300.0  # questions, at most 8 kB each


class Rewriter:
    """timeout_s: of each call. What a model wrote for a question is kept for a while, if it wrote both."""

    def __init__(self, model: ChatModel, *, timeout_s: float) -> None:
        self._model, self._timeout_s = model, timeout_s
        self._kept: OrderedDict[str, tuple[float, tuple[Variant, ...]]] = OrderedDict()
        self._calls = self._failures = 0

    async def variants(self, question: str, *, within_s: float = math.inf) -> tuple[Variant, ...]:
        """() if the model fails, or takes longer than this or its own limit: never raises."""
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
        """ "" if there is none."""
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
