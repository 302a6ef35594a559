"""Whether a sentence of a reply ends at a mark or a line end, as soon as that can be told. Plain Python.

None: not yet. What is told never changes when more text follows, so every way to cut a reply gives the same.
"""

import re

from documents.text.sentences import MONTHS, is_end_at_full_stop
from rag.citations.markers import CLOSING, OPENERS, OPENING, run_end

LINE_LOOK = 64  # white space that is looked past
_ITEM_LOOK = 8
_NARROW = 60  # a line shorter than this was not wrapped
_LOOK_BACK = 84
_UNCLOSED = re.compile(rf"[{OPENING}][^{CLOSING}\n]{{0,80}}\Z")
_MARKED = re.compile(rf"[{CLOSING}⁰¹²³⁴⁵⁶⁷⁸⁹⁾][)）*^]{{0,2}}[ \t]{{0,4}}\Z|[(（]\d{{1,3}}[)）]\Z")
_WORD = re.compile(r"[\"'“‘«(*_¿¡„]*(\w{0,20})")
_LETTER = re.compile(r"\w")
_ITEM = re.compile(r"(?:[-*+•‣▪●◦○■□►–—]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]\s|#{1,6}\s|\||>)")
_FOLLOWING = ("", "The", "1", "x", "X", min(MONTHS))  # every kind of word that makes a difference


def mark_ends(text: str, begin: int, found: re.Match[str], *, final: bool) -> bool | None:
    """Of a sentence that begins at `begin`: a full stop, question or exclamation mark, or a run of them."""
    stop, end = found.span()
    if end == len(text):
        return True if final else None
    back = max(begin, stop - _LOOK_BACK)
    if not _LETTER.search(text, begin, stop) or _UNCLOSED.search(text, back, stop):
        return False
    if not text[end].isspace():
        run = run_end(text, end, final=final)
        return None if run == 0 else run is not None
    if _MARKED.search(text, back, stop):
        return True
    return _next_word_says(text, begin, stop, end, final)


def _next_word_says(text: str, begin: int, stop: int, end: int, final: bool) -> bool | None:
    after = _past_space(text, end)
    if after == len(text) or after - end >= LINE_LOOK:
        return True if final or after - end >= LINE_LOOK else None
    run = run_end(text, after, final=final)
    if run == 0:
        return None
    if run:
        after = _past_space(text, run)
    word = _WORD.match(text, after)
    following = word[1] if word else ""
    whole = final or word is None or word.end() < len(text) or len(following) == 20
    if not following and not whole:
        return None
    if following[:1].islower() and not run:
        return False
    if text[stop] != ".":
        return not following[:1].islower()
    says = {is_end_at_full_stop(text, begin, stop, one) for one in ((following,) if whole else _FOLLOWING)}
    return says.pop() if len(says) == 1 else None


def line_ends(text: str, begin: int, newline: int, *, final: bool) -> bool | None:
    """Whether the line's end is more than the wrapping of a paragraph."""
    after = newline + 1
    while after < len(text) and after - newline <= LINE_LOOK and text[after] in " \t\r":
        after += 1
    if after < len(text) and text[after] == "\n":
        return True
    if len(text) - after < _ITEM_LOOK and "\n" not in text[after:] and not final:
        return None
    if after == len(text) or text[after] in OPENERS or _ITEM.match(text, after):
        return True
    line = text[max(begin, text.rfind("\n", begin, newline) + 1) : newline].rstrip()
    if text[after].islower() or line.endswith((",", ";", "-", "–", "(")):
        return False
    return len(line) < _NARROW or not line[-1].isalnum()


def _past_space(text: str, start: int) -> int:
    end = start
    while end < len(text) and end - start < LINE_LOOK and text[end].isspace():
        end += 1
    return end
