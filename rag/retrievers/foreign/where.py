"""Conditions on metadata in Chroma's notation: checked before a store sees them, and evaluated in memory.

    {"page_number": 5}    {"page_number": {"$gte": 5}}    {"source_type": {"$in": ["pdf", "docx"]}}
    {"$and": [..., ...]}    {"$or": [..., ...]}

One key in one mapping; several are joined by $and. Numbers equal numbers (5 is 5.0), never strings or
booleans. A record without the key passes $ne and $nin, and nothing else.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from knowlex.base.errors import InvalidInput

Where: TypeAlias = Mapping[str, Any]

MOST_CONDITIONS = 200
MOST_VALUES = 1000  # of a list
DEEPEST = 8
LONGEST_KEY, LONGEST_VALUE = 200, 10_000
_LARGEST = 2**63 - 1
_COMPARING: dict[str, Callable[[float, float], bool]] = {
    "$gt": lambda held, asked: held > asked,
    "$gte": lambda held, asked: held >= asked,
    "$lt": lambda held, asked: held < asked,
    "$lte": lambda held, asked: held <= asked,
}
_LISTED = ("$in", "$nin")
_JOINED = ("$and", "$or")
OPERATORS = ("$eq", "$ne", *_COMPARING, *_LISTED)


def checked(where: Any, field: str = "where") -> Where | None:
    """The same in the form that every store takes; None for no condition. Raises InvalidInput."""
    conditions = _Reader(field).conditions(where, 0)
    return joined(conditions)


def joined(conditions: list[Where], by: str = "$and") -> Where | None:
    """Stores refuse to join fewer than two."""
    return {by: conditions} if len(conditions) > 1 else (conditions[0] if conditions else None)


def equal_to(key: str, value: Any, field: str) -> Where | None:
    """A value, one of a list of values, or what an operator says. Raises InvalidInput."""
    return joined(_Reader(field).of_key(key, {"$in": value} if isinstance(value, list | tuple) else value))


def passes(metadata: Mapping[str, Any], where: Where | None) -> bool:
    """where: as `checked` gives it."""
    return all(_holds(metadata, key, condition) for key, condition in (where or {}).items())


class _Reader:
    def __init__(self, field: str) -> None:
        self._field, self._left = field, MOST_CONDITIONS

    def conditions(self, where: Any, depth: int) -> list[Where]:
        """Each of one key; all must hold."""
        if not isinstance(where, Mapping) or depth > DEEPEST:
            raise self._wrong("must be an object of conditions on metadata, at most 8 deep")
        found: list[Where] = []
        for key, condition in where.items():
            found += self._joining(key, condition, depth) if key in _JOINED else self.of_key(key, condition)
        return found

    def _joining(self, by: str, parts: Any, depth: int) -> list[Where]:
        if not isinstance(parts, list | tuple) or not parts:
            raise self._wrong(f"{by} must have a list of conditions")
        each = [joined(self.conditions(part, depth + 1)) for part in parts]
        if None in each:
            raise self._wrong(f"{by} must not have an empty condition")
        one = joined([part for part in each if part is not None], by)
        return [] if one is None else [one]

    def of_key(self, key: Any, condition: Any) -> list[Where]:
        if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY or key.startswith("$"):
            raise self._wrong("must name keys of the metadata, and operators that there are")
        self._text(key)
        given = condition if isinstance(condition, Mapping) else {"$eq": condition}
        if not given:
            raise self._wrong("must not have an empty condition")
        return [self._one(key, operator, value) for operator, value in given.items()]

    def _one(self, key: str, operator: str, value: Any) -> Where:
        self._left -= 1
        if self._left < 0:
            raise self._wrong(f"must have at most {MOST_CONDITIONS} conditions")
        if operator in _LISTED:
            return self._listed(key, operator, value)
        if operator in _COMPARING and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise self._wrong(f"{operator} must have a number")
        if operator not in OPERATORS:
            raise self._wrong(f"must use one of {', '.join((*OPERATORS, *_JOINED))}")
        value = self._value(value)
        return {key: value} if operator == "$eq" else {key: {operator: value}}

    def _listed(self, key: str, operator: str, values: Any) -> Where:
        """Stores take lists of one type only: those of several are split."""
        if not isinstance(values, list | tuple) or not 0 < len(values) <= MOST_VALUES:
            raise self._wrong(f"{operator} must have a list of 1 to {MOST_VALUES} values")
        of_type: dict[type, list[Any]] = {}
        for value in map(self._value, values):
            of_type.setdefault(type(value), []).append(value)
        each: list[Where] = [{key: {operator: same}} for same in of_type.values()]
        one = joined(each, "$or" if operator == "$in" else "$and")
        assert one is not None
        return one

    def _value(self, value: Any) -> str | int | float | bool:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, bool) or (isinstance(value, int) and abs(value) <= _LARGEST):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        raise self._wrong("must have values that are strings, numbers or booleans")

    def _text(self, text: str) -> str:
        if len(text) > LONGEST_VALUE:
            raise self._wrong(f"must have values of at most {LONGEST_VALUE} characters")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise self._wrong("must not have half a character")
        return text

    def _wrong(self, what: str) -> InvalidInput:
        return InvalidInput(f"{self._field} {what}.", field=self._field)


def _holds(metadata: Mapping[str, Any], key: str, condition: Any) -> bool:
    if key == "$and":
        return all(passes(metadata, part) for part in condition)
    if key == "$or":
        return any(passes(metadata, part) for part in condition)
    held = metadata.get(key)
    if not isinstance(condition, Mapping):
        return _equal(held, condition)
    return all(_passes(held, operator, asked) for operator, asked in condition.items())


def _passes(held: Any, operator: str, asked: Any) -> bool:
    if operator in _COMPARING:
        return _is_number(held) and _COMPARING[operator](held, asked)
    if operator in _LISTED:
        return any(_equal(held, one) for one in asked) is (operator == "$in")
    return _equal(held, asked) is (operator != "$ne")


def _equal(held: Any, asked: Any) -> bool:
    if _is_number(held) and _is_number(asked):
        return bool(held == asked)
    return type(held) is type(asked) and bool(held == asked)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
