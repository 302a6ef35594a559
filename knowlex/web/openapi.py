"""What a view says of itself for /api/schema: an `operation` beside it, whose shapes are the view's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeVar

from pydantic import Field
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from knowlex.web.shapes import ID_SCHEMA, InputShape, Object, OutputShape, Time

View = TypeVar("View", bound=Callable[..., Any])
Schema = dict[str, Any]
JSON, EVENTS = "application/json", "text/event-stream"

FAILURES = {
    "400": "A field, parameter or id is missing or wrong; `details.field` names it",
    "401": "No valid API key, where keys are asked for",
    "403": "Not within the API key's scope or collections",
    "404": "Unknown id or collection",
    "408": "The body arrives too slowly",
    "409": "There is one already, or an equal request is under way",
    "413": "The body is too large",
    "415": "The body's content type is wrong",
    "422": "Permissions that cannot be obeyed, or the Idempotency-Key was used for another request",
    "429": "Too many requests",
    "500": "Something went wrong",
    "503": "The database is not reachable, or the server too busy",
    "507": "No room to store the documents",
}
QUERY_ID: Schema = {"X-Query-ID": {"schema": ID_SCHEMA}}
IDEMPOTENCY_KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "With it the request may be repeated for 24 hours: it is carried out once.",
}


class SchemaGenerator(GenerateJsonSchema):
    """JSON Schema as OpenAPI 3.0 has it: null is said by `nullable`, and nothing repeats the field's name."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        if "$ref" in inner:
            return {"type": "object", "allOf": [inner], "nullable": True}
        if "enum" in inner:
            return {**inner, "enum": [*inner["enum"], None], "nullable": True}
        return {**inner, "nullable": True}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if described.get("default", 0) in (None, "", []) or isinstance(described.get("default"), dict):
            described.pop("default")
        return described

    def normalize_name(self, name: str) -> str:
        """A shape is called what it describes, which the class of the thing itself is called already."""
        return super().normalize_name(name).removesuffix("Shape")

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        return {"type": "string", "enum": list(schema["expected"])}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        described = super().model_schema(schema)
        described.pop("title", None)
        return described


class Problem(OutputShape):
    """Every failure, whatever the route; under /v1/ with request_id for requestId."""

    status: Annotated[int, Field(description="The HTTP status.")]
    error: Annotated[str, Field(description="A short code, for example VALIDATION_ERROR.")]
    message: str
    details: Annotated[Object, Field(description="For example the `field` that is wrong.")]
    timestamp: Time
    requestId: Annotated[str, Field(description="The same as the header X-Request-ID.")] = ""
    request_id: Annotated[str, Field(description="The same, under /v1/.")] = ""


class OpenAIError(OutputShape):
    message: str
    type: Annotated[str, Field(description="For example invalid_request_error.")]
    param: Annotated[str | None, Field(description="The field that is wrong.")]
    code: Annotated[str, Field(description="For example model_not_found.")]


class OpenAIProblem(OutputShape):
    """Every failure of the routes that speak OpenAI's API."""

    error: OpenAIError


@dataclass(frozen=True)
class Answer:
    """A response that is no failure. content: shapes, or schemas of their own, by media type."""

    description: str
    content: Mapping[str, Any] = field(default_factory=dict)
    headers: Schema = field(default_factory=dict)


@dataclass(frozen=True)
class Operation:
    """failures: statuses besides those that follow from the body, the parameters and the path.

    body: shapes or schemas by media type. query_id_on: failures that tell the query's id.
    """

    name: str
    summary: str
    tag: str
    answers: Mapping[str, Answer]
    body: Mapping[str, Any] = field(default_factory=dict)
    parameters: type[InputShape] | None = None
    headers: tuple[Schema, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    query_id_on: tuple[str, ...] = ()
    description: str = ""


def operation(
    name: str,
    summary: str,
    *answers: Any,
    tag: str = "platform",
    body: Any = None,
    parameters: type[InputShape] | None = None,
    headers: tuple[Schema, ...] = (),
    failures: str | Mapping[str, str] = "",
    query_id_on: tuple[str, ...] = (),
    description: str = "",
) -> Callable[[View], View]:
    """Describe a view. answers: as `answer` makes them. body: a shape for JSON, or shapes by media type."""
    if isinstance(failures, str):
        failures = {status: FAILURES[status] for status in failures.split()}
    described = Operation(
        name=name,
        summary=summary,
        tag=tag,
        answers=dict(answers),
        body=body if isinstance(body, dict) else {JSON: body} if body else {},
        parameters=parameters,
        headers=headers,
        failures=failures,
        query_id_on=query_id_on,
        description=description,
    )

    def describe(view: View) -> View:
        view.operation = described  # type: ignore[attr-defined]
        return view

    return describe


def renamed(view: View, name: str) -> View:
    """Return the same view for a route where its operation has another name."""

    async def again(*args: Any, **kwargs: Any) -> Any:
        return await view(*args, **kwargs)

    again.__dict__.update(view.__dict__, operation=replace(view.operation, name=name))  # type: ignore[attr-defined]
    return again  # type: ignore[return-value]


def answer(
    status: int, description: str, content: Any = None, *, headers: Schema | None = None
) -> tuple[str, Answer]:
    """content: a shape for JSON, or shapes and schemas by media type; None for no body."""
    if content is not None and not isinstance(content, dict):
        content = {JSON: content}
    return str(status), Answer(description, content or {}, headers or {})


def event_stream(example: str) -> Schema:
    return {EVENTS: {"schema": {"type": "string"}, "example": example}}
