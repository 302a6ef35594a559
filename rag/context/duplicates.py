"""Which passages say the same. Plain Python."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from rag.types.retrieval import Passage

_PROBE = 24  # characters; most texts that do not contain another lack even its beginning


@lru_cache(maxsize=2048)
def wording(content: str) -> str:
    """The text with its white space evened out."""
    return " ".join(content.split())


def distinct(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Without a chunk that came before, or one that says the same word for word; the order is kept."""
    seen: set[object] = set()
    for passage in passages:
        words = wording(passage.content)
        if passage.chunk_id not in seen and words not in seen:
            yield passage
        seen.update((passage.chunk_id, words))


def uncontained(passages: Iterable[Passage]) -> list[Passage]:
    """Without what another passage says as well, word for word, in the midst of more.

    One that says more takes the place of the better one that it contains. Chunks of one text that overlap
    are not looked at: they are put together by their places.
    """
    kept: list[Passage] = []
    for passage in distinct(passages):
        if not any(_contains(other, passage) for other in kept):
            _put(passage, kept)
    return kept


def _put(passage: Passage, kept: list[Passage]) -> None:
    within = [place for place, other in enumerate(kept) if _contains(passage, other)]
    if not within:
        kept.append(passage)
        return
    kept[within[0]] = passage
    for place in reversed(within[1:]):
        del kept[place]


def _contains(larger: Passage, smaller: Passage) -> bool:
    whole, part = wording(larger.content), wording(smaller.content)
    return (
        len(part) <= len(whole)
        and part[:_PROBE] in whole
        and part in whole
        and not overlapping(larger, smaller)
    )


def overlapping(one: Passage, other: Passage) -> bool:
    """Whether they are of one text and really share what their places there say that they share."""
    if one.document_id != other.document_id:
        return False
    start = max(one.start_char, other.start_char)
    end = min(one.start_char + len(one.content), other.start_char + len(other.content))
    return start < end and (
        one.content[start - one.start_char : end - one.start_char]
        == other.content[start - other.start_char : end - other.start_char]
    )
