"""From relevant passages to the context of one question. Plain Python, async."""

from collections.abc import Sequence

from rag.context import assemble
from rag.context.neighbours import completing, wanted
from rag.context.tokens import CONTEXT_TOKENS, Ruler, room_for_blocks
from rag.protocols import Completing
from rag.types import Context, Passage, Place, Question, Retrieval, Room


class ContextMaker:
    """budget: tokens of prompt and reply. window: of the chat model, None where it is large enough.

    beside: who fetches the chunks beside a hit; None for nobody.
    """

    def __init__(
        self,
        *,
        ruler: Ruler | None = None,
        budget: int = CONTEXT_TOKENS,
        window: int | None = None,
        beside: Completing | None = None,
    ) -> None:
        self._ruler = ruler or Ruler()
        self._budget, self._window, self._beside = budget, window, beside

    async def context(
        self, question: Question, found: Retrieval, relevant: Sequence[Passage], room: Room | None
    ) -> Context:
        """Of the relevant passages, best first, with what completes them; never more than `top_k` passages.

        found: the candidates that they were chosen from. room: what a chat model needs besides; None where
        none is asked.
        """
        limit = room_for_blocks(room, self._ruler, self._budget, self._window)
        neighbours = await self._neighbours(question, found, relevant)
        return assemble((*relevant, *neighbours), limit, self._ruler)

    async def _neighbours(
        self, question: Question, found: Retrieval, relevant: Sequence[Passage]
    ) -> list[Passage]:
        """Those that were candidates themselves are known already; the others are one more statement."""
        spare = question.top_k - len(relevant)
        asked = wanted(relevant) if spare > 0 and self._beside is not None else {}
        if not asked:
            return []
        known = {Place(p.document_id, p.chunk_index): p for p in found.passages}
        there = [known[place] for place in asked if place in known]
        missing = [place for place in asked if place not in known]
        if missing and self._beside is not None:
            there += await self._beside.neighbours(question, found, missing)
        return list(completing(there, asked))[:spare]
