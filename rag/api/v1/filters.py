"""`filters` of a search or a question: which passages may be found at all."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, ClassVar
from uuid import UUID

from django.conf import settings
from pydantic import ConfigDict, Field, model_validator
from pydantic_core import CoreSchema, core_schema

from knowlex.base.errors import InvalidInput
from knowlex.base.ids import parse_id
from knowlex.web.fields import is_blank
from knowlex.web.shapes import ID_SCHEMA, Day, InputShape, Omittable, OneOrMore, Rule, integer
from rag.types.question import NO_FILTERS, Filters, FilterValue, MetadataFilter

MAX_DOCUMENTS, MAX_VALUES, MAX_KEYS = 1000, 100, 20
MAX_CHARS = 1000
MAX_PAGE = 1_000_000
LARGEST = 10**18
BOUNDS = ("gte", "lte")
PLURALS = {"chapters": "chapter", "sections": "section"}
_KEY = re.compile(r"[\w.-]{1,64}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_KINDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "date": "a date as YYYY-MM-DD",
}


def _title(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_CHARS or is_blank(value):
        raise ValueError(f"must be a non-blank string of at most {MAX_CHARS} characters")
    return value


def _document_id(value: Any) -> UUID:
    try:
        return parse_id(_title(value), field="id")
    except InvalidInput:
        raise ValueError("is not a valid UUID") from None


PAGE = integer(1, MAX_PAGE)
Title = Annotated[str, Rule(_title, {"type": "string", "maxLength": MAX_CHARS})]
Titles = Omittable[Annotated[list[Title], OneOrMore(MAX_VALUES)]]
DocumentId = Annotated[UUID, Rule(_document_id, ID_SCHEMA)]
DocumentIds = Omittable[Annotated[list[DocumentId], OneOrMore(MAX_DOCUMENTS)]]
_SCALAR = {"oneOf": [{"type": "string", "maxLength": MAX_CHARS}, {"type": "number"}, {"type": "boolean"}]}
_BOUND = {"oneOf": [{"type": "string"}, {"type": "number"}]}
_METADATA = {
    "type": "object",
    "maxProperties": MAX_KEYS,
    "additionalProperties": {
        "description": "A value, one of several values, or a range; types are compared, too.",
        "oneOf": [
            _SCALAR,
            {"type": "array", "items": _SCALAR, "minItems": 1, "maxItems": MAX_VALUES},
            {"type": "object", "properties": {"gte": _BOUND, "lte": _BOUND}, "additionalProperties": False},
        ],
    },
}


class RangeShape(InputShape):
    """Two ends, None for one that is not given; they must be in order."""

    field: ClassVar[str]

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, given: Any) -> Any:
        names = [described.alias or name for name, described in cls.model_fields.items()]
        for name in given if isinstance(given, dict) else ():
            if name not in names:
                raise _wrong(f"{cls.field}.{name}", f"is not known; there are {' and '.join(names)}")
        return given

    @model_validator(mode="after")
    def _check_order(self) -> Any:
        first, last = (getattr(self, name) for name in type(self).model_fields)
        if first is not None and last is not None and first > last:
            names = [described.alias or name for name, described in type(self).model_fields.items()]
            raise ValueError(f"must not have its {names[0]} after its {names[1]}")
        return self


class DateRange(RangeShape):
    """Of `created_at`: whole UTC days, both included."""

    field = "filters.date_range"
    start: Omittable[Day] = None
    end: Omittable[Day] = None


class PageRange(RangeShape):
    """The passage touches one of these pages; one page alone may be given as an integer."""

    field = "filters.page"
    first: Omittable[Annotated[int, PAGE]] = Field(None, alias="from")
    last: Omittable[Annotated[int, PAGE]] = Field(None, alias="to")


class OnePage:
    """A range of pages, or one page alone."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._range, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {"oneOf": [dict(PAGE.schema), handler(schema)]}

    def _range(self, value: Any) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        page = PAGE.check(value)
        return {"from": page, "to": page}


class SearchFilters(InputShape):
    """All that are given must hold. An unknown filter is refused, not passed over."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    date_range: DateRange = DateRange()
    metadata: Annotated[
        tuple[MetadataFilter, ...],
        Rule(lambda given: read_metadata_filters(given), _METADATA),
        Field(description="Keys of the documents' metadata, at the top or under `custom`."),
    ] = ()
    documents: Annotated[DocumentIds, Field(description="One of these documents.")] = None
    tags: Annotated[Titles, Field(description="One of these tags.")] = None
    page: Annotated[PageRange, OnePage()] = PageRange.model_construct()
    chapter: Annotated[Titles, Field(description="In one of these chapters.")] = None
    section: Annotated[Titles, Field(description="In one of these sections.")] = None

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        known = dict(given)
        for plural, name in PLURALS.items():
            if plural in known and name in known:
                raise _wrong(f"filters.{plural}", f"says what filters.{name} says; send one of them")
            if plural in known:
                known[name] = known.pop(plural)
        for name in known:
            if name not in cls.model_fields:
                raise _wrong(f"filters.{name}", f"is not a filter; there are {', '.join(cls.model_fields)}")
        return known

    def filters(self) -> Filters:
        if not self.model_fields_set:
            return NO_FILTERS
        return Filters(
            document_ids=None if self.documents is None else tuple(self.documents),
            tags=tuple(self.tags or ()),
            metadata=self.metadata,
            created_from=self.date_range.start,
            created_until=self.date_range.end,
            page_from=self.page.first,
            page_to=self.page.last,
            chapters=tuple(self.chapter or ()),
            sections=tuple(self.section or ()),
        )


def read_metadata_filters(given: Any) -> tuple[MetadataFilter, ...]:
    """Return the filters of a key with a value, a list of values or a range. Raises InvalidInput."""
    if not isinstance(given, dict):
        raise _wrong("filters.metadata", "must be an object")
    if len(given) > MAX_KEYS:
        raise _wrong("filters.metadata", f"must name at most {MAX_KEYS} keys")
    return tuple(_metadata_filter(key, value) for key, value in given.items())


def _metadata_filter(key: str, value: Any) -> MetadataFilter:
    allowed: Mapping[str, str] | None = settings.FILTER_KEYS
    field = f"filters.metadata.{key[:64]}"
    if not _KEY.fullmatch(key):
        raise _wrong(field, "is not a key: it takes 1 to 64 letters, digits, underscores, hyphens and dots")
    if allowed is not None and key not in allowed:
        raise _wrong(field, f"cannot be filtered by; the keys are {', '.join(sorted(allowed)) or 'none'}")
    kind = (allowed or {}).get(key, "")
    if isinstance(value, dict):
        return _metadata_range(key, value, field, kind)
    values = value if isinstance(value, list) else [value]
    if not 1 <= len(values) <= MAX_VALUES:
        raise _wrong(field, f"must hold 1 to {MAX_VALUES} values")
    return MetadataFilter(key, any_of=tuple(_value(one, field, kind) for one in values))


def _metadata_range(key: str, bounds: Mapping[str, Any], field: str, kind: str) -> MetadataFilter:
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
