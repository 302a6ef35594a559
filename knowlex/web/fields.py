"""Checks of text, and fields of a JSON object read strictly where no shape describes it.

Plain Python. Everything raises InvalidInput, naming the field and its limit.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Literal, overload

from knowlex.base.errors import InvalidInput, InvalidQuestion

MAX_QUESTION_CHARS = 2000
QUESTION_RULE = f"Query must be non-blank and at most {MAX_QUESTION_CHARS} characters."

# Letters, marks and symbols by category that show as nothing: Hangul and Khmer fillers, the grapheme joiner,
# the blank Braille pattern, Mongolian and general variation selectors.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_NOTHING = {"Zs", "Zl", "Zp", "Cc", "Cf"}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_DECIMAL = re.compile(r"-?[0-9]{1,18}", re.ASCII)


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


@overload
def text_field(
    body: Mapping[str, Any], name: str, *, max_chars: int, required: Literal[True] = True
) -> str: ...
@overload
def text_field(body: Mapping[str, Any], name: str, *, max_chars: int, required: bool) -> str | None: ...
def text_field(body: Mapping[str, Any], name: str, *, max_chars: int, required: bool = True) -> str | None:
    """Return a non-blank string of at most `max_chars`; None only where it is missing and not required."""
    if name not in body:
        if required:
            raise InvalidInput(f"{name} is required.", field=name)
        return None
    value = body[name]
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a string.", field=name)
    if len(value) > max_chars or is_blank(value):
        raise InvalidInput(f"{name} must be non-blank and at most {max_chars} characters.", field=name)
    return check_storable(value, name)


@overload
def int_field(body: Mapping[str, Any], name: str, *, low: int, high: int, default: int) -> int: ...
@overload
def int_field(body: Mapping[str, Any], name: str, *, low: int, high: int, default: None) -> int | None: ...
def int_field(body: Mapping[str, Any], name: str, *, low: int, high: int, default: int | None) -> int | None:
    """Return an integer from `low` to `high`, both included; `default` where it is missing."""
    if name not in body:
        return default
    value = body[name]
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidInput(f"{name} must be an integer from {low} to {high}.", field=name)
    return value


def int_parameter(text: str | None, name: str, *, low: int, high: int, default: int) -> int:
    """Return the same of a query parameter: ASCII decimal digits only, `default` where it is missing."""
    if text is None:
        return default
    if not _DECIMAL.fullmatch(text) or not low <= int(text) <= high:
        raise InvalidInput(f"{name} must be an integer from {low} to {high}.", field=name)
    return int(text)


def bool_field(body: Mapping[str, Any], name: str, *, default: bool) -> bool:
    """Return true or false, nothing else; `default` where it is missing."""
    value = body.get(name, default)
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be true or false.", field=name)
    return value
