"""Sentence splitting in one linear pass, for any script that ends sentences with a mark."""

import re
from collections.abc import Iterator

from documents.text.word_lists import read_words

ABBREVIATIONS = read_words("abbreviations")
NUMBERED = read_words("abbreviations_before_numbers")
OPEN_ENDED = read_words("abbreviations_at_ends")
MONTHS = read_words("months")
STARTERS = read_words("sentence_starters")


# After a full stop, the sign of a note: "2003.[7]", ".[^a]", ".<sup>7</sup>", "[<sup>7</sup>](#notes)"
_NOTES = "|".join(
    (
        r"(?:\[\^?\d{1,3}(?:[,–-]\ ?\d{1,3})*+\]",
        r"\[\^[^\[\]\s]{1,60}\]",
        r"<sup>[^<\n]{1,20}</sup>",
        r"\[<sup>[^<\n]{1,20}</sup>\]\([^()\s]{0,300}\))*+",
    )
)
# ... or small above the line, which plain text does not show: "known.12 Others"
_FIGURES = r"\d{1,3}(?:[,–-]\d{1,3}){0,5}+"
_BARE_NOTE = re.compile(_FIGURES + r"(?=\s)")
# Possessive quantifiers and alternatives that always consume what they looked at: nothing is read twice.
_BREAK = re.compile(
    rf"""
      (?P<paragraph>\n(?:[^\S\n]*+\n)++)
    | (?P<line>\n)
    | (?P<full>[。！？｡؟۔।॥።։]++["'”’»)\]」』）】》]*+)
    | (?P<mark>[.!?…]++["'”’»)\]*_]*+{_NOTES})
    """,
    re.VERBOSE,
)
_NOTED = re.compile(rf"((?<!\d)[.!?…]++[\"'”’»)\]*_]*+)(?:{_FIGURES}|{_NOTES})\Z")
_NEXT_WORD = re.compile(r"""\s*+["'“‘«(\[*_¿¡„]*+(\w{0,20}+)""")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘«„/–—]*+\Z")
_ITEM = re.compile(r"\s*+(?:[-*+•‣▪●◦○■□►–—]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]\s|#{1,6}\s|\||```|~~~)")
_TABULAR = re.compile(
    r"(?:\d[\d.,%)]*+|[$€£—–])\s++[$€£(+–—-]*+\d[\d.,%)]*+\s*+\Z"
)  # two figures at a line's end
_DEFINITION = re.compile(r"[ \t]{0,3}:[ \t]+\S")
_FIELD = re.compile(r"[ \t]*+[^\W\d_][^\n:.!?]{0,40}:[ \t]++\S")  # "Materials: beech"
_LINK = re.compile(
    r"[*_(\"]*+\[[^\[\]\n]{2,90}(?:\]\(|\Z)"
)  # Markdown's, which formatters wrap to a line of its own
_RULE = re.compile(r"[ \t]*+([=~^*+#_-])\1{2,}+[ \t]*+(?:\n|\Z)")  # below a heading
_CELLS = " | "  # of a row
_CONTEXT_CHARS = 48  # inspected on each side of a mark
_NARROW = 50  # a line shorter than this may be a heading or a cell rather than wrapped prose


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each sentence: in order, not overlapping, without surrounding white space.

    Headings, list items and rows of tables count as sentences; a sentence may run over line ends.
    Linear in the length of `text`, whatever it holds.
    """
    spans = []
    start = 0
    for end in _iter_ends(text):
        first, last = strip_span(text, start, end)
        if first < last:
            spans.append((first, last))
        start = end
    return spans


def without_note(sentence: str) -> str:
    """Return a sentence without the number of a note behind its end."""
    return _NOTED.sub(r"\1", sentence)


def strip_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without the white space at its ends; empty (start == end) if there is nothing else."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _iter_ends(text: str) -> Iterator[int]:
    line_start = sentence_start = position = 0
    worded = False  # marks alone (". . . .") end nothing
    for match in _BREAK.finditer(text):
        worded = worded or not (match.start() == position or text[position : match.start()].isspace())
        kind, position = match.lastgroup, match.end()
        if kind == "line":
            ends = _is_end_at_line(text, line_start, match.start())
        elif kind == "mark":
            note = _BARE_NOTE.match(text, position)
            position = note.end() if note else position
            ends = (
                worded
                and not _is_row(text, line_start)
                and _is_end_at_mark(text, sentence_start, match, note[0] if note else "")
            )
        else:
            ends = True
        if kind in ("line", "paragraph"):
            line_start = position
        if ends:
            yield position
            sentence_start, worded = position, False
    yield len(text)


def _is_row(text: str, line_start: int) -> bool:
    """Tell whether the line is a row of a table in Markdown, which is one sentence whatever its cells say."""
    return text[line_start : line_start + 8].lstrip().startswith("|")


def _is_end_at_mark(text: str, sentence_start: int, match: re.Match[str], note: str) -> bool:
    """Tell if a full stop, question or exclamation mark (or a run of them) ends its sentence.

    note: the figures right behind it, "" if there are none.
    """
    end = match.end() + len(note)
    if end == len(text):
        return True
    if not text[end].isspace() or text.startswith(_CELLS, end):
        return False
    word = _NEXT_WORD.match(text, end)
    following = word.group(1) if word else ""
    if following[:1].islower():
        return False
    if note and (text[match.start() - 1 : match.start()].isdecimal() or not following[:1].isupper()):
        return False  # "3.12"
    return match.group()[0] != "." or is_end_at_full_stop(
        text, sentence_start, match.start(), note or following
    )


def is_end_at_full_stop(text: str, sentence_start: int, stop: int, following: str) -> bool:
    """Tell if the full stop at `stop` ends its sentence. following: the next word, "" if there is none."""
    context_start = max(sentence_start, stop - _CONTEXT_CHARS)
    before = _LAST_WORD.search(text[context_start:stop])
    word = before.group() if before else ""
    if word.isdecimal():
        return _is_end_after_number(text[context_start:stop], word, following)
    if len(word) == 1 and (
        word.isupper() or word.islower()
    ):  # an initial, "c. 1455", "e. g.", or "Plan B. The"
        return following in STARTERS
    if "." in word or word.casefold() in OPEN_ENDED:  # U.S., a.m., et al., Inc.
        return following in STARTERS
    if word.casefold() in NUMBERED:
        return not following[:1].isdecimal()
    return word.casefold() not in ABBREVIATIONS


def _is_end_after_number(before: str, number: str, following: str) -> bool:
    """Tell if a number with a full stop ends its sentence, unlike in "1. Introduction" and "am 3. Mai"."""
    return len(number) > 3 or (before.strip() != number and following.casefold() not in MONTHS)


def _is_end_at_line(text: str, line_start: int, newline: int) -> bool:
    """Tell if a single line end is more than the wrapping of a paragraph."""
    after = text[newline + 1 : newline + 1 + _CONTEXT_CHARS * 2]
    if _DEFINITION.match(after):  # Markdown's "term", and on the next line ": what it means"
        return False
    if _ITEM.match(after) or text[line_start : line_start + 8].lstrip().startswith(("#", "|")):
        return True
    if _RULE.match(text, line_start) or _RULE.match(text, newline + 1):
        return True
    if _FIELD.match(after) and _FIELD.match(text, line_start, newline):
        return True
    line = text[max(line_start, newline - _CONTEXT_CHARS) : newline].strip()
    after = after.lstrip().partition("\n")[0]
    if _CELLS in after or text.find(_CELLS, line_start, newline) >= 0:
        return True
    if after[:1].islower() or line.endswith((",", ";", "-", "–", "(")):
        return False
    if _LINK.match(after) and not _LINK.match(line) and line[-1:].isalpha():
        return False
    if _TABULAR.search(line):
        return True
    return newline - line_start < _NARROW and (len(line) < 0.75 * len(after) or len(after) < 30)
