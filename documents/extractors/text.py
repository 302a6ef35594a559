"""The reader of plain text: bytes -> Extraction. Runs in the sandbox only."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from documents.extractors.cleaning import rejoin_words
from documents.extractors.decoding import decode
from documents.extractors.failures import (
    MAX_OUTLINE_ENTRIES,
    MAX_TEXT_BYTES,
    MAX_TITLE,
    NO_WORDS,
    TOO_MUCH_TEXT,
    Unreadable,
)
from documents.text.characters import clean_characters, clean_label, has_text
from documents.text.tables import CELLS, read_first_row
from documents.text.terms import find_term
from documents.types import Block, ExtractedPage, Extraction, Heading

_BLANK_LINES = re.compile(r"\n(?:[ \t]*+\n){2,}")
_DRAWN = r"^[ \t]*+(?:\|[^\n]*\||\+[-=+]+\+)[ \t]*+(?:\n|\Z)"  # with bars
_TABLE = re.compile(f"(?:{_DRAWN}){{3,}}", re.MULTILINE)
_OUTERMOST = re.compile(r"^\S[^\n]*", re.MULTILINE)
_INDENTED = re.compile(r"^[ \t]+\S", re.MULTILINE)
# "Opening hours", and on the next line as many dashes; perhaps the same line above, too.
_UNDERLINED = re.compile(
    r"^(?P<over>(?P<sign>[=~^\"'*+#`_-])(?P=sign){2,}[ \t]*+\n)?(?P<title>\S[^\n]{0,119})\n"
    r"(?P<under>(?P<mark>[=~^\"'*+#`_-])(?P=mark){2,})[ \t]*+$",
    re.MULTILINE,
)
_GAP = re.compile(r"\S(?:\t|[ ]{2,})")  # between the columns of a table
LEAST_UNDERLINED = 0.7  # of a heading's width
_PAGE = re.compile(r"\bpage\s+\d", re.IGNORECASE)
REPEATED = 3  # times a line stands there that is no heading but the head of a printed page
_LOST = "Some characters of the file could not be decoded."


def read_text(data: bytes) -> Extraction:
    """Keep the lines as they are, without white space at the ends, repeated blank lines and broken words.

    Raises Unreadable.
    """
    if len(data) > 4 * MAX_TEXT_BYTES:
        raise Unreadable(TOO_MUCH_TEXT)
    decoded = decode(data)
    text = _BLANK_LINES.sub("\n\n", rejoin_words(clean_characters(decoded))).strip()
    if len(text.encode()) > MAX_TEXT_BYTES:
        raise Unreadable(TOO_MUCH_TEXT)
    if not has_text(text):
        raise Unreadable(NO_WORDS)
    lost = (_LOST,) if "\ufffd" in text and "\ufffd".encode() not in data else ()
    return Extraction(
        source="TEXT",
        text=text,
        pages=(ExtractedPage(1, 0, len(text), "text"),),
        headings=_find_underlined(text) or _find_headings(text),
        blocks=tuple(_find_tables(text)),
        warnings=lost,
    )


def _find_underlined(text: str) -> tuple[Heading, ...]:
    """Return the headings with a line of signs below them, as reStructuredText and many others write them.

    Their levels are in the order in which the signs first occur.
    """
    levels: dict[tuple[str, bool], int] = {}
    found = []
    for heading in islice(_UNDERLINED.finditer(text), MAX_OUTLINE_ENTRIES):
        title, under, start = heading["title"].rstrip(), heading["under"], heading.start()
        drawn = len(under) >= LEAST_UNDERLINED * len(title) and (heading["sign"] or under[0]) == under[0]
        alone = text[text.rfind("\n", 0, max(0, start - 1)) + 1 : start].isspace() or not start
        told = title.endswith((".", ",", ";")) or _GAP.search(title) or not any(map(str.isalpha, title))
        if drawn and alone and not told:
            level = levels.setdefault((under[0], bool(heading["over"])), len(levels) + 1)
            found.append(Heading(min(level, 6), clean_label(title, max_chars=MAX_TITLE), start))
    return tuple(found)


def _find_headings(text: str) -> tuple[Heading, ...]:
    """Return the headings of a text that is indented but for them, as manual pages and RFCs are.

    None where other lines are not indented, either: nobody could tell what ends there.
    """
    outermost = sum(1 for _ in _OUTERMOST.finditer(text))
    if 2 * outermost > sum(1 for _ in _INDENTED.finditer(text)):
        return ()
    lines = (line.span() for line in _OUTERMOST.finditer(text))
    found = [(start, term.text) for start, end in lines if (term := find_term(text, start, end))]
    times = Counter(title for _, title in found)
    headings = [
        Heading(1, clean_label(title, max_chars=MAX_TITLE), start)
        for start, title in found
        if times[title] < REPEATED and not _PAGE.search(title) and any(map(str.isalpha, title))
    ]
    return tuple(headings[:MAX_OUTLINE_ENTRIES]) if len(headings) >= max(2, outermost / 2) else ()


def _find_tables(text: str) -> Iterator[Block]:
    for table in _TABLE.finditer(text):
        head = next((line for line in table[0].splitlines() if CELLS in line), None)
        if head is not None:
            start, end = table.start(), table.start() + len(table[0].rstrip())
            yield Block(start, end, "table", read_first_row(head, text, start))
