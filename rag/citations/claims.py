"""A reply's sentence without its markers, what each marker stands behind, and lists of references.

Plain Python."""

import re
from collections.abc import Callable
from typing import NamedTuple

from rag.citations.markers import CODE, FROM_0, NAMED, WORDS, Mark, marks_in, numbers_in, squares
from rag.citations.sentences import lead_of

MIN_CLAIM_WORDS = 2  # words; a part of a sentence with fewer is no claim of its own
_IMAGE = re.compile(r"!\[([^\[\]\n]{0,300})\]\([^()\n]{0,500}\)")
_BULLET = re.compile(r"\s*(?:(?:[-*+•‣▪●◦○■□►–—]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|#{1,6}|>)\s+)?[\"“«*_ ]*")
_END = re.compile(r"[.!?…。！？]*[\"'”’»)*_]*\s*\Z")
_TRIMMED = " \t\r\n,;:–—-*_#>"
_CLOSING = f"{_TRIMMED}.!?…。！？"
_WORD = re.compile(r"\w+")
_LETTER = re.compile(r"[^\W\d_]")
_INDEX = re.compile(r"\[(\d{1,4})\]")
_HARMLESS = str.maketrans("[]【】［］〔〕⟦⟧〚〛⁅⁆", "()()()()()()()")


class Marker(NamedTuple):
    """Markers at one place of a sentence. raw: how they were written; space: what stood before them."""

    at: int
    numbers: tuple[int, ...]
    raw: str
    space: str
    sure: bool


class Span(NamedTuple):
    """A claim in a text."""

    start: int
    end: int


class ParsedSentence(NamedTuple):
    """text: of a sentence without its markers, with the white space before it. begin: of its first word."""

    text: str
    begin: int
    markers: tuple[Marker, ...]

    @property
    def says(self) -> bool:
        return _WORD.search(self.text) is not None

    @property
    def has_letters(self) -> bool:
        return has_letters(self.text)

    @property
    def written(self) -> str:
        """Return the sentence with its markers as they were."""
        return self.with_markers([marker.raw for marker in self.markers])[0]

    def led_by(self, numbers: tuple[int, ...]) -> "ParsedSentence":
        """Add a marker that stood before the sentence; it goes to the sentence's end."""
        return self._replace(markers=_add_lead(self.markers, numbers, self.text))

    def claim(self, index: int) -> Span | None:
        """Return the claim of the markers at this place: the part before them, back to the markers before.

        It is the whole sentence where the part has too few words, or where more follows the last markers.
        None where nothing is said.
        """
        marker = self.markers[index]
        part = trim_span(self.text, self._part_start(index), marker.at)
        goes_on = (
            index + 1 == len(self.markers) and _words(self.text, marker.at, len(self.text)) >= MIN_CLAIM_WORDS
        )
        if part is None or goes_on or _words(self.text, *part) < MIN_CLAIM_WORDS:
            return self.whole
        return part

    @property
    def whole(self) -> Span | None:
        return trim_span(self.text, self.begin, len(self.text))

    def with_markers(self, written: list[str]) -> tuple[str, list[tuple[int, int]]]:
        """Return the text with these markers put in, and (place in the sentence, length) of each.

        What else may be read as one, since it is an index or a marker was taken out of "[[1]2]", gets round
        brackets, in code such as "a[1]" only; "[0, 1]" names no block.
        """
        text = self.text
        if any(not FROM_0.fullmatch(run.strip()) for *_, run, _ in squares(text)):
            parts = CODE.split(text)
            parts[::2] = [part.translate(_HARMLESS) for part in parts[::2]]
            parts[1::2] = [_INDEX.sub(r"(\1)", code) for code in parts[1::2]]  # every face numbers a "[1]"
            text = "".join(parts)
        parts, inserted, done = [], [], 0
        for marker, new in zip(self.markers, written, strict=True):
            if new:
                parts += [text[done : marker.at], new]
                inserted.append((marker.at, len(new)))
                done = marker.at
        return "".join((*parts, text[done:])), inserted

    def _part_start(self, index: int) -> int:
        """Return the place behind the marker before, unless nothing stands between the two."""
        at = self.markers[index].at
        for before in reversed(self.markers[:index]):
            if _LETTER.search(self.text, before.at, at):
                return before.at
        return self.begin


def parse_sentence(
    sentence: str, blocks: int, written: Callable[[str], bool], *, leads: bool
) -> ParsedSentence:
    """Return the sentence without its markers, which name blocks from 1 to `blocks`.

    written: whether a passage has these words literally, so that "(2)" is part of what it says. leads:
    whether it may begin with "According to Source 1, "; its marker goes to the sentence's end.
    """
    sentence = _IMAGE.sub(r"\1", sentence) if "![" in sentence else sentence
    lead = lead_of(sentence, blocks, written) if leads else None
    if lead:
        sentence = lead.rest
    text, markers = _take_out(sentence, marks_in(sentence, blocks, written))
    if not sentence[:1].isspace():  # none is left where a marker was taken away
        space = len(text) - len(text.lstrip())
        text, markers = text[space:], [marker._replace(at=max(0, marker.at - space)) for marker in markers]
    markers_and_lead = _add_lead(markers, lead.numbers, text) if lead and lead.numbers else tuple(markers)
    bullet = _BULLET.match(text)
    return ParsedSentence(text, bullet.end() if bullet else 0, markers_and_lead)


def trim_span(text: str, start: int, end: int) -> Span | None:
    """Return the span without what binds it to its neighbours, or ends it; None where no word is left."""
    while start < end and text[start] in _TRIMMED:
        start += 1
    while end > start and text[end - 1] in _CLOSING:
        end -= 1
    return Span(start, end) if _WORD.search(text, start, end) else None


def has_letters(text: str) -> bool:
    return _LETTER.search(text) is not None


def _words(text: str, start: int, end: int) -> int:
    return sum(1 for _ in _WORD.finditer(text, start, end))


def _take_out(sentence: str, marks: list[Mark]) -> tuple[str, list[Marker]]:
    kept, markers, done, length = [], [], 0, 0
    for mark in marks:
        kept.append(sentence[done : mark.start])
        length += mark.start - done
        markers.append(Marker(length, mark.numbers, sentence[mark.start : mark.end], mark.space, mark.sure))
        done = mark.end
    return "".join(kept) + sentence[done:], markers


def _add_lead(
    markers: tuple[Marker, ...] | list[Marker], numbers: tuple[int, ...], text: str
) -> tuple[Marker, ...]:
    end = _END.search(text)
    at = end.start() if end else 0
    if markers and markers[-1].at >= at:
        last = markers[-1]
        return (*markers[:-1], last._replace(numbers=tuple(dict.fromkeys((*numbers, *last.numbers)))))
    return (*markers, Marker(at, numbers, "", " ", sure=True))


_HEADING = re.compile(rf"[#*_\s]*(?:{WORDS['list']})(?: used| cited)?[*_\s]*[:：]?[*_\s]*", re.IGNORECASE)
_HEADINGS = tuple(f"{name}{more}:" for name in WORDS["list"].split("|") for more in ("", " used", " cited"))
_ENTRY = re.compile(rf"\s*(?:[-*•+]\s*)?(?:[\[【［(（^]|\*{{0,2}}(?:\d+[.):]|{NAMED}\b))", re.IGNORECASE)
_FOOTNOTE = re.compile(r"\s*\[\^\d{1,3}\]:")  # of Markdown, where it stands
_LABEL = re.compile(
    rf"\W*(?:(?:{WORDS['list']})|source|reference|citation|see|from|based on|quelle|fuente)?\W*",
    re.IGNORECASE,
)


class ReferenceList:
    """Of one reply. inside: the last sentence was in one. numbers: of the blocks that its entries name."""

    def __init__(self, blocks: int) -> None:
        self._blocks, self.inside = blocks, False
        self.numbers: dict[int, None] = {}

    def takes(self, sentence: str) -> bool:
        """Tell whether this sentence, with the white space before it, is a list's heading or an entry."""
        starts_line = _starts_line(sentence)
        if self.inside and starts_line:
            self.inside = _ENTRY.match(sentence) is not None
        elif starts_line:
            self.inside = (_HEADING.fullmatch(sentence) or _FOOTNOTE.match(sentence)) is not None
        if self.inside:
            for _, _, _, run, _ in squares(sentence):
                self.numbers.update(dict.fromkeys(numbers_in(run, self._blocks)))
        return self.inside

    @staticmethod
    def may_take(unfinished: str) -> bool:
        """Tell whether the beginning of a sentence may become such a heading."""
        if not _starts_line(unfinished):
            return False
        line = unfinished.lstrip().partition("\n")[0]
        begun = line.strip("#*_ \t").lower()
        return _HEADING.fullmatch(line) is not None or any(heading.startswith(begun) for heading in _HEADINGS)


def _starts_line(sentence: str) -> bool:
    return "\n" in sentence[: len(sentence) - len(sentence.lstrip())]


def is_label(text: str) -> bool:
    """Tell whether what is left of a sentence without its markers says nothing: "Sources: "."""
    return _LABEL.fullmatch(text) is not None
