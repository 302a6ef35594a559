"""The sentences of a block, put together where a page's end tore them, and what is known of each.

Plain Python.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from documents.text.tables import CELLS
from documents.text.terms import find_term
from embeddings.lexical.sentences import Sentence
from rag.ranking.sentences import analysis_in
from rag.types.context import Block
from rag.types.retrieval import Passage
from rag.types.sentences import SentenceScore

MOST_WORDS = 80  # of a sentence put together
MOST_OF_TITLE = 16  # words
LEAST_BEGUN_WORDS = 4  # that a sentence without an end begins with; fewer are a heading or a cell
# What follows a page's end: perhaps the page's number, "1 / 4", and then the sentence goes on.
_GOES_ON = re.compile(r"(?:\d{1,4}\s*(?:[/|]\s*\d{1,4})?\s+)?[a-zß-öø-ÿ]")
_HEADING = re.compile(r"#{1,6}\s")
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
    """Return the sentences of a block in reading order."""
    scores = _scores(block, passages)
    starts = list(scores)
    units: list[Unit] = []
    for sentence in analysis_in(block).sentences:
        within = starts[bisect_left(starts, sentence.start) : bisect_left(starts, sentence.end)]
        passage = scores[within[0]][0] if within else _passage_at(block, sentence.start)
        score = _together([scores[start][1] for start in within])
        if (
            units
            and _is_torn(units[-1], sentence, block.content)
            and not is_title(block.content[units[-1].start : units[-1].end], passages[passage])
        ):
            units[-1] = _joined(units[-1], sentence, score)
        else:
            units.append(_unit(number, passage, sentence, score))
    return units


def goes_on(text: str) -> bool:
    """Tell whether a text begins as only the middle of a sentence does."""
    return _GOES_ON.match(text) is not None and not _TERM.match(text)


def is_title(text: str, passage: Passage) -> bool:
    """Tell whether it is the heading that the passage stands below; a long one may be no heading in truth."""
    text = _HEADING.sub("", text)
    return text in (passage.section, passage.chapter, passage.title) and text.count(" ") < MOST_OF_TITLE


def _scores(block: Block, passages: Sequence[Passage]) -> dict[int, tuple[int, SentenceScore]]:
    """Return each sentence's passage and score by its start in the block, in reading order."""
    return {
        part.start + score.start - part.begin: (part.passage, score)
        for part in block.parts
        for score in passages[part.passage].sentences
        if part.begin <= score.start < part.begin + part.length
    }


def _together(pieces: Sequence[SentenceScore]) -> SentenceScore | None:
    """Combine the scores of a sentence whose pieces are in several passages, each scored for itself."""
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
    """Tell whether it has no end and what follows begins as only the middle of a sentence does."""
    if unit.complete or not _GOES_ON.match(content, following.start) or _SIGN.match(content, unit.start):
        return False
    if find_term(content, following.start, following.end):
        return False
    begun = content[unit.start : unit.end]
    if begun.endswith((":", "?", "|")) or CELLS in content[unit.start : following.end]:
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


class Traits(NamedTuple):
    """similarity: the cosine to the question, in spreads above the mean; before: that of the sentence before.

    coverage: the share of the question's idf mass in it. headed: the share of the question's words that it
    lacks but its titles, or the heading or question above it, hold; since: that all above it hold. relevance:
    logit of its passage's, less the best one's. incomplete: it does not end as a sentence does. length: ln of
    its words over `LONG`. fact and those after it: it has the form of an answer (see sentence_form). row: the
    share of the words of a table's row, its heads apart, that the question asks for; 1 for a field, "Default:
    6432", of which it asks for the label and the heading above, and for what is below the option it asks for.
    """

    similarity: float
    before: float
    coverage: float
    headed: float
    since: float
    relevance: float
    incomplete: float
    length: float
    fact: float = 0.0
    turn: float = 0.0
    term: float = 0.0
    kind: float = 0.0
    called: float = 0.0
    row: float = 0.0
    way: float = 0.0


class AnswerCandidate(NamedTuple):
    """A unit, in block `number` (from 1) its `place`-th (from 0).

    text: on one line. asked: the question's words that it holds. naming: a heading, a question or the entry
    of a bibliography, which has the words of a question and never its answer, or no words at all. code: of a
    program. length: in words. is_row: of a table whose head is known. item: the place of the first sentence
    on its line. heading: that it stands below, "" if none is known. own: as asked, but of a row without those
    of its table's title and heads. traits: all but `fact` and those after
    it; of a field `row`, too.
    """

    unit: Unit
    number: int
    place: int
    text: str
    asked: frozenset[str]
    naming: bool
    worded: bool
    code: int
    length: float
    traits: Traits
    is_row: bool = False
    item: int = 0
    heading: str = ""
    own: frozenset[str] = frozenset()
