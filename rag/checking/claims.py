"""A sentence of a reply with its markers taken out, and what each of them stands for. Plain Python."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rag.checking.leads import lead_of
from rag.checking.markers import Mark, marks_in
from rag.sentences import words_of

FEW = 2  # content words; a part with fewer is no claim of its own
_IMAGE = re.compile(r"!\[([^\[\]\n]{0,300})\]\([^()\n]{0,500}\)")
_BULLET = re.compile(r"\s*(?:(?:[-*+•‣▪●◦○■□►–—]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|#{1,6}|>)\s+)?[\"“«*_ ]*")
_END = re.compile(r"[.!?…。！？]*[\"'”’»)*_]*\s*\Z")
_TRIMMED = " \t\r\n,;:–—-*_#>"
_WORD = re.compile(r"\w")
_LETTER = re.compile(r"[^\W\d_]")
_JOINS = (
    r"(?:and|or|but|while|whereas|which|who|although|though|because|since|und|oder|aber|et|mais|ou|y|pero)\b"
)
_CLOSED = re.compile(rf"\s*(?:\Z|[.,;:!?)\]…—–\"”»。，；：！？、]|{_JOINS})", re.IGNORECASE)
_JOINED = re.compile(rf"[\s,;:–—-]*(?:{_JOINS}\s+)?", re.IGNORECASE)
_STANDS = re.compile(
    r"(?:(?:[Tt]he|[Aa]n?|[Tt]his|[Tt]hese|[Bb]oth|[Aa]ll|der|die|das|eine?|les?|la|une?|el|los|las|una)\b|[^\W\d_a-z]|\d|[\"“«])"
)
_DOES = (
    r"(?:is|was|are|were|has|have|had|can|could|will|would|may|must|does|did|ist|war|sind|hat|hatte|wird|est|a|était|es|fue"
    r"|tiene)\b"
)
_SUBJECT = re.compile(rf"(?:(?!{_DOES})\S{{1,40}}\s+){{1,7}}?(?={_DOES})", re.IGNORECASE)
_PRONOUN = re.compile(
    r"(?:it|he|she|they|we|i|you|these|this|that|there|its|his|her|their|our|in|on|at|by|for|from|with|as|to|when|if"
    r"|while|after|before|since|during|under|es|er|sie|ils?|elles?|seine?|ihre?|ses|son|sa|su|sus)\b",
    re.IGNORECASE,
)
_CAPITALS = r"(?:[^\W\d_a-z]\S{0,40}\s+)"
_OPENING = re.compile(rf"(?!The\s){_CAPITALS}{{2,6}}")
_ADVERB = re.compile(r"[^\W\d_]{2,20},\s+")
_CLAUSES = re.compile(
    r"(?:[,;]\s+(?:and|but|while|whereas|und|aber|et|mais|y|pero)?|\s(?:and|while|whereas)\s)\s*"
)


class Held(NamedTuple):
    """Markers at a place of a reading. raw: how they were written; space: what stood before them."""

    at: int
    numbers: tuple[int, ...]
    raw: str
    space: str
    sure: bool
    whole: bool


class Reading(NamedTuple):
    """text: of a sentence without its markers, with the white space before it. begin: of its first word."""

    text: str
    begin: int
    marks: tuple[Held, ...]

    @property
    def says(self) -> bool:
        return _WORD.search(self.text) is not None

    @property
    def has_letters(self) -> bool:
        return has_letters(self.text)

    @property
    def written(self) -> str:
        """With its markers as they were."""
        done, parts = 0, []
        for mark in self.marks:
            parts += [self.text[done : mark.at], mark.raw]
            done = mark.at
        return "".join((*parts, self.text[done:]))

    def led_by(self, numbers: tuple[int, ...]) -> "Reading":
        """With one more marker, which stood before it: it goes to the sentence's end."""
        end = _END.search(self.text)
        return self._replace(marks=tuple(_with_lead(list(self.marks), numbers, end)))


class Claim(NamedTuple):
    """text: for the judge. start, end: of the claim in the reading's text."""

    text: str
    start: int
    end: int


def read(sentence: str, blocks: int, written: Callable[[str], bool], *, leads: bool) -> Reading:
    """leads: whether it may begin with "According to Source 1, "; its marker goes to the sentence's end."""
    sentence = _IMAGE.sub(r"\1", sentence) if "![" in sentence else sentence
    lead = lead_of(sentence, blocks, written) if leads else None
    if lead:
        sentence = lead.rest
    text, held = _without(sentence, marks_in(sentence, blocks, written))
    if not sentence[:1].isspace():  # none is left where a marker was taken away
        space = len(text) - len(text.lstrip())
        text, held = text[space:], [mark._replace(at=max(0, mark.at - space)) for mark in held]
    if lead and lead.numbers:
        held = _with_lead(held, lead.numbers, _END.search(text))
    bullet = _BULLET.match(text)
    return Reading(text, bullet.end() if bullet else 0, tuple(held))


def _without(sentence: str, marks: list[Mark]) -> tuple[str, list[Held]]:
    kept, held, done, length = [], [], 0, 0
    for mark in marks:
        kept.append(sentence[done : mark.start])
        length += mark.start - done
        raw = sentence[mark.start : mark.end]
        held.append(Held(length, mark.numbers, raw, mark.space, mark.sure, whole=False))
        done = mark.end
    return "".join(kept) + sentence[done:], held


def _with_lead(held: list[Held], numbers: tuple[int, ...], end: re.Match[str] | None) -> list[Held]:
    at = end.start() if end else 0
    last = held[-1] if held else None
    if last and last.at >= at:
        return [*held[:-1], last._replace(numbers=tuple(dict.fromkeys((*numbers, *last.numbers))))]
    return [*held, Held(at, numbers, "", " ", sure=True, whole=True)]


def claims_of(reading: Reading, place: int) -> Iterator[Claim]:
    """What the markers at this place may support, the likeliest first; one that is judged true is enough.

    It is the part before them; where that is no claim of its own, or goes on behind them, it is the sentence.
    """
    text, mark = reading.text, reading.marks[place]
    start = _part_start(reading, place)
    part = _claim(text, start, mark.at)
    if part and text[part.end : part.end + 1] == ".":  # "... in the U.S [1].": it may be an abbreviation's
        part = part._replace(text=f"{part.text}.")
    whole = whole_of(reading)
    if mark.whole or part is None:
        yield from filter(None, (whole,))
        return
    last = place + 1 == len(reading.marks)
    following = text[mark.at : len(text) if last else reading.marks[place + 1].at]
    # What stands behind the last marker has none of its own: it is said under this one.
    if not _CLOSED.match(following or text[mark.at :]) or (last and not _is_short(following)):
        yield from filter(None, (whole,))
        return
    if _is_short(part.text) and whole and whole.text != part.text:
        yield whole
        if not _is_short(following):
            return
    yield from _standing(reading, part, start)


def whole_of(reading: Reading) -> Claim | None:
    """The sentence without what stands behind its last markers, if that says nothing."""
    text, end = reading.text, len(reading.text)
    for mark in reversed(reading.marks):
        if _WORD.search(text, mark.at, end):
            break
        end = mark.at
    return _claim(text, reading.begin, end)


def _part_start(reading: Reading, place: int) -> int:
    """Behind the marker before, unless nothing is said between them."""
    at = reading.marks[place].at
    for before in reversed(reading.marks[:place]):
        if _LETTER.search(reading.text, before.at, at):
            return before.at
    return reading.begin


def _standing(reading: Reading, part: Claim, start: int) -> Iterator[Claim]:
    """A later part of a sentence may lack its subject: "... [1] and has two lifts [2]"."""
    if start == reading.begin:
        yield part
        return
    joined = _JOINED.match(part.text)
    said = _claim(reading.text, part.start + (joined.end() if joined else 0), part.end) or part
    if _STANDS.match(said.text) or _is_short(said.text):
        yield said
        return
    subject = _subject(reading)
    if subject:
        yield said._replace(text=f"{subject}{said.text}")
    elif until := _claim(reading.text, reading.begin, part.end):
        yield said._replace(text=until.text)


def _subject(reading: Reading) -> str:
    """What the sentence is about: what stands before its verb, or a name; "" where that cannot be told."""
    adverb = _ADVERB.match(reading.text, reading.begin)  # "However, "
    span = adverb.end() if adverb else reading.begin, reading.marks[0].at
    found = _SUBJECT.match(reading.text, *span) or _OPENING.match(reading.text, *span)
    return found[0] if found and not _PRONOUN.match(found[0]) and words_of(found[0]) else ""


def clauses_of(claim: Claim) -> list[Claim]:
    """The clauses of a claim of several, each of which can stand alone; [] for others."""
    found: list[Claim] = []
    done = 0
    for joint in [*_CLAUSES.finditer(claim.text), None]:
        end = joint.start() if joint else len(claim.text)
        clause = claim.text[done:end]
        if _is_short(clause) or (found and not _STANDS.match(clause)):
            return []
        found.append(Claim(clause, claim.start + done, claim.start + end))
        done = joint.end() if joint else end
    return found if len(found) > 1 else []


def has_letters(text: str) -> bool:
    return _LETTER.search(text) is not None


def _claim(text: str, start: int, end: int) -> Claim | None:
    while start < end and text[start] in _TRIMMED:
        start += 1
    while end > start and text[end - 1] in _TRIMMED:
        end -= 1
    return Claim(text[start:end], start, end) if _WORD.search(text, start, end) else None


def _is_short(text: str) -> bool:
    return len(words_of(text[:400])) < FEW
