"""A question and its filters, checked before anything is called. Plain Python."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knowlex.web.fields import MAX_QUESTION_CHARS, is_blank, is_storable
from rag_service.errors import InvalidQuery, invalid_query

SOURCE, MAX_RESULTS = "source", "max_results"
MOST_RESULTS, MOST_FILTERS, MOST_VALUES = 50, 20, 100
KEY_CHARS, VALUE_CHARS = 200, 1000
LARGEST = 2**63
_RESERVED = re.compile(r"[$#]")  # Chroma's own: operators, and the document's text


@dataclass(frozen=True, slots=True)
class CheckedQuestion:
    """A question that can be asked.

    filters: `source` and keys of the metadata, each a scalar or a list of scalars, of which one must be
    equal. max_results: None where the caller leaves it to the settings.
    """

    text: str
    filters: Mapping[str, Any]
    max_results: int | None


def check_question(question: Any, filters: Any) -> CheckedQuestion:
    """Raises InvalidQuery, naming the field and its limit."""
    _check_text(question)
    conditions = _check_filters(filters)
    max_results = conditions.pop(MAX_RESULTS, None)
    return CheckedQuestion(question, conditions, max_results)


def _check_text(text: Any) -> None:
    if not isinstance(text, str):
        raise _invalid("question", f"must be a string, not {_type_name(text)}")
    if is_blank(text):
        raise _invalid("question", "must not be blank")
    if len(text) > MAX_QUESTION_CHARS:
        raise _invalid("question", f"must have at most {MAX_QUESTION_CHARS} characters; it has {len(text)}")
    if not is_storable(text):
        raise _invalid("question", "holds a character that is no text")


def _check_filters(filters: Any) -> dict[str, Any]:
    if filters is None:
        return {}
    if not isinstance(filters, Mapping):
        raise _invalid("filters", f"must be a dict or None, not {_type_name(filters)}")
    if len(filters) > MOST_FILTERS:
        raise _invalid("filters", f"must have at most {MOST_FILTERS} keys; it has {len(filters)}")
    for key in filters:
        if not isinstance(key, str) or is_blank(key) or len(key) > KEY_CHARS or not is_storable(key):
            raise _invalid("filters", f"must have names of metadata for keys, of 1 to {KEY_CHARS} characters")
        if _RESERVED.match(key):
            raise _invalid(f"filters.{key}", "is no key of metadata: only plain equality can be asked for")
    return {key: _check_condition(key, value) for key, value in filters.items()}


def _check_condition(key: str, value: Any) -> Any:
    field = f"filters.{key}"
    if key == MAX_RESULTS:
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_RESULTS:
            raise _invalid(field, f"must be an integer from 1 to {MOST_RESULTS}")
        return value
    values = list(value) if isinstance(value, list | tuple) else [value]
    if not 1 <= len(values) <= MOST_VALUES:
        raise _invalid(field, f"must have 1 to {MOST_VALUES} values; it has {len(values)}")
    for scalar in values:
        _check_scalar(scalar, field)
        if key == SOURCE and (not isinstance(scalar, str) or is_blank(scalar)):
            raise _invalid(field, "must be the name of a document, or a list of names")
    return values if isinstance(value, list | tuple) else value


def _check_scalar(value: Any, field: str) -> None:
    """Metadata hold strings, numbers and booleans."""
    if isinstance(value, str):
        if len(value) > VALUE_CHARS:
            raise _invalid(field, f"must have at most {VALUE_CHARS} characters")
        if not is_storable(value):
            raise _invalid(field, "holds a character that is no text")
    elif not isinstance(value, bool | int | float) or not (math.isfinite(value) and abs(value) < LARGEST):
        rule = f"must be a string, a number, a boolean, or a list of them, not {_type_name(value)}"
        raise _invalid(field, rule)


def _type_name(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def _invalid(field: str, rule: str) -> InvalidQuery:
    shown = field if len(field) <= KEY_CHARS else f"{field[:KEY_CHARS]}..."
    return invalid_query(f"{shown} {rule}.", field)
