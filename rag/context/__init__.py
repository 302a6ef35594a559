"""Which passages the synthesizer is shown, and how much of each. Plain Python."""

from collections.abc import Iterable, Sequence

from rag.context.fitting import context_from, fit_passages
from rag.context.selection import distinct, uncontained
from rag.context.tokens import CONTEXT_TOKENS, Ruler
from rag.types.context import Block, Context, Part
from rag.types.retrieval import Passage

__all__ = ["CONTEXT_TOKENS", "assemble", "context_of", "distinct"]

_RULER = Ruler()


def assemble(
    passages: Iterable[Passage], budget_tokens: int = CONTEXT_TOKENS, ruler: Ruler = _RULER
) -> Context:
    """As much of the passages, best first, as the budget has room for; no text twice.

    What repeats another is left out, chunks that overlap or follow each other become one block, and one that
    fits in part is cut at a sentence's end.
    """
    return context_from(fit_passages(uncontained(passages), budget_tokens, ruler))


def context_of(passages: Sequence[Passage]) -> Context:
    """Every passage as a block of its own."""
    blocks = (
        Block(p.content, (Part(0, len(p.content), place, 0),), p.language) for place, p in enumerate(passages)
    )
    return Context(tuple(blocks), tuple(passages))
