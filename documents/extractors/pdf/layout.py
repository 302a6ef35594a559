"""The layout of a PDF page: lines -> paragraphs.

A PDF knows where its glyphs are, not where paragraphs end. What a reader sees as one paragraph becomes one
line of text, so that a sentence can be quoted as it reads; headings, list items and rows of tables keep
lines of their own.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from documents.text.characters import clean_label
from documents.text.tables import CELLS

_ITEM = re.compile(r"[-*+•‣▪●◦○■□►–—]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]\s")
_SYMBOL = re.compile(r"\A(\s*)[\uf020-\uf0ff]\s*(?=\w)")  # of a font of signs
_SMALL_O = re.compile(r"\A(\s*)o ")
_FIELD = re.compile(r"[^\W\d_a-zß-ÿ][\w/&'’-]*(?: [\w/&'’()-]+){0,4}: \S")  # "Survey coordinator: Ann"
_FIGURE = re.compile(r"[-–—+$€£(]*(?:\d[\d.,]*[%)\]]*|[$€£—–-])")
_FIGURE_OR_DASH = re.compile(r"[\d$€£—–-]")
_LETTER = re.compile(r"[^\W\d_]")
_DASH_BEFORE_WORD = re.compile(r" [—–-] (?=[^\W\d_]{2})")
_CJK = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_NEIGHBOURS = 4  # lines looked at on each side to learn the width of the column
_LINES_KEPT = 4096  # several steps ask the same of a line
_FULL = 0.85  # of that width; proportional letters and ragged edges vary
_NARROW = 50
_ENDS = (".", "!", "?", ":", ";", "。", "！", "？", "：", "”", '"')


@lru_cache(maxsize=_LINES_KEPT)
def line_key(line: str) -> str:
    """Return the key by which a line is recognized after cleaning."""
    return " ".join(line.split()) if line.isascii() else clean_label(line)


def join_paragraphs(page: str, separate: Mapping[str, int] | None = None) -> str:
    """Join wrapped lines; a blank line separates paragraphs, a line end separates short lines.

    separate: keys of lines that belong to no paragraph; those of equal number are one heading.
    """
    lines = _with_bullets([line for line in page.split("\n") if line.strip()])
    if not lines:
        return ""
    tells_wraps = sum(line.endswith(" ") for line in lines) >= 0.3 * len(lines)
    widths = _column_widths(lines)
    parts = [lines[0].strip()]
    for index in range(1, len(lines)):
        above, below = lines[index - 1], lines[index].strip()
        wrapped = tells_wraps and above.endswith(" ")
        separator = _separator_around_heading(above, below, separate) if separate else None
        if separator is not None:
            parts.append(separator)
        elif not wrapped and _is_heading(above.strip(), below, lines[index + 1 : index + 2], widths[index]):
            parts.append("\n\n")
        else:
            parts.append(_separator(above, below, width=widths[index - 1], wrapped=wrapped))
        parts.append(below)
    return "".join(parts)


def _with_bullets(lines: list[str]) -> list[str]:
    """Write what Word sets as the sign of an item as a bullet: a letter of a font of signs; and "o" where
    several lines begin with it, and each goes on as a sentence begins. In some languages "o" is a word, which
    lines begin with, too.
    """
    lines = [_SYMBOL.sub(r"\1• ", line) for line in lines]
    begun = [line.lstrip()[2:3] for line in lines if line.lstrip().startswith("o ")]
    if len(begun) < 2 or not all(letter.isupper() or letter.isdecimal() for letter in begun):
        return lines
    return [_SMALL_O.sub(r"\1◦ ", line) for line in lines]


def _separator_around_heading(above: str, below: str, separate: Mapping[str, int]) -> str | None:
    """Return what stands between two lines of which one is separate; None if neither is."""
    first, second = separate.get(line_key(above)), separate.get(line_key(below))
    if first is None and second is None:
        return None
    return " " if first == second else "\n\n"


def _column_widths(lines: Sequence[str]) -> list[int]:
    """Return the width of the column around each line, in letters."""
    lengths = [len(line) for line in lines]
    return [max(lengths[max(0, i - _NEIGHBOURS) : i + _NEIGHBOURS + 1]) for i in range(len(lengths))]


def _separator(above: str, below: str, *, width: int, wrapped: bool) -> str:
    """Return what stands between two lines: "" or a space within a paragraph, else one or two line feeds."""
    above = above.strip()
    if _ITEM.match(below) or (_FIELD.match(above) and _FIELD.match(below)):
        return "\n"
    above_tabular = is_tabular(above)
    goes_on = not above_tabular and below[0].islower() and not above.endswith(_ENDS)
    tabular = above_tabular or is_tabular(below)
    if goes_on or (not tabular and (wrapped or _is_full(above, below, width))):
        return "" if _CJK.match(above[-1]) and _CJK.match(below) else " "
    return "\n" if tabular or len(above) < _NARROW else "\n\n"


def _is_heading(above: str, below: str, next_lines: Sequence[str], width: int) -> bool:
    """Tell if `below` stands alone between the end of a sentence and the beginning of another."""
    alone = above.endswith(_ENDS) and not below.endswith((*_ENDS, ",", "-"))
    short = len(below) < min(_NARROW, 0.6 * width)
    begins = [line.strip()[:1] for line in next_lines]
    return alone and short and not any(first.islower() for first in (below[:1], *begins))


def _is_full(above: str, below: str, width: int) -> bool:
    """Tell if the first word of `below` had no room at the end of `above`."""
    first_word = 1 if _CJK.match(below) else len(below.partition(" ")[0]) + 1
    return len(above) + first_word >= _FULL * width and width >= _NARROW // 2


@lru_cache(maxsize=_LINES_KEPT)
def is_tabular(line: str) -> bool:
    """Tell if a line is a row of figures (at least two, a third of its words), or has no letter at all.

    A dash is one where a cell is empty, and not before a word: "Note 6 — Leases".
    """
    if CELLS in line:
        return True
    if not _FIGURE_OR_DASH.search(line):
        return _LETTER.search(line) is None
    words = _DASH_BEFORE_WORD.sub(" ", line).split()
    figures = sum(_FIGURE.fullmatch(word) is not None for word in words) if len(words) < 60 else 0
    return figures >= max(2.0, len(words) / 3) or _LETTER.search(line) is None


def is_item(line: str) -> bool:
    """Tell if a line opens an item of a list."""
    return _ITEM.match(line) is not None
