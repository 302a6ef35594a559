"""The sentences of a context's blocks, those that a page's end tore apart put together. Plain Python."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from rag.ranking.sentence_scores import SentenceScore
from rag.ranking.sentences import Sentence, analysis_of
from rag.types.context import Block
from rag.types.retrieval import Passage

MOST_WORDS = 80  # of a sentence put together
LEAST_BEGUN_WORDS = 4  # that a sentence without an end begins with; fewer are a heading or a cell
# What follows a page's end: perhaps the page's number, "1 / 4", and then the sentence goes on.
_GOES_ON = re.compile(r"(?:\d{1,4}\s*(?:[/|]\s*\d{1,4})?\s+)?[a-zß-öø-ÿ]")
_TERM = re.compile(r"[^\n]{1,80}\n[ \t]{0,3}:[ \t]")  # of a definition list
_SIGN = re.compile(r"(?:#{1,6}|[-*+•‣▪●◦○■□►–—|])\s")  # of a heading, a list item or a row


class Unit(NamedTuple):
    """`content[start:end]` of block `number` (from 1): a sentence, or one that goes on after a page's end.

    passage: its 0-based place in the context's passages. coverage: the share of the question's idf mass in
    it, similarity: its cosine to the question; both None where nobody scored it.
    """

    number: int
    passage: int
    start: int
    end: int
    words: frozenset[str]
    complete: bool
    coverage: float | None = None
    similarity: float | None = None


def units_of(number: int, block: Block, passages: Sequence[Passage]) -> list[Unit]:
    """In reading order."""
    scores = _scores(block, passages)
    starts = list(scores)
    units: list[Unit] = []
    for sentence in analysis_of(block.content, block.language).sentences:
        within = starts[bisect_left(starts, sentence.start) : bisect_left(starts, sentence.end)]
        passage = scores[within[0]][0] if within else _passage_at(block, sentence.start)
        score = _together([scores[start][1] for start in within])
        if units and _is_torn(units[-1], sentence, block.content):
            units[-1] = _joined(units[-1], sentence, score)
        else:
            units.append(_unit(number, passage, sentence, score))
    return units


def goes_on(text: str) -> bool:
    """It begins as only the middle of a sentence does."""
    return _GOES_ON.match(text) is not None and not _TERM.match(text)


def _scores(block: Block, passages: Sequence[Passage]) -> dict[int, tuple[int, SentenceScore]]:
    """Each sentence's passage and score, by its start in the block, in reading order."""
    return {
        part.start + score.start - part.begin: (part.passage, score)
        for part in block.parts
        for score in passages[part.passage].sentences
        if part.begin <= score.start < part.begin + part.length
    }


def _together(pieces: Sequence[SentenceScore]) -> SentenceScore | None:
    """Of a sentence whose pieces are of several passages: each was scored for itself."""
    if len(pieces) < 2:
        return pieces[0] if pieces else None
    similarities = [piece.similarity for piece in pieces if piece.similarity is not None]
    return SentenceScore(
        pieces[0].start,
        pieces[-1].end,
        min(1.0, sum(piece.coverage for piece in pieces)),
        min(1.0, sum(piece.coverage for piece in pieces[1:]) + pieces[0].coverage_with_previous),
        max(similarities, default=None),
    )


def _passage_at(block: Block, start: int) -> int:
    return next((p.passage for p in reversed(block.parts) if p.start <= start), block.parts[0].passage)


def _unit(number: int, passage: int, sentence: Sentence, score: SentenceScore | None) -> Unit:
    coverage, similarity = (score.coverage, score.similarity) if score else (None, None)
    start, end, words = sentence.start, sentence.end, sentence.words
    return Unit(number, passage, start, end, words, sentence.complete, coverage, similarity)


def _is_torn(unit: Unit, following: Sentence, content: str) -> bool:
    """It has no end, and what follows begins as only the middle of a sentence does."""
    if unit.complete or not _GOES_ON.match(content, following.start) or _SIGN.match(content, unit.start):
        return False
    begun = content[unit.start : unit.end]
    if begun.endswith((":", "?", "|")):
        return False
    words = len(begun.split())
    return LEAST_BEGUN_WORDS <= words <= MOST_WORDS - len(content[following.start : following.end].split())


def _joined(unit: Unit, following: Sentence, score: SentenceScore | None) -> Unit:
    coverage, similarity = unit.coverage, unit.similarity
    if score:
        coverage = max(coverage or 0.0, score.coverage_with_previous)
        similarity = max([s for s in (similarity, score.similarity) if s is not None], default=None)
    words = unit.words | following.words
    complete = following.complete
    return unit._replace(
        end=following.end, words=words, complete=complete, coverage=coverage, similarity=similarity
    )
