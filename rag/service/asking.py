"""A question and its filters, checked before anything is called. Plain Python."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knowlex.web.fields import MAX_QUESTION_CHARS, is_blank, is_storable
from rag.service.errors import InvalidQuery

SOURCE, MAX_RESULTS = "source", "max_results"
MOST_RESULTS, MOST_FILTERS, MOST_VALUES = 50, 20, 100
KEY_CHARS, VALUE_CHARS = 200, 1000
LARGEST = 2**63
_RESERVED = re.compile(r"[$#]")  # Chroma's own: operators, and the document's text


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that can be asked. filters: `source` and keys of the metadata, each a scalar or a list of
    such, of which one must be equal. max_results: None where the caller leaves it to the settings.
    """

    text: str
    filters: Mapping[str, Any]
    max_results: int | None


def checked(question: Any, filters: Any) -> Asked:
    """Raises InvalidQuery, naming the field and its limit."""
    text, given = _checked_question(question), _checked_filters(filters)
    most = _max_results(given[MAX_RESULTS]) if MAX_RESULTS in given else None
    return Asked(text, {k: _condition(k, v) for k, v in given.items() if k != MAX_RESULTS}, most)


def _checked_question(text: Any) -> str:
    if not isinstance(text, str):
        raise _invalid("question", f"must be a string, not {_kind(text)}")
    if is_blank(text):
        raise _invalid("question", "must not be blank")
    if len(text) > MAX_QUESTION_CHARS:
        raise _invalid("question", f"must have at most {MAX_QUESTION_CHARS} characters; it has {len(text)}")
    if not is_storable(text):
        raise _invalid("question", "holds a character that is no text")
    return text


def _checked_filters(filters: Any) -> Mapping[str, Any]:
    if filters is None:
        return {}
    if not isinstance(filters, Mapping):
        raise _invalid("filters", f"must be a dict or None, not {_kind(filters)}")
    if len(filters) > MOST_FILTERS:
        raise _invalid("filters", f"must have at most {MOST_FILTERS} keys; it has {len(filters)}")
    for key in filters:
        if not isinstance(key, str) or is_blank(key) or len(key) > KEY_CHARS or not is_storable(key):
            raise _invalid("filters", f"must have names of metadata for keys, of 1 to {KEY_CHARS} characters")
        if _RESERVED.match(key):
            raise _invalid(f"filters.{key}", "is no key of metadata: only plain equality can be asked for")
    return filters


def _max_results(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_RESULTS:
        raise _invalid(f"filters.{MAX_RESULTS}", f"must be an integer from 1 to {MOST_RESULTS}")
    return value


def _condition(key: str, value: Any) -> Any:
    field = f"filters.{key}"
    values = value if isinstance(value, list | tuple) else [value]
    if not 1 <= len(values) <= MOST_VALUES:
        raise _invalid(field, f"must have 1 to {MOST_VALUES} values; it has {len(values)}")
    for one in values:
        _check_scalar(one, field)
        if key == SOURCE and (not isinstance(one, str) or is_blank(one)):
            raise _invalid(field, "must be the name of a document, or a list of names")
    return list(values) if isinstance(value, list | tuple) else value


def _check_scalar(value: Any, field: str) -> None:
    """A string, a number or a boolean, as metadata hold them."""
    if isinstance(value, str):
        if len(value) > VALUE_CHARS:
            raise _invalid(field, f"must have at most {VALUE_CHARS} characters")
        if not is_storable(value):
            raise _invalid(field, "holds a character that is no text")
    elif not isinstance(value, bool | int | float) or not (math.isfinite(value) and abs(value) < LARGEST):
        raise _invalid(field, f"must be a string, a number, a boolean, or a list of them, not {_kind(value)}")


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def _invalid(field: str, rule: str) -> InvalidQuery:
    shown = field if len(field) <= KEY_CHARS else f"{field[:KEY_CHARS]}..."
    return InvalidQuery(f"{shown} {rule}.", field=field)
