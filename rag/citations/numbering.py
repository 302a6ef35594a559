"""An answer's markers as a face numbers them, whole or piece by piece. Plain Python, linear in the text."""

import re
from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import NamedTuple

from documents.text.sentences import sentence_spans
from embeddings.lexical.terms import lexemes
from rag.citations import without_markers
from rag.citations.markers import CONJUNCTION
from rag.types.answer import Answer

SNIPPET_CHARS = 200


def snippet(content: str, claim: str, limit: int = SNIPPET_CHARS) -> str:
    """Return at most `limit` characters, word for word, from the sentence nearest to the claim on."""
    claim_words = frozenset(lexemes(claim))
    spans = sentence_spans(content)
    start = max(spans, key=lambda span: _count_shared(content[slice(*span)], claim_words), default=(0, 0))[0]
    return _cut_snippet(content, start, spans, limit)


def snippet_from(content: str, start: int, limit: int = SNIPPET_CHARS) -> str:
    """Return at most `limit` characters, word for word, from this place on."""
    return _cut_snippet(content, start, sentence_spans(content), limit)


def _cut_snippet(content: str, start: int, spans: Sequence[tuple[int, int]], limit: int) -> str:
    if len(content) - start <= limit:
        return content[start:].strip()
    ends = [end for _, end in spans if start < end <= start + limit]
    return content[start : ends[-1] if ends else _word_end(content, start + limit)].strip()


def _count_shared(sentence: str, claim_words: frozenset[str]) -> float:
    """Count the claim's words in the sentence; of two with as many, the shorter one gets more."""
    words = lexemes(sentence)
    return len(claim_words.intersection(words)) + 1 / (2 + len(words))


def _word_end(content: str, position: int) -> int:
    """Return the last place up to `position` where no word is cut, if there is one near."""
    space = content.rfind(" ", position - 40, position)
    return space if space > 0 else position


def _join_cells(row: re.Match[str]) -> str:
    cells = (cell.strip() for cell in _BAR.split(row[1]))
    return ", ".join(cell for cell in cells if cell)


_BAR = re.compile(r"(?<!\\)\|")
_STAR = re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*\n]{1,1000}?)(?<=[^\s*\\])\*(?![\w*])")
_LINE = re.compile(r"(?<![\w_\\])_(?=[^\s_])([^_\n]{1,1000}?)(?<=[^\s_\\])_(?![\w_])")
_Replacement = str | Callable[[re.Match[str]], str]
_RULES: tuple[tuple[re.Pattern[str], _Replacement], ...] = (
    (re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE), ""),
    (re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,500}(?:[ \t]+\"[^\"\n]{0,200}\")?\)"), r"\1"),
    (re.compile(r"^(?=[^\n|]*\|)(?=[^\n-]*-)[ \t|:-]+$\n?", re.MULTILINE), ""),  # below a table's head
    (re.compile(r"^[ \t]*\|(.*)\|[ \t]*$", re.MULTILINE), _join_cells),
    (re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*)$", re.MULTILINE), lambda heading: heading[1].rstrip(" \t#")),
    (re.compile(r"^[ \t]{0,3}>[ \t]?", re.MULTILINE), ""),
    (re.compile(r"^[ \t]{0,3}(?:(?:[-*_][ \t]*){3,20}|={2,80}[ \t]*)$", re.MULTILINE), ""),
    (re.compile(r"^[ \t]{0,8}[*+•-][ \t]+", re.MULTILINE), ""),
    (_STAR, r"\1"),  # in what is bold, then around it
    (_LINE, r"\1"),
    (re.compile(r"(?<![\w\\])(\*\*\*?)(?=\S)([^*\n]{1,1000}?)(?<=[^\s\\])\1(?!\w)"), r"\2"),
    (re.compile(r"(?<![\w\\])(___?)(?=\S)([^_\n]{1,1000}?)(?<=[^\s\\])\1(?!\w)"), r"\2"),
    (re.compile(r"(?<![~\\])~~(?=\S)([^~\n]{1,1000}?)(?<=[^\s\\])~~(?!~)"), r"\1"),
    (_STAR, r"\1"),
    (_LINE, r"\1"),
    (re.compile(r"`([^`\n]{1,1000})`"), r"\1"),
    (re.compile(r"\\([*_#`~|>+.-])"), r"\1"),
    (re.compile(r"\n{3,}"), "\n\n"),
)
_MARKER = re.compile(r"\[\d{1,4}\]")
_OPENS = re.compile(r"[*_`\[\]()#!>~|\\]")  # may be the first half of something whose second half is to come
_EMPTY = re.compile(r"\([ \t,;]*\)|\[[ \t,;]*\]")  # goes if there is any marker in the text
_MARKERS_AT_END = re.compile(  # the comma, or "and", goes with the next marker
    rf"(?>\s{{0,4}}\[\d{{1,4}}\]\s{{0,2}}[,;]?(?:\s{{0,2}}{CONJUNCTION})?)+\s{{0,4}}\Z", re.IGNORECASE
)
_SIGNS = " \t*+•>#_-=:"
TAIL = 200
STEP = 50  # a 50th of the text must be new before it is looked at again, so that long texts stay cheap


def plain_text(text: str) -> str:
    """Remove Markdown's signs; the words stay."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.strip()


def clean(text: str) -> str:
    """Return an answer's text without markers and Markdown."""
    return plain_text(without_markers(text))


class PlainWriter:
    """Sends whole words, in a line that holds no Markdown; other lines once they are complete.

    What is sent is always a beginning of the whole plain text.
    """

    def __init__(self) -> None:
        self._text, self._sent, self._looked = "", "", 0

    def feed(self, piece: str) -> str:
        self._text += piece
        if len(self._text) - self._looked <= len(self._text) // STEP:
            return ""
        self._looked = len(self._text)
        # What ends a line is not what ends the text, so more lines stand for those to come.
        return self._new(clean(f"{self._text[: self._safe_end()]}\nx")[:-1].rstrip())

    def finish(self) -> str:
        return self._new(clean(self._text))

    def _safe_end(self) -> int:
        """Return where the text ends that cannot change: before the last word, or before the last line."""
        if _EMPTY.search(self._text):
            return 0
        line = self._text.rfind("\n") + 1
        if _OPENS.search(_MARKER.sub("", self._text[line:])):
            return line
        words = self._text.rstrip()
        end = words.rfind(" ") if words == self._text else len(words)
        marked = _MARKERS_AT_END.search(self._text, max(0, end - TAIL), max(0, end))
        end = marked.start() if marked else end
        begun = _MARKER.sub("", self._text[line : max(line, end)])
        return end if begun.strip(_SIGNS) else line  # signs alone may be a list's or a rule's

    def _new(self, made: str) -> str:
        if not made.startswith(self._sent):
            return ""
        new, self._sent = made[len(self._sent) :], made
        return new


_RUN = re.compile(r"(?:\[\d{1,4}\])+")
_MARKERS = re.compile(rf"[ \t]?{_RUN.pattern}")
_RUN_AT_END = re.compile(r"(?:\[\d{1,4}\])+\Z")
LONGEST_RUN = 400  # characters, more than one marker for each passage
PlaceOf = Callable[[int], int]
WriteMarker = Callable[[int, int], str]


def plain_marker(place: int, number: int) -> str:
    """Return the marker of a place; number: of its passage in the context."""
    return f"[{place}]"


class FirstCited:
    """Numbers passages from 1 in the order of first citation; those with the same key share a number."""

    def __init__(self, key_of: Callable[[int], Hashable]) -> None:
        self._key_of = key_of
        self._places: dict[Hashable, int] = {}

    def __call__(self, number: int) -> int:
        return self._places.setdefault(self._key_of(number), len(self._places) + 1)


class Numbering:
    """place_of: the face's number of the passage that `[n]` names; asked in the order of the text.

    Neighbours that become equal become one, also where one piece ends and the next begins.
    marker: writes a place, given the number of the first passage of the run that has it.
    """

    def __init__(self, place_of: PlaceOf, marker: WriteMarker = plain_marker) -> None:
        self.place_of, self._marker = place_of, marker
        self._held, self._read, self._shift = "", 0, 0
        self._shifts: list[tuple[int, int]] = []

    def feed(self, piece: str) -> str:
        """Take a piece; return all but the markers at its end, which may go on in the next one."""
        text = self._held + piece
        last = _RUN_AT_END.search(text, max(0, len(text) - LONGEST_RUN)) if text.endswith("]") else None
        end = last.start() if last else len(text)
        self._held = text[end:]
        return self._numbered(text[:end])

    def finish(self) -> str:
        """Return what is left."""
        text, self._held = self._held, ""
        return self._numbered(text)

    def sent(self, offset: int) -> int:
        """Return where an offset into `Answer.text`, outside of markers, lies in the new text."""
        place = bisect_right(self._shifts, offset, key=itemgetter(0))
        return offset + (self._shifts[place - 1][1] if place else 0)

    def _numbered(self, text: str) -> str:
        start = self._read

        def numbered(match: re.Match[str]) -> str:
            run = match[0]
            places: dict[int, int] = {}
            for number in map(int, run[1:-1].split("][")):
                places.setdefault(self.place_of(number), number)
            new = "".join(self._marker(place, number) for place, number in places.items())
            self._shift += len(new) - len(run)
            self._shifts.append((start + match.end(), self._shift))
            return new

        self._read += len(text)
        return _RUN.sub(numbered, text)


def number_citations(
    answer: Answer, place_of: PlaceOf, marker: WriteMarker = plain_marker
) -> tuple[str, Numbering]:
    """Return the whole text, and the numbering, which knows what moved where."""
    numbering = Numbering(place_of, marker)
    return numbering.feed(answer.text) + numbering.finish(), numbering


class Misstatement(NamedTuple):
    """A `Contradiction` as a client gets it: places in the text that is sent. text: without markers."""

    text: str
    answer_start: int
    answer_end: int
    missing: tuple[str, ...]


def misstatements(answer: Answer, text: str, numbering: Numbering) -> list[Misstatement]:
    """Return what the passages contradict, in order. text, numbering: as `number_citations` gives them."""
    misstated = []
    for contradiction in answer.contradicted:
        start, end = numbering.sent(contradiction.answer_start), numbering.sent(contradiction.answer_end)
        misstated.append(Misstatement(_MARKERS.sub("", text[start:end]), start, end, contradiction.missing))
    return misstated
