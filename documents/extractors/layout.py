"""Lines of a PDF page -> paragraphs.

A PDF knows where its glyphs are, not where paragraphs end. What a reader sees as one paragraph becomes one
line of text, so that a sentence can be quoted as it reads; headings, list items and rows of tables keep
lines of their own.
"""

import re
from collections.abc import Sequence

_ITEM = re.compile(r"[-*+•‣▪●◦○■□►–—]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]\s")
_FIGURE = re.compile(r"[-–—+$€£(]*(?:\d[\d.,]*[%)\]]*|[$€£—–-])")
_LETTER = re.compile(r"[^\W\d_]")
_CJK = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_NEIGHBOURS = 4  # lines looked at on each side to learn the width of the column
_FULL = 0.85  # of that width; proportional letters and ragged edges vary
_NARROW = 50
_ENDS = (".", "!", "?", ":", ";", "。", "！", "？", "：", "”", '"')


def paragraphs(page: str) -> str:
    """The page with wrapped lines joined; a blank line parts paragraphs, a line end short lines."""
    lines = [line for line in page.split("\n") if line.strip()]
    if not lines:
        return ""
    tells_wraps = sum(line.endswith(" ") for line in lines) >= 0.3 * len(lines)
    widths = _widths(lines)
    parts = [lines[0].strip()]
    for index in range(1, len(lines)):
        above, below = lines[index - 1], lines[index].strip()
        wrapped = tells_wraps and above.endswith(" ")
        if not wrapped and _is_heading(above.strip(), below, lines[index + 1 : index + 2], widths[index]):
            parts.append("\n\n")
        else:
            parts.append(_joint(above, below, width=widths[index - 1], wrapped=wrapped))
        parts.append(below)
    return "".join(parts)


def _widths(lines: Sequence[str]) -> list[int]:
    """The width of the column around each line, in letters."""
    lengths = [len(line) for line in lines]
    return [max(lengths[max(0, i - _NEIGHBOURS) : i + _NEIGHBOURS + 1]) for i in range(len(lengths))]


def _joint(above: str, below: str, *, width: int, wrapped: bool) -> str:
    """What stands between two lines: "" or a space within a paragraph, else one or two line feeds."""
    above = above.strip()
    if _ITEM.match(below):
        return "\n"
    above_tabular = _is_tabular(above)
    goes_on = not above_tabular and below[0].islower() and not above.endswith(_ENDS)
    tabular = above_tabular or _is_tabular(below)
    if goes_on or (not tabular and (wrapped or _is_full(above, below, width))):
        return "" if _CJK.match(above[-1]) and _CJK.match(below) else " "
    return "\n" if tabular or len(above) < _NARROW else "\n\n"


def _is_heading(above: str, below: str, next_lines: Sequence[str], width: int) -> bool:
    """Whether `below` stands alone between the end of a sentence and the beginning of another."""
    alone = above.endswith(_ENDS) and not below.endswith((*_ENDS, ",", "-"))
    short = len(below) < min(_NARROW, 0.6 * width)
    begins = [line.strip()[:1] for line in next_lines]
    return alone and short and not any(first.islower() for first in (below[:1], *begins))


def _is_full(above: str, below: str, width: int) -> bool:
    """Whether the first word of `below` had no room at the end of `above`."""
    first_word = 1 if _CJK.match(below) else len(below.partition(" ")[0]) + 1
    return len(above) + first_word >= _FULL * width and width >= _NARROW // 2


def _is_tabular(line: str) -> bool:
    """A row of figures (at least two, a third of its words), or a line without any letter."""
    words = line.split()
    figures = sum(_FIGURE.fullmatch(word) is not None for word in words) if len(words) < 60 else 0
    return figures >= max(2.0, len(words) / 3) or _LETTER.search(line) is None
