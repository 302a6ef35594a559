"""The reader of comma-separated values: bytes -> Extraction. Runs in the sandbox only."""

import csv
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

_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 50


def read_csv(data: bytes) -> Extraction:
    """Read rows by the delimiter that cuts most of the first ones alike; as plain text where none does.

    Raises Unreadable.
    """
    if len(data) > 4 * MAX_TEXT_BYTES:
        raise Unreadable(TOO_MUCH_TEXT)
    text = clean_characters(decode(data))
    csv.field_size_limit(MAX_TEXT_BYTES)
    delimiter = max(_DELIMITERS, key=lambda delimiter: _count_alike(text, delimiter))
    if _count_alike(text, delimiter) < 2:
        return read_text(data)
    composer = Composer()
    try:
        rows = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
        compose_rows(enumerate(rows, start=1), composer, level=2)
    except csv.Error as exc:  # a field longer than all that is read
        raise Unreadable(TOO_MUCH_TEXT) from exc
    return composer.finish("CSV")


def _count_alike(text: str, delimiter: str) -> int:
    """Return the cells in rows of the commonest width among the first rows; 0 where that is one cell."""
    try:
        rows = islice(csv.reader(StringIO(text, newline=""), delimiter=delimiter), _SAMPLE_ROWS)
        widths = Counter(len(row) for row in rows if row)
    except csv.Error:
        return 0
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return width * count if width > 1 else 0
