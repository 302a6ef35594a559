"""`filters.metadata`: a key with a value, a list of values or a range. Everything raises InvalidInput."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from django.conf import settings

from knowlex.base.errors import InvalidInput
from rag.types.question import FilterValue, MetadataFilter

MAX_KEYS = 20
MAX_VALUES = 100
MAX_CHARS = 1000
LARGEST = 10**18
BOUNDS = ("gte", "lte")
_KEY = re.compile(r"[\w.-]{1,64}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_KINDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "date": "a date as YYYY-MM-DD",
}


def metadata_filters(given: Mapping[str, Any]) -> tuple[MetadataFilter, ...]:
    if len(given) > MAX_KEYS:
        raise _wrong("filters.metadata", f"must name at most {MAX_KEYS} keys")
    return tuple(_filter(key, value) for key, value in given.items())


def _filter(key: str, value: Any) -> MetadataFilter:
    allowed: Mapping[str, str] | None = settings.FILTER_KEYS
    field = f"filters.metadata.{key[:64]}"
    if not _KEY.fullmatch(key):
        raise _wrong(field, "is not a key: it takes 1 to 64 letters, digits, underscores, hyphens and dots")
    if allowed is not None and key not in allowed:
        raise _wrong(field, f"cannot be filtered by; the keys are {', '.join(sorted(allowed)) or 'none'}")
    kind = (allowed or {}).get(key, "")
    if isinstance(value, dict):
        return _range(key, value, field, kind)
    values = value if isinstance(value, list) else [value]
    if not 1 <= len(values) <= MAX_VALUES:
        raise _wrong(field, f"must hold 1 to {MAX_VALUES} values")
    return MetadataFilter(key, any_of=tuple(_value(one, field, kind) for one in values))


def _range(key: str, bounds: Mapping[str, Any], field: str, kind: str) -> MetadataFilter:
    if not bounds or any(name not in BOUNDS for name in bounds):
        raise _wrong(field, "must be a value, a list of values, or an object with gte, lte or both")
    low, high = (_bound(bounds[name], f"{field}.{name}", kind) if name in bounds else None for name in BOUNDS)
    if low is not None and high is not None:
        if isinstance(low, str) != isinstance(high, str):
            raise _wrong(field, "must have two numbers or two strings as gte and lte")
        if low > high:  # type: ignore[operator]  # two of a kind, by now
            raise _wrong(field, "must not have its gte above its lte")
    return MetadataFilter(key, at_least=low, at_most=high)


def _bound(value: Any, field: str, kind: str) -> str | int | float:
    if isinstance(value, bool):
        raise _wrong(field, "must be a number or a string")
    return _value(value, field, kind)


def _value(value: Any, field: str, kind: str) -> FilterValue:
    """kind: "" for any. A number without a fraction is a number, too."""
    if isinstance(value, str) and len(value) > MAX_CHARS:
        raise _wrong(field, f"must be at most {MAX_CHARS} characters")
    if isinstance(value, int | float) and abs(value) > LARGEST:
        raise _wrong(field, f"must be a number from -{LARGEST} to {LARGEST}")
    if kind and not _is_of(kind, value):
        raise _wrong(field, f"must be {_KINDS[kind]}")
    if not isinstance(value, str | int | float | bool):
        raise _wrong(field, "must be a string, a number, true or false, or a list of those")
    return value


def _is_of(kind: str, value: Any) -> bool:
    if kind in ("boolean", "string"):
        return isinstance(value, bool if kind == "boolean" else str)
    if kind == "date":
        return isinstance(value, str) and _is_day(value)
    types = int if kind == "integer" else (int, float)
    return isinstance(value, types) and not isinstance(value, bool)


def _is_day(text: str) -> bool:
    try:
        return _DAY.fullmatch(text) is not None and date.fromisoformat(text) is not None
    except ValueError:
        return False


def _wrong(field: str, what: str) -> InvalidInput:
    return InvalidInput(f"{field} {what}.", field=field)
