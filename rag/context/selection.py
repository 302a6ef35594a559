"""The passages worth showing: none twice, none far from the question. Plain Python."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, zip_longest
from uuid import UUID

from rag.question_forms import Comparison
from rag.ranking.sentences import analysis_in, words_of_headings
from rag.types.context import Half
from rag.types.retrieval import NamedDocuments, Passage, Retrieval

TOGETHER = 5  # best passages


def together(passages: Sequence[Passage]) -> float:
    """Return the probability that one of the best passages helps, as if each were right or wrong by itself.

    For what needs several passages: none of them may say all of it.
    """
    best = sorted((passage.relevance for passage in passages), reverse=True)[:TOGETHER]
    return 1.0 - math.prod(1.0 - relevance for relevance in best)


def most_relevant(passages: Sequence[Passage]) -> float:
    return max((passage.relevance for passage in passages), default=0.0)


def as_sure_as_together(found: Retrieval) -> Retrieval:
    """Return what was found for a thing that is only named, its best passage as relevant as the best ones are
    together: each says something of it, and none has to say anything in particular.
    """
    passages = found.passages
    if not passages:
        return found
    best, relevance = max(passages, key=_relevance), together(passages)
    lifted = (one._replace(relevance=relevance) if one is best else one for one in passages)
    return replace(found, passages=tuple(lifted))


def stand_apart(halves: Sequence[Retrieval]) -> bool:
    """Return whether the most relevant passages of two things are of different documents."""
    best = [max(half.passages, key=_relevance) for half in halves if half.passages]
    return len({passage.document_id for passage in best}) == len(halves)


def tell_apart(two: Comparison, halves: Sequence[Retrieval], least: float) -> tuple[Half, ...]:
    """Return the halves of a question with the chunks that fit the other one better.

    least: the relevance from which on a chunk may answer both of two questions.
    """
    best: dict[UUID, float] = {}
    for passage in chain.from_iterable(half.passages for half in halves):
        best[passage.chunk_id] = max(passage.relevance, best.get(passage.chunk_id, 0.0))
    enough = least if two.asks_twice else math.inf
    return tuple(
        Half(text, _better_elsewhere(best, half, enough), half.named, two.bare)
        for text, half in zip(two.halves, halves, strict=True)
    )


def _better_elsewhere(best: Mapping[UUID, float], half: Retrieval, enough: float) -> frozenset[UUID]:
    """Return the chunks that are more relevant to another half, and not enough to this one."""
    here = {passage.chunk_id: passage.relevance for passage in half.passages}
    return frozenset(id_ for id_ in best if best[id_] > (own := here.get(id_, 0.0)) and own < enough)


def _relevance(passage: Passage) -> float:
    return passage.relevance


def merge_halves(whole: Retrieval, halves: Sequence[Retrieval], least: float) -> Retrieval:
    """Return what was found for a comparison and for each of the things compared, in turn.

    least: the relevance from which on a passage is found for the comparison itself; of such come two for each
    that is found for one of the things, the most relevant first: there is room for few of each. A passage is
    as relevant as to that which it fits best, and judged by that.
    """
    leading = [passage for passage in whole.passages if passage.relevance >= least]
    each = (sorted(half.passages, key=_relevance, reverse=True) for half in halves)
    lists = [leading[::2], leading[1::2], *each]
    best: dict[UUID, Passage] = {}
    for passage in chain(_in_turn(lists), whole.passages):
        known = best.get(passage.chunk_id)
        if known is None or passage.relevance > known.relevance:
            best[passage.chunk_id] = passage  # an id keeps the place at which it came first
    scored = [passage._replace(score=1 / place) for place, passage in enumerate(best.values(), start=1)]
    return replace(whole, passages=tuple(scored), named=None)  # the other thing may be of another document


OF_REST = 0.75  # what a score for the rest weighs, beside that for the whole question


def merge_rest(whole: Retrieval, rest: Retrieval, named: NamedDocuments) -> Retrieval:
    """Return what was found for a question that names documents, in one order with what was found in these
    for the rest of the question; behind that, what does not say the name.

    Their passages share the name, so the rest tells which of them answers: it decides on three quarters of
    the score and on their sentences, and the relevances that they have, each by what it fits best, are
    theirs in the new order. What only one search found has the other one's lowest score.
    """
    if not rest.passages:
        return whole
    least, least_of_rest = (min(p.score for p in one.passages) for one in (whole, rest))
    within = {passage.chunk_id: passage for passage in rest.passages}
    own: list[Passage] = []
    naming: list[Passage] = []
    others: list[Passage] = []
    for passage in whole.passages:
        if passage.document_id not in named.ids:
            (naming if says(named.name, passage) else others).append(passage)
        elif other := within.pop(passage.chunk_id, None):
            sentences = {name: getattr(other, name) for name in ("bounds", "similarities", "sentences")}
            relevance = max(passage.relevance, other.relevance)
            own.append(
                _rescored(passage, passage.score, other.score)._replace(relevance=relevance, **sentences)
            )
        else:
            own.append(_rescored(passage, passage.score, least_of_rest))
    own += [
        _rescored(passage, least, passage.score)._replace(dense_rank=None, sparse_rank=None)
        for passage in within.values()
    ]
    own.sort(key=_score, reverse=True)
    relevances = sorted(map(_relevance, own), reverse=True)
    own = [one._replace(relevance=relevance) for one, relevance in zip(own, relevances, strict=True)]
    passages = (*sorted([*own, *naming], key=_score, reverse=True), *others)
    return replace(whole, passages=passages, named=named)


def says(name: frozenset[str], passage: Passage) -> bool:
    """Return whether the passage, or what stands above it, has all of these lexemes."""
    return name <= analysis_in(passage).words | words_of_headings(passage)


def _score(passage: Passage) -> float:
    return passage.score


def _rescored(passage: Passage, whole: float, rest: float) -> Passage:
    score = (1 - OF_REST) * whole + OF_REST * rest
    return passage._replace(score=score, rerank_score=score)


def _in_turn(lists: Sequence[Sequence[Passage]]) -> Iterator[Passage]:
    for row in zip_longest(*lists):
        yield from (passage for passage in row if passage is not None)


def by_halves(passages: Sequence[Passage]) -> list[Passage]:
    """Order a document's passages as the first, the last, the middle one, and so on between them.

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


_PROBE = 24  # characters; most texts that do not contain another lack even its beginning


@lru_cache(maxsize=2048)
def wording(content: str) -> str:
    """Return the text with its white space evened out."""
    return " ".join(content.split())


def distinct(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Leave out a chunk that came before, or one that says the same word for word; keep the order."""
    seen: set[object] = set()
    for passage in passages:
        words = wording(passage.content)
        if passage.chunk_id not in seen and words not in seen:
            yield passage
        seen.update((passage.chunk_id, words))


def uncontained(passages: Iterable[Passage]) -> list[Passage]:
    """Leave out what another passage says as well, word for word, in the midst of more.

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
    """Return whether they are of one text and really share what their places there say that they share."""
    if one.document_id != other.document_id:
        return False
    start = max(one.start_char, other.start_char)
    end = min(one.start_char + len(one.content), other.start_char + len(other.content))
    return start < end and (
        one.content[start - one.start_char : end - one.start_char]
        == other.content[start - other.start_char : end - other.start_char]
    )
