"""The letters of Arabic and Hebrew lines in the order in which they are read.

A PDF places glyphs, in any order: PDFium returns some words of a line from their end, brackets as they are
drawn, and some spaces within words. Where the letters stand tells how they are read: from right to left, and
numbers and Latin words within from left to right. A rough inverse of the bidirectional algorithm (Unicode
Standard Annex 9), line by line.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest
from itertools import pairwise

_LETTER = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_ARABIC = re.compile(r"[\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefc]")
_LINE = re.compile(r"[^\r\n]+")
_RUN = r"[^\W_\u0590-\u08ff\ufb1d-\ufefc]+"
# Backwards, as they stand when read from the right.
# Among Arabic letters a number goes on over neither hyphens nor per cent signs, among Hebrew ones it does.
_AFTER_ARABIC = re.compile(rf"{_RUN}(?:[.,:/]{_RUN})*(?: (?=[^\W\d]){_RUN})*")
_AFTER_HEBREW = re.compile(rf"%?{_RUN}(?:[.,:/+-]{_RUN})*[$€£]?(?: (?=[^\W\d]){_RUN})*")
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")
_OPENING, _CLOSING = "([{<«", ")]}>»"

_LEAST_SHARE = 0.3  # of a line's letters, that it is such a line
_LEAST_GAP = 0.4  # of the usual one between words: PDFium sees a few more

Edges = Callable[[int], tuple[float, float]]


def has_right_to_left(text: str) -> bool:
    return not text.isascii() and _LETTER.search(text) is not None


def order_letters(text: str, edges: Edges) -> tuple[str, list[int]]:
    """Return the page's text with such lines in reading order, and for each letter its former place.

    edges: left and right of the letter at a place, zeros for one that is not drawn.
    """
    parts: list[str] = []
    places: list[int] = []
    end = 0
    for line in _LINE.finditer(text):
        found = line.group().rstrip()
        right = len(_LETTER.findall(found))
        if not right or right < _LEAST_SHARE * sum(map(str.isalpha, found)):  # a word in an English line
            continue
        order = _read_line(found, {n: edges(line.start() + n) for n in range(len(found))})
        after = line.start() + len(found)
        read = "".join(found[n] for n in order)
        parts += text[end : line.start()], _mirror_brackets(read)
        places += [*range(end, line.start()), *(line.start() + n for n in order)]
        end = after
    return "".join((*parts, text[end:])), [*places, *range(end, len(text))]


def _read_line(line: str, edges: Mapping[int, tuple[float, float]]) -> list[int]:
    """Return the places of the line's letters as they are read, with a space in each of the widest gaps: as
    many as there are, but for those that are too narrow.
    """
    drawn = [n for n, letter in enumerate(line) if not letter.isspace()]
    marks = [n for n in drawn if unicodedata.category(line[n]) == "Mn"]
    bases = [n for n in drawn if n not in set(marks)]
    if not bases:
        return list(range(len(line)))
    centres = {n: sum(edges[n]) / 2 for n in drawn}
    last = 0.0
    for n in drawn:  # one without a box stands with the letter before it
        last = centres[n] = centres[n] if any(edges[n]) else last
    ascending = _find_ascending(bases, centres)
    bases.sort(key=lambda n: (-centres[n], -n if n in ascending else n))
    order = _turn_numbers(line, _put_spaces(line, bases, edges))
    letters = [n for n in bases if line[n].isalpha()] or bases
    on: dict[int, list[int]] = {}
    for mark in marks:
        on.setdefault(min(letters, key=lambda n: abs(centres[n] - centres[mark])), []).append(mark)
    return [place for n in order for place in (n, *on.get(n, ()))]


def _find_ascending(bases: Sequence[int], centres: Mapping[int, float]) -> set[int]:
    """Return the letters whose neighbours were returned from left to right: so are the parts of a ligature,
    which stand in one place.
    """
    ascending = set()
    for at, n in enumerate(bases):
        steps = [
            centres[after] - centres[before] for before, after in pairwise(bases[max(0, at - 2) : at + 3])
        ]
        if sum(step > 0 for step in steps) > sum(step < 0 for step in steps):
            ascending.add(n)
    return ascending


def _put_spaces(line: str, bases: Sequence[int], edges: Mapping[int, tuple[float, float]]) -> list[int]:
    spaces = [
        n for n, (before, letter) in enumerate(pairwise(line), 1) if letter.isspace() > before.isspace()
    ]
    gaps = {after: edges[before][0] - edges[after][1] for before, after in pairwise(bases)}
    widest = nlargest(len(spaces), gaps, key=lambda n: gaps[n])
    least = _LEAST_GAP * gaps[widest[len(widest) // 2]] if widest else 0.0
    wide = {n for n in widest if gaps[n] > least}
    free = iter(spaces)
    return [place for n in bases for place in ((next(free), n) if n in wide else (n,))]


def _turn_numbers(line: str, order: Sequence[int]) -> list[int]:
    """Return the order with numbers and Latin words from left to right."""
    read = "".join(line[n] for n in order)
    turned = list(order)
    for match in (_AFTER_ARABIC if _ARABIC.search(read) else _AFTER_HEBREW).finditer(read):
        turned[match.start() : match.end()] = order[match.start() : match.end()][::-1]
    return turned


def _mirror_brackets(line: str) -> str:
    """Turn the brackets of a line that are drawn the other way round, told by the spaces beside them; those
    that have none, or two, are drawn as most of the others.
    """
    signs, untold, wrong = list(line), [], 0
    for n, letter in enumerate(line):
        if letter in _OPENING or letter in _CLOSING:
            before = n == 0 or line[n - 1].isspace()
            after = n == len(line) - 1 or line[n + 1].isspace()
            if before == after:
                untold.append(n)
            elif before == (letter in _OPENING):
                wrong -= 1
            else:
                wrong += 1
                signs[n] = letter.translate(_MIRRORED)
    for n in untold if wrong > 0 else ():
        signs[n] = signs[n].translate(_MIRRORED)
    return "".join(signs)
