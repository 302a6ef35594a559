"""Text as it is compared word for word, with the way back to where it stands. Plain Python, linear."""

import re
import unicodedata
from array import array
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

CACHED_TEXTS = 512
UNSPACED = (  # in a class of characters: of scripts that put no space between words
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
)
_LETTER = r"[^\W\d_]"
LINK_TARGET = (
    r"\]\([^()\s]{1,500}(?:\([^()\s]{0,100}\)[^()\s]{0,100})?(?:\s+\"[^\"]{0,200}\")?\)"  # of Markdown
    r"(?:\{:?[^{}\n]{0,100}\})?"  # with attributes: {target=_blank}
)
# Of HTML within Markdown. What marks words, and what begins or ends a line.
_OF_TAG = r"(?:\s[^<>]{0,500})?/?>"
INLINE_TAG = (
    rf"</?(?i:a|abbr|b|big|cite|code|em|font|i|img|kbd|mark|q|s|small|span|strong|sub|sup|u){_OF_TAG}"
)
LINE_TAG = (
    r"</?(?i:blockquote|br|center|details|div|h[1-6]|hr|li|ol|p|pre|summary|table|tbody|td|th|thead|tr|ul)"
    + _OF_TAG
)
# A tag of a template, the anchor of a heading, a note that has a name: "{% include a %}", "{#a}", "[^a]".
PAGE_SIGN = r"(?:\{%[^{}\n]{0,200}%\}[ ]?|[ ]?\{\#[\w.:-]{1,100}\}|\[\^[^\[\]\s]{1,60}\](?!:))"
_PIECE = re.compile(
    rf"""
      (?P<nothing>!?\[(?=[^\]\[]{{0,200}}{LINK_TARGET})|{LINK_TARGET}
        |{PAGE_SIGN}|(?:[ ]?{INLINE_TAG})+(?=\s)|{INLINE_TAG}
        |[ ]?\[\d{{1,4}}(?:[ ]?[,;–-][ ]?\d{{1,4}}){{0,9}}\](?!\()
        |(?<={_LETTER})[-‐‑\xad¬](?:[ \t]*\n\s*)?(?={_LETTER})
        |[*`|#\xad\u200b-\u200f\u2060\ufeff]|(?<!\w)_|_(?!\w))
    | (?P<space>(?:{LINE_TAG}\s*)+|[^\S ]\s*|[ ]\s+)
    | (?P<double>["“”„‟«»]|''|‘‘|’’)
    | (?P<single>['‘’‚‛‹›´])
    | (?P<dash>[‐‑‒–—―−])
    | (?P<cluster>[a-zA-Z][\u0300-\u036f]+|[^\x00-\x7f][\u0300-\u036f\u3099\u309a]*)
    """,
    re.VERBOSE,
)
# Letters, digits and signs that stay as they are, one space between words.
_PLAIN = re.compile(r"(?: ?[a-zA-Z0-9.,;:!?()/%$&+=@]++)*+")  # possessive: in linear time
_IS_CJK = re.compile(f"[{UNSPACED}]")
_LIST_SIGN = re.compile(r"(?:[-+•‣▪●◦○■□►>]|\(?(?:\d{1,2}|[a-z])[.)])\s+")
_SIGNS = {"double": '"', "single": "'", "dash": "-"}
_ENDS = " .,;:!?…。、，；：！？"


class Normal(NamedTuple):
    """text[i] comes from original[starts[i]:ends[i]]."""

    text: str
    starts: "array[int]"
    ends: "array[int]"


@lru_cache(maxsize=CACHED_TEXTS)
def normalise(text: str) -> Normal:
    """Fold case, Unicode forms, quotes, dashes and spaces; drop markers, emphasis, the targets of links,
    tags and soft hyphens.

    A hyphen within a word goes too, since the one at a line's end may be the word's own or the typesetter's.
    """
    if _PLAIN.fullmatch(text):  # as most sentences: nothing moves
        return Normal(text.lower(), array("I", range(len(text))), array("I", range(1, len(text) + 1)))
    pieces: list[str] = []
    starts, ends = array("I"), array("I")
    last = ""
    for piece, start, end in _pieces(text):
        if piece[0] == " " and _is_gap(text[start]) and (last == " " or _IS_CJK.match(last)):
            piece, start = piece[1:], start + 1
        if piece[-1:] == " " and _is_gap(text[end - 1]) and _IS_CJK.match(text, end):
            piece, end = piece[:-1], end - 1
        if not piece:
            continue
        if end - start == len(piece):
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
        else:
            starts.extend([start] * len(piece))
            ends.extend([end] * len(piece))
        pieces.append(piece)
        last = piece[-1:]
    return Normal("".join(pieces), starts, ends)


def _is_gap(letter: str) -> bool:
    return letter.isspace() or letter in "<>"  # that of a tag, which folds to a space


def bare(claim: str) -> str:
    """Normalise a claim as `occurrences` looks for it, without a list's sign and the marks at its end."""
    text = normalise(claim).text.strip(" ")
    sign = _LIST_SIGN.match(claim.lstrip())
    if sign:
        text = normalise(claim.lstrip()[sign.end() :]).text.strip(" ")
    return text.rstrip(_ENDS)


def occurrences(sought: str, content: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each occurrence of what `bare` made; none within a word or a number."""
    if not sought:
        return
    normal = normalise(content)
    position = normal.text.find(sought)
    while position >= 0:
        end = position + len(sought)
        if not _is_within_word(normal.text, position) and not _is_within_word(normal.text, end):
            yield normal.starts[position], normal.ends[end - 1]
        position = normal.text.find(sought, position + 1)


@lru_cache(maxsize=CACHED_TEXTS)
def _squeeze(text: str) -> Normal:
    normal = normalise(text)
    kept = [position for position, letter in enumerate(normal.text) if letter.isalnum() or letter == "%"]
    starts, ends = (array("I", (offsets[position] for position in kept)) for offsets in normal[1:])
    return Normal("".join(normal.text[position] for position in kept), starts, ends)


def find_quote(quote: str, content: str) -> tuple[int, int] | None:
    """Return where a quote stands first, comparing letters and digits only; None within a word."""
    sought, normal = _squeeze(quote).text, _squeeze(content)
    position = normal.text.find(sought) if sought else -1
    while position >= 0:
        start, end = normal.starts[position], normal.ends[position + len(sought) - 1]
        if not _is_within_word(content, start) and not _is_within_word(content, end):
            return start, end
        position = normal.text.find(sought, position + 1)
    return None


def _pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield what the text folds to, never empty, with its place; all that stays as it is between two signs
    together, single spaces within it.
    """
    done = 0
    for match in _PIECE.finditer(text):
        start, end = match.span()
        if done < start:
            yield text[done:start].lower(), done, start
        done = end
        kind = str(match.lastgroup)
        if kind == "space":
            yield " ", start, end
        elif kind == "cluster":
            yield _fold(match[0]), start, end
        elif kind in _SIGNS:
            yield _SIGNS[kind], start, end
    if done < len(text):
        yield text[done:].lower(), done, len(text)


@lru_cache(maxsize=8192)
def _fold(cluster: str) -> str:
    return unicodedata.normalize("NFKC", cluster).lower()


def _is_within_word(text: str, position: int) -> bool:
    """Tell whether the place lies inside a word or a number."""
    before, after = text[max(0, position - 1) : position], text[position : position + 1]
    if not before or not after:
        return False
    if before.isalnum() and after.isalnum():
        return not (_IS_CJK.match(before) or _IS_CJK.match(after))
    digits = text[position - 2 : position - 1].isdigit() and before in ".,"
    if digits and after.isdigit():
        return True
    return (
        before.isdigit() and after in ".,%" and (after == "%" or text[position + 1 : position + 2].isdigit())
    )
