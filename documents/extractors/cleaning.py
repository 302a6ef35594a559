"""Makes extracted text fit for PostgreSQL, JSON and a reader's eye."""

import re

from documents.characters import LINE_END, clean_characters, clean_label, has_text
from documents.extractors.hyphens import rejoin_words

__all__ = ["clean_characters", "clean_label", "clean_page", "has_text"]

_SPACES = re.compile("[ \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
_BLANK_LINES = re.compile(r"\n{3,}")


def clean_page(text: str) -> str:
    """The lines of a PDF page, cleaned; words hyphenated over a line end are whole again.

    A single space at a line's end is kept: it tells a wrapped line from a paragraph's last.
    """
    text = _SPACES.sub(" ", clean_characters(rejoin_words(LINE_END.sub("\n", text))))
    return _BLANK_LINES.sub("\n\n", text)
