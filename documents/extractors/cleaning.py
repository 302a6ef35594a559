"""Cleaning of extracted pages: words hyphenated over line ends are rejoined, white space is normalized."""

import re
from functools import cache

from documents.text.characters import LINE_END, clean_characters
from documents.text.word_lists import read_vocabulary, read_words

# PDFium marks a hyphen at a line's end with U+FFFE or U+0002, with or without the line end after it;
# some typesetters write U+00AD, all others a plain hyphen.
_BROKEN = re.compile(
    r"""
    (?: [\ufffe\x02][ \t]*\n?
      | (?P<soft>\xad[ \t]*\n)
      | (?<=[^\W\d_])[-\u2010][ \t]*\n(?=[ \t]*[^\W\d_])
    )
    (?P<indent>[ \t]*)
    (?P<second>\S{0,40}) [ \t]*\n?
    """,
    re.VERBOSE,
)
_MARK = re.compile("[\ufffe\x02\xad\\-\u2010]")  # what it begins with
_CONJUNCTIONS = read_words("conjunctions")
_LAST_WORD = re.compile(r"[\w'’]+\Z")
_FIRST_WORD = re.compile(r"[\w'’]+")
_LONGEST = 40
_NEARBY = 4_000
_PREFIXES = read_words("prefixes")
SPACES = re.compile("[ \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
BLANK_LINES = re.compile(r"\n{3,}")


def rejoin_words(text: str) -> str:
    """Rejoin words broken at line ends: "inter-" + "national", but "third-" + "party" keep their hyphen.

    The line end moves behind the word, after a space, as on a wrapped line; what follows stays indented.
    """
    parts, done = [], 0
    for mark in _MARK.finditer(text):  # finds them twenty times as fast as the whole pattern
        if mark.start() >= done and (match := _BROKEN.match(text, mark.start())):
            parts += [text[done : mark.start()], _rejoin(match)]
            done = match.end()
    return "".join([*parts, text[done:]])


def _rejoin(match: re.Match[str]) -> str:
    text, start, second, rest = match.string, match.start(), match["second"], f" \n{match['indent']}"
    if match["soft"]:
        return f"{second}{rest}"
    lead = text[max(0, start - _LONGEST) : start]
    before, after = _LAST_WORD.search(lead), _FIRST_WORD.match(second)
    if before is None or after is None:
        return f"-{second}{rest}"
    if lead[: before.start()].endswith("-") or second[after.end() :].startswith("-"):
        return f"-{second}{rest}"  # "year-over-" + "year"
    if after.group() in _CONJUNCTIONS:  # "Vor-" + "und Nachteile": the hyphen stands for the rest of a word
        return f"- {second}{rest}"
    near = text[max(0, start - _NEARBY) : start + _NEARBY]
    hyphen = "-" if _is_compound(before.group(), after.group(), near) else ""
    return f"{hyphen}{second}{rest}"


def _is_compound(first: str, second: str, near: str) -> bool:
    """Tell if the hyphen belongs to the word, by the text nearby and 30,000 frequent words and parts.

    Seven company reports had 112 marked line ends, and nearly all were such hyphens.
    """
    if not second[0].islower():
        return True
    if first + second in near:
        return False
    if f"{first}-{second}" in near:
        return True
    first, second, words = first.casefold(), second.casefold(), _list_words()
    return first + second not in words and first in words and second in words and first not in _PREFIXES


@cache
def _list_words() -> frozenset[str]:
    return frozenset(word for word in read_vocabulary() if len(word) > 1)


def clean_page(text: str) -> str:
    """Clean the lines of a PDF page; words hyphenated over a line end are whole again.

    A single space at a line's end is kept: it distinguishes a wrapped line from a paragraph's last.
    """
    text = SPACES.sub(" ", clean_characters(rejoin_words(LINE_END.sub("\n", text))))
    return BLANK_LINES.sub("\n\n", text)
