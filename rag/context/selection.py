"""Whether there is enough to answer, and the order in which passages are worth showing. Plain Python."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from uuid import UUID

from rag.types.retrieval import Passage, Retrieval

TOGETHER = 5  # best passages


def together(passages: Sequence[Passage]) -> float:
    """The probability that one of the best passages helps, as if each were right or wrong by itself.

    For what needs several passages: none of them may say all of it.
    """
    best = sorted((passage.relevance for passage in passages), reverse=True)[:TOGETHER]
    return 1.0 - math.prod(1.0 - relevance for relevance in best)


def both(whole: Retrieval, halves: Sequence[Retrieval], least: float) -> Retrieval:
    """What was found for a comparison and for each of the things compared, in turn.

    least: the relevance from which on a passage is found for the comparison itself; of such come two for each
    that is found for one of the things. A passage is as relevant as to that which it fits best, and judged
    by that.
    """
    leading = [passage for passage in whole.passages if passage.relevance >= least]
    lists = [leading[::2], leading[1::2], *(half.passages for half in halves)]
    best: dict[UUID, Passage] = {}
    for passage in chain(_in_turn(lists), whole.passages):
        known = best.get(passage.chunk_id)
        if known is None or passage.relevance > known.relevance:
            best[passage.chunk_id] = passage  # an id keeps the place at which it came first
    scored = [passage.but(score=1 / place) for place, passage in enumerate(best.values(), start=1)]
    return replace(whole, passages=tuple(scored))


def _in_turn(lists: Sequence[Sequence[Passage]]) -> Iterator[Passage]:
    for row in zip_longest(*lists):
        yield from (passage for passage in row if passage is not None)


def by_halves(passages: Sequence[Passage]) -> list[Passage]:
    """Those of a document in its order -> the first, the last, the middle one, and so on between them.

    However many of them there is room for, they are spread over the document.
    """
    if len(passages) < 3:
        return list(passages)
    order, gaps = [0, len(passages) - 1], [(0, len(passages) - 1)]
    while gaps:
        first, last = gaps.pop(0)
        middle = (first + last) // 2
        if middle > first:
            order.append(middle)
            gaps += [(first, middle), (middle, last)]
    return [passages[place] for place in order]
