"""The sentences of a context that may answer a question, and how well each one does. Plain Python."""

import math
import re
from collections.abc import Sequence

from documents.text.terms import find_parent_item, find_term
from rag.extracting.company import COLONS, begins_item, completing
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
from rag.extracting.units import AnswerCandidate, Traits, Unit, goes_on, is_title, units_of
from rag.ranking.logits import logit_of
from rag.ranking.sentences import words_of
from rag.types.context import Block, Context
from rag.types.retrieval import Passage

# Added to the cosines' spread, so that equal ones stay equal; less where all are near 1, as with e5 models.
LEAST_SPREAD, LEAST_OF_ROOM = 0.05, 0.1
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
SURELY_WORDED = 60  # characters
_LABELLED = re.compile(r"(?:[-*+•] )?([^\W\d_][^:.!?\n]{0,40}): \S")  # "Default: 6432"
LONGEST_FIELD, LONGEST_TERM, LONGEST_HEADING = 12, 4, 25  # words
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]")
WIDE_PER_WORD = 2  # characters of scripts without spaces


# Hundreds of traits are made for a question, by place: by name takes twice as long.
_WITHOUT_FORMS = Traits._fields.index("fact")


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
        return self._item < self._place and begins_item(self._block.content, line + 1)

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
        return is_title(text, self._passages[unit.passage])

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
