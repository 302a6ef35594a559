"""The reader of plain text: bytes -> Extraction. Runs in the sandbox only."""

import re
from collections.abc import Iterator

from documents.extractors.decoding import decode
from documents.extractors.failures import MAX_TEXT_BYTES, NO_WORDS, TOO_MUCH_TEXT, Unreadable
from documents.text.characters import clean_characters, has_text
from documents.text.tables import CELLS, read_first_row
from documents.types import Block, ExtractedPage, Extraction

_BLANK_LINES = re.compile(r"\n(?:[ \t]*+\n){2,}")
_DRAWN = r"^[ \t]*+(?:\|[^\n]*\||\+[-=+]+\+)[ \t]*+(?:\n|\Z)"  # with bars
_TABLE = re.compile(f"(?:{_DRAWN}){{3,}}", re.MULTILINE)
_LOST = "Some characters of the file could not be decoded."


def read_text(data: bytes) -> Extraction:
    """Keep the lines as they are, without white space at the ends and repeated blank lines.

    Raises Unreadable.
    """
    if len(data) > 4 * MAX_TEXT_BYTES:
        raise Unreadable(TOO_MUCH_TEXT)
    decoded = decode(data)
    text = _BLANK_LINES.sub("\n\n", clean_characters(decoded)).strip()
    if len(text.encode()) > MAX_TEXT_BYTES:
        raise Unreadable(TOO_MUCH_TEXT)
    if not has_text(text):
        raise Unreadable(NO_WORDS)
    lost = (_LOST,) if "\ufffd" in text and "\ufffd".encode() not in data else ()
    return Extraction(
        source="TEXT",
        text=text,
        pages=(ExtractedPage(1, 0, len(text), "text"),),
        blocks=tuple(_find_tables(text)),
        warnings=lost,
    )


def _find_tables(text: str) -> Iterator[Block]:
    for table in _TABLE.finditer(text):
        head = next((line for line in table[0].splitlines() if CELLS in line), None)
        if head is not None:
            start, end = table.start(), table.start() + len(table[0].rstrip())
            yield Block(start, end, "table", read_first_row(head, text, start))
