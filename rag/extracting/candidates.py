"""The sentences of a context that may answer a question, and how well each one does. Plain Python."""

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from documents.text.tables import CELLS
from documents.text.terms import find_parent_item, find_term
from embeddings.lexical.sentences import Sentence
from rag.extracting.headings import HeadingsAbove, identifiers_in
from rag.extracting.rows import rows_said
from rag.extracting.sentence_form import (
    Form,
    asked_words,
    defines,
    expected_kinds,
    has_fact,
    has_kind,
    has_turn,
    is_called,
    tells_way,
)
from rag.ranking.logits import logit_of
from rag.ranking.sentences import analysis_in, words_of
from rag.types.context import Block, Context
from rag.types.retrieval import Passage
from rag.types.sentences import SentenceScore

MOST_WORDS = 80  # of a sentence put together
MOST_OF_TITLE = 16  # words
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
            and not _is_title(block.content[units[-1].start : units[-1].end], passages[passage])
        ):
            units[-1] = _joined(units[-1], sentence, score)
        else:
            units.append(_unit(number, passage, sentence, score))
    return units


def goes_on(text: str) -> bool:
    """Tell whether a text begins as only the middle of a sentence does."""
    return _GOES_ON.match(text) is not None and not _TERM.match(text)


def _is_title(text: str, passage: Passage) -> bool:
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


# Added to the cosines' spread, so that equal ones stay equal; less where all are near 1, as with e5 models.
LEAST_SPREAD, LEAST_OF_ROOM = 0.05, 0.1
LEAST_WORDS = 4  # of a sentence that ends with a colon
LEAST_ROW = 0.75  # of the words of a row's own head
_TOTAL = words_of("total", "en")  # "total net sales" are net sales
_BRACKETED = re.compile(r" \([^()]*\)")  # "Methane (CH4)"
_EXPLAINED: frozenset[Form] = frozenset({"reason", "contrast"})  # never by a figure
LONG = 40  # words; what is longer says more than an answer
_HEADING = re.compile(r"#{1,6}\s")
# What a chapter is to teach: "* Describe the structure of ..."
_AIM = re.compile(
    r"(?:[-*+•‣▪●◦○■□►–—]\s+)?(?:describe|explain|discuss|identify|define|list|compare|contrast|summari[sz]e|distinguish"
    r"|outline|understand|recogni[sz]e)\b",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"(?:\.[ .]){4}|…{2}")  # dots that lead to a page's number
_ASIDE = re.compile(r"^\([^()]*\)\W*$")  # "(dollars in millions)": of what stands beside it
# Two authors of a bibliography's entry, "Rodriguez JL, Lopez JM," or "Smith, J. A., Doe, B."
_CITED_WORK = re.compile(
    r"(?:\b[^\W\d_a-z][\w'’-]+ [A-Z]{1,3}(?:, | and |: )){2}"
    r"|(?:\b[^\W\d_a-z][\w'’-]+, (?:[A-Z]\.[ -]?){1,3},? (?:& |and )?){2}"
)
_WORD = re.compile(r"[^\W\d_]{2}|[\u2e80-\u9fff\uac00-\ud7af]")
_TAG = re.compile(r"</?[a-z][^<>]{0,500}>", re.IGNORECASE)
MOST_MARKUP = 0.5  # of a sentence's characters
_MARKS = re.compile(r"```|~~~")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
COLONS = (":", "：")
SURELY_WORDED = 60  # characters
PROMISED = 12  # sentences after it are looked at for what a colon promises
_BE = r"(?:['’]s|\s(?:is|was|has\sbeen|may\sbe|can\sbe|could\sbe|should\sbe|will\sbe|remains|seems|appears))"
_IMPERSONAL = (
    r"(?:advisable|agreed|announced|assumed|believed|best|better|clear|common|decided|difficult|easy|estimated"
    r"|expected|fine|good|hard|helpful|important|impossible|known|likely|necessary|normal|ok(?:ay)?|possible"
    r"|proposed|recommended|safe|said|suggested|thought|true|unclear|unlikely|useful|usual|worth)"
)
# What a sentence begins with that another one before it is about; not "It was decided that", "This year".
_PRONOUN = re.compile(
    rf"(?:it(?!{_BE}\s(?:\w+ly\s)?{_IMPERSONAL}\b)"
    r"|he|she|they|his|her|its|their|er|sie|dies|él|ella|ellos|ellas|est[aeo]s?"
    r"|th(?:is|ese)(?=\s(?:is|are|was|were|has|have|had|can|could|may|might|must|will|would|shall|should|does|do"
    r"|did|means?|meant|includes?|included|allows?|makes?|made|gives?|takes?|applies|apply|also|only|too)\b))\b",
    re.IGNORECASE,
)
_THIS = re.compile(r"th(?:is|ese)\s", re.IGNORECASE)
_TERMED = re.compile(r"[-*+•] [^:]{1,120}: \S")  # an item that begins with its term
_LISTED = re.compile(r"(?:[-*+•‣▪●◦○■□►–—]|\(?(?:\d{1,2}|[a-z])[.)])\s")
_LABELLED = re.compile(r"(?:[-*+•] )?([^\W\d_][^:.!?\n]{0,40}): \S")  # "Default: 6432"
LONGEST_FIELD, LONGEST_TERM, LONGEST_HEADING = 12, 4, 25  # words
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]")
WIDE_PER_WORD = 2  # characters of scripts without spaces


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


# Hundreds of traits are made for a question, by place: by name takes twice as long.
_WITHOUT_FORMS = Traits._fields.index("fact")


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


def candidates_of(question: str, context: Context) -> list[AnswerCandidate]:
    """Return all sentences of the context as candidates, but for those of chunks of which nothing is said."""
    usual, spread = _cosines(context.passages)
    relevance = [logit_of(passage.relevance) for passage in context.passages]
    best = max(relevance, default=0.0)
    found: list[AnswerCandidate] = []
    for number, block in enumerate(context.blocks, start=1):
        reading = _BlockWalk(block, context.passages, question, usual, spread)
        units = [
            unit
            for unit in units_of(number, block, context.passages)
            if context.passages[unit.passage].chunk_id not in context.unsaid
        ]
        found += _ended([reading.next(unit, relevance[unit.passage] - best) for unit in units])
    return found


def _ended(candidates: list[AnswerCandidate]) -> list[AnswerCandidate]:
    """Mark what ends with a colon as complete, if what it promises follows."""
    for n, one in enumerate(candidates):
        if one.text.endswith(COLONS) and completing(one, candidates):
            candidates[n] = one._replace(traits=one.traits._replace(incomplete=0.0))
    return candidates


def completing(one: AnswerCandidate, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return what a sentence that ends with a colon promises: the items of a list, the next sentence, or one
    line of code. A program says nothing on one line.
    """
    if not one.text.endswith(COLONS) or one.length < LEAST_WORDS:
        return []
    after = [other for other in candidates if other.number == one.number and other.place > one.place]
    told = [other for other in after[:PROMISED] if other.worded]
    items = list(takewhile(lambda other: begins_item(other.text), told))
    if items or not told:
        return items
    lines = sum(other.code for other in takewhile(lambda other: other.code, told))
    return told[:1] if lines == 1 or (not lines and told[0].unit.complete) else []


def begins_item(text: str) -> bool:
    """Tell whether it begins with the sign or the number of a list's item."""
    return _LISTED.match(text) is not None


def leading(one: AnswerCandidate, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return the sentence before one whose subject is a pronoun, if that tells what the pronoun means; or the
    one that begins its item of a list with the term that all of the item is about.
    """
    if one.item < one.place:
        begins = [other for other in candidates if (other.number, other.place) == (one.number, one.item)]
        if begins and _TERMED.match(begins[0].text):
            return begins
    if not _PRONOUN.match(one.text):
        return []
    before = [other for other in candidates if (other.number, other.place) == (one.number, one.place - 1)]
    return [
        other for other in before if other.unit.complete and other.worded and not (other.naming or other.code)
    ]


def heading(one: AnswerCandidate, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return the heading above a line, if it has words of the question that the line lacks: "Pension" above
    "Grade 13: 8 %"; and the one above "This role ...", which may name it. Other sentences tell by themselves
    what they are about.
    """
    named = one.unit.complete and _THIS.match(one.text) and not _PRONOUN.match(one.text)
    if one.is_row or not one.heading or (one.unit.complete and not named):
        return []
    before = [other for other in candidates if other.number == one.number and other.place < one.place]
    above = [other for other in before if other.naming and (named or other.asked - one.asked)]
    return [other for other in above[-1:] if other.text.endswith(one.heading)]


def with_forms(question: str, candidate: AnswerCandidate, context: Context) -> Traits:
    """Return all traits of a candidate, those of its form included."""
    forms = expected_kinds(question)
    block = context.blocks[candidate.number - 1]
    text = block.content[candidate.unit.start : candidate.unit.end]
    asked, language = asked_words(question, block.language), block.language
    shown = (
        float(has_fact(forms, text, question, language)),
        float(has_turn(forms, text)),
        defines(question, text, asked, candidate.asked, language),
        float(has_kind(question, candidate.text, candidate.unit.words, asked, language)),
        float(is_called(forms, text, question)),
        candidate.traits.row or asked_share(question, candidate, block),
        float(tells_way(forms, text)),
    )
    return Traits._make((*candidate.traits[:_WITHOUT_FORMS], *shown))


def asked_share(question: str, candidate: AnswerCandidate, block: Block) -> float:
    """Return the share of the words of a row's own head that are asked for; 0 if these are few, or no row."""
    row = rows_said(question, block).get(candidate.unit.start)
    if row is None or expected_kinds(question) & _EXPLAINED:
        return 0.0
    words = words_of(_BRACKETED.sub("", row.row.cells[0]), block.language) - _TOTAL
    share = len(words & candidate.asked) / len(words) if words else 0.0
    return share if share >= LEAST_ROW else 0.0


class _BlockWalk:
    """Goes down one block and remembers what stands above."""

    def __init__(
        self, block: Block, passages: Sequence[Passage], question: str, usual: float, spread: float
    ) -> None:
        self._block, self._rows, self._passages = block, rows_said(question, block), passages
        asked = self._asked = asked_words(question, block.language)
        self._usual, self._spread = usual, spread
        self._titles = {
            part.passage: _titles(passages[part.passage], block.language) & asked for part in block.parts
        }
        # One fence alone, in a text that tells of fences or a chunk that ends in a program, tells nothing.
        self._has_code = _MARKS.search(block.content) is not None and _fences(block.content) % 2 == 0
        self._in_code = False
        self._ended = False
        self._since = self._term = frozenset[str]()
        first = passages[block.parts[0].passage]
        outer = first.section or first.chapter
        self._headings = HeadingsAbove(block.content, outer, identifiers_in(question))
        self._before = 0.0
        self._place = -1
        self._line, self._item = -1, 0
        self._share = 1 / max(1, len(asked))

    def next(self, unit: Unit, relevance: float) -> AnswerCandidate:
        self._place += 1
        line = self._block.content.rfind("\n", 0, unit.start)
        if line != self._line or not self._place:
            self._line, self._item = line, self._place
        written = self._block.content[unit.start : unit.end]
        code = self._code(written)
        row = self._rows.get(unit.start)
        text = row.text if row else " ".join(written.split())
        asked = unit.words & self._asked
        self._headings.come_to(unit.start)
        term = find_term(self._block.content, unit.start, unit.end)
        is_title = term is not None and term.end == unit.end
        is_title = not unit.complete and (is_title or self._is_heading(unit, text))
        is_title = is_title or text.endswith(("?", "？"))
        naming = is_title or any(form.search(text) for form in (_LEADERS, _CITED_WORK, _ASIDE))
        naming = naming or _LEADERS.match(self._block.content, unit.end - 1) is not None
        worded = (len(text) > SURELY_WORDED or _WORD.search(text) is not None) and not _is_markup(text)
        length = length_of(text)
        traits = self._traits(unit, asked, relevance, length)
        if not self._ended and goes_on(written):
            traits = traits._replace(incomplete=1.0)
        if not naming and (self._headings.last.named or self._is_field(text, length)):
            traits = traits._replace(row=1.0)
        self._ended = unit.complete or naming
        self._before = 0.0 if naming else traits.similarity
        self._since |= asked
        above = self._headings.last.text
        if term:
            words = words_of(term.text, self._block.language)
            self._headings.enter(term.text, words & self._asked, term.indent)
        elif parent := find_parent_item(self._block.content, unit.start, unit.end):
            self._headings.enter_item(parent.text, asked, parent.indent)
        elif naming and not self._is_within_item(line):
            tells = is_title and unit.words and length <= LONGEST_HEADING
            self._headings.enter(text if tells else above, asked)
        if naming or (not unit.complete and length <= LONGEST_TERM and ":" not in text):
            self._term = unit.words
        return AnswerCandidate(
            unit,
            unit.number,
            self._place,
            text,
            asked,
            naming,
            worded,
            code,
            length,
            traits,
            row is not None,
            self._item,
            above,
            asked & words_of(" ".join((row.row.group, *row.row.cells)), self._block.language)
            if row
            else asked,
        )

    def _is_within_item(self, line: int) -> bool:
        """Tell whether it stands in an item of a list, but does not begin it: what is asked there is no
        heading of the items behind it.
        """
        return self._item < self._place and _LISTED.match(self._block.content, line + 1) is not None

    def _code(self, written: str) -> int:
        """Count its lines between two fences."""
        if not self._has_code:
            return 0
        was, fences = self._in_code, _fences(written)
        self._in_code ^= fences % 2 == 1
        return written.count("\n") + 1 - fences if was or fences else 0

    def _is_heading(self, unit: Unit, text: str) -> bool:
        if unit.words <= self._asked or _HEADING.match(text) or _AIM.match(text):
            return True
        return _is_title(text, self._passages[unit.passage])

    def _is_field(self, text: str, length: float) -> bool:
        if length > LONGEST_FIELD or not self._term or not self._term <= self._asked:
            return False
        label = _LABELLED.match(text)
        words = words_of(label[1], self._block.language) if label else frozenset()
        return bool(words) and words <= self._asked

    def _traits(self, unit: Unit, asked: frozenset[str], relevance: float, length: float) -> Traits:
        share = self._share
        titles = self._titles.get(unit.passage, frozenset())
        return Traits(
            0.0 if unit.similarity is None else (unit.similarity - self._usual) / self._spread,
            self._before,
            len(asked) * share if unit.coverage is None else unit.coverage,
            len((titles | self._headings.last.asked) - asked) * share,
            len((titles | self._since) - asked) * share,
            relevance,
            float(not unit.complete),
            math.log(length / LONG) if length > LONG else 0.0,
        )


def _is_markup(text: str) -> bool:
    """Tell whether it is mostly HTML, as the pictures and tables in much Markdown are, or a fence."""
    if " " not in text and _MARKS.match(text):
        return True
    return "<" in text and len(_TAG.sub("", text)) < (1 - MOST_MARKUP) * len(text)


def _fences(text: str) -> int:
    return len(_FENCE.findall(text))


def _cosines(passages: Sequence[Passage]) -> tuple[float, float]:
    """Return mean and spread of all sentences' cosines to the question."""
    found = [s.similarity for passage in passages for s in passage.sentences if s.similarity is not None]
    mean = sum(found) / max(1, len(found))
    squares = sum([(cosine - mean) ** 2 for cosine in found])
    least = min(LEAST_SPREAD, LEAST_OF_ROOM * (1 - mean))
    return mean, math.sqrt(squares / max(1, len(found))) + least


def length_of(text: str) -> float:
    """Return the length in words; two characters of a script without spaces count as one."""
    words = text.count(" ") + 1
    return words if text.isascii() else words + len(_WIDE.findall(text)) / WIDE_PER_WORD


def _titles(passage: Passage, language: str) -> frozenset[str]:
    return words_of(f"{passage.title} {passage.chapter} {passage.section}", language)
