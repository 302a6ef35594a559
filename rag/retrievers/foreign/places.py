"""Where passages of one document stand to each other, as far as they tell. Plain Python."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from uuid import UUID

from rag.types.retrieval import Passage

APART = 1_000_000  # characters between chunks of which nobody knows whether anything lies between
LEAST_SHARED, MOST_SHARED = 20, 2000  # characters that one chunk repeats of the one before it


def placed(passages: Sequence[Passage]) -> list[Passage]:
    """In the same order, each with an index of its own in its document, and its `start_char`.

    Those of no index, or of one that another has, stand behind all others. A chunk that begins with the end
    of the one before it overlaps it; all others stand far apart, so that nothing is taken for one text.
    """
    of_document: dict[UUID, list[Passage]] = {}
    for passage in passages:
        of_document.setdefault(passage.document_id, []).append(passage)
    known = {one.chunk_id: one for held in of_document.values() for one in _started(_indexed(held))}
    return [known[passage.chunk_id] for passage in passages]


def _indexed(passages: Iterable[Passage]) -> list[Passage]:
    """In the order of their indexes."""
    taken: dict[int, Passage] = {}
    others: list[Passage] = []
    for passage in passages:
        if passage.chunk_index < 0 or passage.chunk_index in taken:
            others.append(passage)
        else:
            taken[passage.chunk_index] = passage
    # Two apart: what nobody numbered does not follow on anything.
    behind = max(taken, default=-2) + 2
    others = [one._replace(chunk_index=behind + 2 * n) for n, one in enumerate(others)]
    return [*(taken[index] for index in sorted(taken)), *others]


def _started(passages: Sequence[Passage]) -> list[Passage]:
    found = [passages[0]._replace(start_char=0)] if passages else []
    for before, passage in pairwise(passages):
        start = found[-1].start_char
        shared = _shared(before, passage) if passage.chunk_index == before.chunk_index + 1 else 0
        start += len(before.content) - shared if shared else APART
        found.append(passage._replace(start_char=start))
    return found


def _shared(before: Passage, passage: Passage) -> int:
    """Characters; 0 for none, or for so few that it may be chance."""
    one, other = before.content, passage.content
    probe, most = other[:LEAST_SHARED], min(len(one), len(other), MOST_SHARED)
    start = one.find(probe, len(one) - most) if most >= LEAST_SHARED else -1
    while start >= 0:
        if other.startswith(one[start:]):
            return len(one) - start
        start = one.find(probe, start + 1)
    return 0
