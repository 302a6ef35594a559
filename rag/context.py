"""Which passages the synthesizer is given. Plain Python."""

from collections.abc import Iterable, Iterator, Sequence

from rag.types import Block, Context, Part, Passage

CONTEXT_TOKENS = 4000


def distinct(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Without a chunk that came before, or one that says the same word for word; the order is kept."""
    seen: set[object] = set()
    for passage in passages:
        wording = " ".join(passage.content.split())
        if passage.chunk_id not in seen and wording not in seen:
            yield passage
        seen.update((passage.chunk_id, wording))


def assemble(passages: Iterable[Passage], budget_tokens: int = CONTEXT_TOKENS) -> Context:
    """The best passages that fit the budget, in their order; one that does not fit is passed over."""
    chosen: list[Passage] = []
    left = budget_tokens
    for passage in passages:
        if passage.token_count <= left:
            chosen.append(passage)
            left -= passage.token_count
    return context_of(chosen)


def context_of(passages: Sequence[Passage]) -> Context:
    """Every passage as a block of its own."""
    blocks = (
        Block(p.content, (Part(0, len(p.content), place, 0),), p.language) for place, p in enumerate(passages)
    )
    return Context(tuple(blocks), tuple(passages))
