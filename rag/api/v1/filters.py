"""`filters` of a search or a question: which passages may be found at all. Everything raises InvalidInput."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any
from uuid import UUID

from knowlex.base.errors import InvalidInput
from knowlex.base.ids import parse_id
from knowlex.web.fields import is_blank
from rag.api.v1.metadata_filters import metadata_filters
from rag.types.question import NO_FILTERS, Filters

NAMES = ("date_range", "metadata", "documents", "tags", "page", "chapter", "section")
MAX_DOCUMENTS = 1000
MAX_VALUES = 100
MAX_CHARS = 1000
MAX_PAGE = 1_000_000
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def filters_field(body: Mapping[str, Any]) -> Filters:
    """The object `filters`; NO_FILTERS without one. An unknown filter is refused, not passed over."""
    given = dict(_object(body.get("filters", {}), "filters"))
    for plural in ("chapters", "sections"):
        _rename(given, plural, plural.removesuffix("s"))
    for name in given:
        if name not in NAMES:
            raise _wrong(f"filters.{name}", f"is not a filter; there are {', '.join(NAMES)}")
    if not given:
        return NO_FILTERS
    since, until = _days(given)
    first, last = _pages(given)
    return Filters(
        document_ids=_document_ids(given),
        tags=_texts(given, "tags"),
        metadata=metadata_filters(_object(given.get("metadata", {}), "filters.metadata")),
        created_from=since,
        created_until=until,
        page_from=first,
        page_to=last,
        chapters=_texts(given, "chapter"),
        sections=_texts(given, "section"),
    )


def _rename(given: dict[str, Any], plural: str, name: str) -> None:
    if plural in given and name in given:
        raise _wrong(f"filters.{plural}", f"says what filters.{name} says; send one of them")
    if plural in given:
        given[name] = given.pop(plural)


def _document_ids(given: Mapping[str, Any]) -> tuple[UUID, ...] | None:
    if "documents" not in given:
        return None
    ids = _listed(given["documents"], "filters.documents", at_most=MAX_DOCUMENTS)
    return tuple(
        parse_id(_text(value, field), field=field)
        for value, field in ((value, f"filters.documents[{n}]") for n, value in enumerate(ids))
    )


def _texts(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    if name not in given:
        return ()
    field = f"filters.{name}"
    values = _listed(given[name], field, at_most=MAX_VALUES)
    return tuple(_text(value, f"{field}[{n}]") for n, value in enumerate(values))


def _days(given: Mapping[str, Any]) -> tuple[date | None, date | None]:
    return _range(given.get("date_range", {}), "filters.date_range", ("start", "end"), _day)


def _pages(given: Mapping[str, Any]) -> tuple[int | None, int | None]:
    value = given.get("page", {})
    if isinstance(value, dict):
        return _range(value, "filters.page", ("from", "to"), _page)
    page = _page(value, "filters.page")
    return page, page


def _range(
    value: Any, field: str, names: tuple[str, str], read: Callable[[Any, str], Any]
) -> tuple[Any, Any]:
    """The two ends, None for one that is not given; they must be in order."""
    ends = _object(value, field)
    for name in ends:
        if name not in names:
            raise _wrong(f"{field}.{name}", f"is not known; there are {' and '.join(names)}")
    low, high = (read(ends[name], f"{field}.{name}") if name in ends else None for name in names)
    if low is not None and high is not None and low > high:
        raise _wrong(field, f"must not have its {names[0]} after its {names[1]}")
    return low, high


def _day(value: Any, field: str) -> date:
    try:
        if isinstance(value, str) and _DAY.fullmatch(value):
            return date.fromisoformat(value)
    except ValueError:
        pass  # the 30th of February
    raise _wrong(field, "must be a date as YYYY-MM-DD")


def _page(value: Any, field: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_PAGE:
        raise _wrong(field, f"must be an integer from 1 to {MAX_PAGE}")
    return value


def _listed(value: Any, field: str, *, at_most: int) -> list[Any]:
    """A list of values, or one alone."""
    values = value if isinstance(value, list) else [value]
    if not 1 <= len(values) <= at_most:
        raise _wrong(field, f"must hold 1 to {at_most} values")
    return values


def _text(value: Any, field: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_CHARS or is_blank(value):
        raise _wrong(field, f"must be a non-blank string of at most {MAX_CHARS} characters")
    return value


def _object(value: Any, field: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(field, "must be an object")
    return value


def _wrong(field: str, what: str) -> InvalidInput:
    return InvalidInput(f"{field} {what}.", field=field)
