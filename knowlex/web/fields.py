"""Checks of text: what is blank, what PostgreSQL can store, what is a question. Plain Python."""

import re
import unicodedata

from knowlex.base.errors import InvalidInput, InvalidQuestion

MAX_QUESTION_CHARS = 2000
QUESTION_FIELDS = ("query", "question")
QUESTION_RULE = f"Query must be non-blank and at most {MAX_QUESTION_CHARS} characters."

# Letters, marks and symbols by category that show as nothing: Hangul and Khmer fillers, the grapheme joiner,
# the blank Braille pattern, Mongolian and general variation selectors.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_NOTHING = {"Zs", "Zl", "Zp", "Cc", "Cf"}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def is_blank(text: str) -> bool:
    """Return whether nothing is left after removing white space, control and invisible characters."""
    return all(
        char.isspace() or unicodedata.category(char) in _NOTHING or _INVISIBLE.match(char) for char in text
    )


def is_storable(text: str) -> bool:
    """Return whether PostgreSQL can store it: without U+0000 and lone surrogates."""
    return not _UNSTORABLE.search(text)


def storable(text: str) -> str:
    """Return the text with U+FFFD for each character that PostgreSQL cannot store; no place in it moves."""
    return _UNSTORABLE.sub("\ufffd", text)


def check_storable(text: str, field: str | None) -> str:
    """Return the text itself. Raises InvalidInput on U+0000 and lone surrogates."""
    if not is_storable(text):
        raise InvalidInput(f"{field or 'Text'} holds a character that cannot be stored.", field=field)
    return text


def check_question(text: str, field: str) -> str:
    """Return the question as it came. Raises InvalidQuestion if it is blank, too long or cannot be stored."""
    if len(text) > MAX_QUESTION_CHARS or is_blank(text):
        raise InvalidQuestion(QUESTION_RULE, field=field)
    if _UNSTORABLE.search(text):
        raise InvalidQuestion("Query holds a character that cannot be stored.", field=field)
    return text
