"""The reader of comma-separated values: bytes -> Extraction. Runs in the sandbox only."""

import csv
import re
from collections import Counter
from io import StringIO
from itertools import islice

from documents.extractors.composer import Composer
from documents.extractors.decoding import decode
from documents.extractors.failures import MAX_TEXT_BYTES, TOO_MUCH_TEXT, Unreadable
from documents.extractors.office.sheets import compose_rows
from documents.extractors.text import read_text
from documents.text.characters import clean_characters
from documents.types import Extraction

_DELIMITERS = ";\t,|"  # of two that cut all rows alike, the first
_NAMED = re.compile(r"sep=([^\w\s\"]|\t)\n", re.IGNORECASE)  # for Excel, which does not show this line
_SAMPLE_ROWS = 50
_NO_COLUMNS = (0.0, 0)


def read_csv(data: bytes) -> Extraction:
    """Read rows by the delimiter that the first line names, or the one that cuts most of the first alike;
    as plain text where none does.

    Raises Unreadable.
    """
    if len(data) > 4 * MAX_TEXT_BYTES:
        raise Unreadable(TOO_MUCH_TEXT)
    text = clean_characters(decode(data))
    csv.field_size_limit(MAX_TEXT_BYTES)
    if named := _NAMED.match(text):
        delimiter, text = named[1], text[named.end() :]
    else:
        delimiter = max(_DELIMITERS, key=lambda delimiter: _rate(text, delimiter))
        if _rate(text, delimiter) == _NO_COLUMNS:
            return read_text(data)
    composer = Composer()
    try:
        rows = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
        compose_rows(enumerate(rows, start=1), composer, level=2)
    except csv.Error as exc:  # a field longer than all that is read
        raise Unreadable(TOO_MUCH_TEXT) from exc
    return composer.finish("CSV")


def _rate(text: str, delimiter: str) -> tuple[float, int]:
    """Return which share of the first rows has the commonest width, and that width, if over 1."""
    try:
        rows = islice(csv.reader(StringIO(text, newline=""), delimiter=delimiter), _SAMPLE_ROWS)
        widths = Counter(len(row) for row in rows if row)
    except csv.Error:
        return _NO_COLUMNS
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return (count / widths.total(), width) if width > 1 else _NO_COLUMNS
