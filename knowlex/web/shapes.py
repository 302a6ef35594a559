"""The base of the pydantic models that describe requests and bodies, and the types of their fields.

A model is the only description of its shape: requests are checked by it, bodies are written by it, and
/api/schema is made from it. Requests are read strictly: "5", 5.0 and true are no integers, and null is no
default. A check of a value raises ValueError with the rule that it breaks; `parse` names the field.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Annotated, Any, Self, TypeAlias, TypeVar
from uuid import UUID

from django.http import HttpRequest
from pydantic import (
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, core_schema

from knowlex.base.errors import InvalidInput, InvalidQuestion
from knowlex.base.ids import parse_id
from knowlex.base.times import utc_timestamp
from knowlex.web.fields import MAX_QUESTION_CHARS, QUESTION_RULE, check_question, is_blank, is_storable
from knowlex.web.json_body import json_object

T = TypeVar("T")
S = TypeVar("S", bound="InputShape")
UNSTORABLE = "holds a character that cannot be stored"
GENERAL_RULES = {
    "missing": "is required",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "model_type": "must be an object",
    "dict_type": "must be an object",
    "extra_forbidden": "is not known",
}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class InputShape(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class OutputShape(BaseModel):
    """A body, made of keyword arguments, or of an object's attributes by `model_validate` or `of`."""

    model_config = ConfigDict(from_attributes=True, serialize_by_alias=True, protected_namespaces=())

    @classmethod
    def of(cls, source: Any, /, **given: Any) -> Self:
        """Return the shape of an object's attributes; fields that are given go before them."""
        fields = {
            name: getattr(source, name)
            for name in _sources(cls)
            if name not in given and hasattr(source, name)
        }
        return cls.model_validate(fields | given)


@cache
def _sources(shape: type[BaseModel]) -> tuple[str, ...]:
    """Return the names of the attributes that a shape's fields come from."""
    return tuple(str(field.validation_alias or name) for name, field in shape.model_fields.items())


class CamelShape(OutputShape):
    """The same for the faces that write camelCase."""

    model_config = ConfigDict(alias_generator=AliasGenerator(serialization_alias=to_camel))


def read_body(request: HttpRequest, shape: type[S]) -> S:
    """Return the JSON object in the request's body. Raises UnsupportedMediaType, InvalidInput."""
    return parse(shape, json_object(request))


def read_parameters(request: Any, shape: type[S]) -> S:
    """Return the parameters of the query string; of one that is given twice the last. Raises InvalidInput."""
    return parse(shape, request.GET.dict())


def parse(shape: type[S], given: Mapping[str, Any], *, within: str = "") -> S:
    """Return the shape of what is given. within: the field that holds it.

    Raises InvalidInput naming the first field that is wrong, InvalidQuestion if that is the question.
    """
    try:
        return shape.model_validate(given)
    except ValidationError as exc:
        error: Any = exc.errors(include_url=False, include_input=False)[0]
    field = field_name(error["loc"])
    rule = str(error.get("ctx", {}).get("error") or GENERAL_RULES.get(error["type"], "is not valid"))
    described = shape.model_fields.get(field)
    if described is not None and QUESTION in described.metadata:
        raise InvalidQuestion(QUESTION_RULE, field=field)
    field = f"{within}.{field}" if within else field
    raise InvalidInput(f"{field} {rule}.", field=field)


def field_name(place: tuple[str | int, ...]) -> str:
    """Return the name as errors have it, for example `documents[0].metadata.title`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return "".join(steps).removeprefix(".")


@dataclass(frozen=True, eq=False)
class Rule:
    """How a field is checked, and how /api/schema describes it."""

    check: Callable[[Any], Any]
    schema: Mapping[str, Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return dict(self.schema)


def integer(low: int, high: int) -> Rule:
    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"must be an integer from {low} to {high}")
        return value

    return Rule(check, {"type": "integer", "minimum": low, "maximum": high})


def number(low: float, high: float) -> Rule:
    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ValueError(f"must be a number from {low} to {high}")
        return float(value)

    return Rule(check, {"type": "number", "minimum": low, "maximum": high})


def number_text(low: int, high: int) -> Rule:
    """The same in a query string: ASCII decimal digits only."""

    def check(value: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,18}", value, re.ASCII) or not low <= int(value) <= high:
            raise ValueError(f"must be an integer from {low} to {high}")
        return int(value)

    return Rule(check, {"type": "integer", "minimum": low, "maximum": high})


def text(max_chars: int) -> Rule:
    """A non-blank string that PostgreSQL can store."""

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("must be a string")
        if len(value) > max_chars or is_blank(value):
            raise ValueError(f"must be non-blank and at most {max_chars} characters")
        return check_characters(value)

    return Rule(check, {"type": "string", "minLength": 1, "maxLength": max_chars})


def check_characters(value: str) -> str:
    if not is_storable(value):
        raise ValueError(UNSTORABLE)
    return value


def storable_text(max_chars: int | None = None) -> Rule:
    """A string, which may be empty."""

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("must be a string")
        check_characters(value)
        if max_chars is not None and len(value) > max_chars:
            raise ValueError(f"must be at most {max_chars} characters")
        return value

    return Rule(check, {"type": "string"} | ({"maxLength": max_chars} if max_chars else {}))


def choice(*options: str, fold: bool = False) -> Rule:
    """One of the options. fold: whatever the case."""

    def check(value: Any) -> str:
        for option in options:
            if value == option or (fold and value.lower() == option.lower()):
                return option
        raise ValueError(f"must be one of {', '.join(options)}")

    return Rule(check, {"type": "string", "enum": list(options)})


def object_rule(schema: Mapping[str, Any]) -> Rule:
    """An object whose fields a service checks. schema: what they may be."""

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError("must be an object")
        return value

    return Rule(check, schema)


@dataclass(frozen=True)
class OneOrMore:
    """A list of 1 to `most` values, or one value alone."""

    most: int

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._as_list, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        several = {**handler(schema), "minItems": 1, "maxItems": self.most}
        return {"oneOf": [several["items"], several]}

    def _as_list(self, value: Any) -> list[Any]:
        values = value if isinstance(value, list) else [value]
        if not 1 <= len(values) <= self.most:
            raise ValueError(f"must hold 1 to {self.most} values")
        return values


class NotNull:
    """None only where the field is left out."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        schema: Any = handler(source)
        inner: CoreSchema = schema["schema"] if schema["type"] == "nullable" else schema
        return inner


class AsItIs:
    """A value of a body that is not looked at; an integer among floats stays one."""

    def __init__(self, **schema: Any) -> None:
        self.schema = schema

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return dict(self.schema)


class Unchecked:
    """Described by its type, but looked at by `check` alone: for long lists that something else reads."""

    def __init__(self, check: Callable[[Any], Any] | None = None) -> None:
        self._check = check

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        as_it_is = core_schema.plain_serializer_function_ser_schema(lambda value: value)
        return core_schema.no_info_wrap_validator_function(
            self._validate, handler(source), serialization=as_it_is
        )

    def _validate(self, value: Any, handler: Any) -> Any:
        return value if self._check is None else self._check(value)


class QuestionCheck:
    """The question of a request; what is wrong with it is an error of its own."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self._check)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "maxLength": MAX_QUESTION_CHARS}

    def _check(self, value: Any, info: ValidationInfo) -> str:
        name = info.field_name or "query"
        if not isinstance(value, str):
            raise InvalidQuestion(QUESTION_RULE if value is None else f"{name} must be a string.", field=name)
        return check_question(value, name)


def _day(value: Any) -> date:
    try:
        if isinstance(value, str) and _DAY.fullmatch(value):
            return date.fromisoformat(value)
    except ValueError:
        pass  # the 30th of February
    raise ValueError("must be a date as YYYY-MM-DD")


def _id(value: Any) -> UUID:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    try:
        return parse_id(value, field="id")
    except InvalidInput:
        raise ValueError("is not a valid UUID") from None


def _id_or_none(value: str) -> UUID | None:
    return _id(value) if value else None


QUESTION = QuestionCheck()
ID_SCHEMA = {"type": "string", "format": "uuid"}
MaybeT = TypeVar("MaybeT")

# Of requests.
Omittable: TypeAlias = Annotated[MaybeT | None, NotNull()]
QuestionText = Annotated[str, QUESTION]
Day = Annotated[date, Rule(_day, {"type": "string", "format": "date"})]
Id = Annotated[UUID, Rule(_id, ID_SCHEMA)]
IdOrNone = Annotated[UUID | None, Rule(_id_or_none, ID_SCHEMA)]
FileBytes = Annotated[bytes, WithJsonSchema({"type": "string", "format": "binary"})]

# Of bodies.
Count = Annotated[int, AsItIs(type="integer", minimum=0)]
Number = Annotated[float, AsItIs(type="number")]
Share = Annotated[float, AsItIs(type="number", minimum=0, maximum=1)]
Time = Annotated[
    datetime,
    PlainSerializer(utc_timestamp, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
ExactTime = Annotated[
    datetime,
    PlainSerializer(lambda moment: moment.isoformat().replace("+00:00", "Z"), return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
TextOrNull = Annotated[str | None, BeforeValidator(lambda value: value or None)]
Object = Annotated[dict[str, Any], AsItIs(type="object", additionalProperties=True)]
