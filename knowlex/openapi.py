"""/api/schema, made of the operations and shapes of all views, and /api/docs, the page to browse it."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.templatetags.static import static
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.html import format_html
from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from knowlex import __version__
from knowlex.web.faces import face_of
from knowlex.web.openapi import (
    FAILURES,
    QUERY_ID,
    Answer,
    OpenAIProblem,
    Operation,
    Problem,
    Schema,
    SchemaGenerator,
)
from knowlex.web.responses import allow, json_response
from knowlex.web.shapes import ID_SCHEMA

INFO = {
    "title": "Knowlex",
    "version": __version__,
    "description": "A self-hosted knowledge base that answers questions with citations that can be trusted.",
}
TAGS = {
    "ask": "Questions, answered with citations: the Knowlex API, the Query API and the Book API.",
    "documents": "The Knowlex API's documents; an upload is read and split before it is answered.",
    "embeddings": "The Knowlex API's embeddings, and search by them alone.",
    "platform": "The Platform API: collections, ingest jobs, documents, search, answers, evaluation.",
    "openai": "OpenAI's API for what speaks it: models, chat completions, embeddings.",
    "operating": "Whether the server works, and how much it does.",
}
NOT_API = ("admin", "static")
SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key."},
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}
SECURITY: list[dict[str, list[str]]] = [{"bearer": []}, {"apiKey": []}]
PATH_TEXTS = {"model": {"type": "string"}}  # parameters of paths that are no ids
A_CHANGE = "Not within the API key's scope or collections, or sent by a page of another site"
REFS = "#/components/schemas/{model}"
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")

PAGE = """<!DOCTYPE html>
<html>
  <head>
    <title>Knowlex</title>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="icon" href="{}">
    <link rel="stylesheet" href="{}">
    <style>body {{ background: #fafafa; margin: 0; }}</style>
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="{}"></script>
    <script src="/api/docs?script"></script>
  </body>
</html>
"""
SCRIPT = """"use strict";
SwaggerUIBundle({
  url: "/api/schema",
  dom_id: "#swagger-ui",
  deepLinking: true,
  persistAuthorization: true,
});
"""
SWAGGER_UI = "drf_spectacular_sidecar/swagger-ui-dist/"


@allow("GET")
async def schema(request: HttpRequest) -> HttpResponse:
    return json_response(document())


@allow("GET")
async def docs(request: HttpRequest) -> HttpResponse:
    """The page, or with `?script` what starts it: a page may hold no script of its own."""
    if "script" in request.GET:
        return HttpResponse(SCRIPT, content_type="application/javascript")
    files = ("favicon-32x32.png", "swagger-ui.css", "swagger-ui-bundle.js")
    return HttpResponse(format_html(PAGE, *(static(SWAGGER_UI + name) for name in files)))


@cache
def document() -> Schema:
    """Return the OpenAPI document of all routes."""
    operations = list(_operations())
    shapes = _Shapes(operations)
    paths: dict[str, Schema] = {}
    for path, method, operation in operations:
        paths.setdefault(path, {})[method] = _described(path, method, operation, shapes)
    return {
        "openapi": "3.0.3",
        "info": INFO,
        "servers": [{"url": "/", "description": "This server."}],
        "tags": [{"name": name, "description": words} for name, words in TAGS.items()],
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": shapes.components, "securitySchemes": SECURITY_SCHEMES},
    }


class _Shapes:
    """The schemas of all shapes that go in or out, generated in one go."""

    def __init__(self, operations: list[tuple[str, str, Operation]]) -> None:
        shapes: dict[tuple[str, JsonSchemaMode], Any] = {
            (shape.__name__, "serialization"): shape for shape in (Problem, OpenAIProblem)
        }
        for _, _, operation in operations:
            for shape in operation.body.values():
                shapes[repr(shape), "validation"] = shape
            for answer in operation.answers.values():
                shapes |= {(repr(shape), "serialization"): shape for shape in answer.content.values()}
        inputs = [(*key, TypeAdapter(shape)) for key, shape in shapes.items() if not isinstance(shape, dict)]
        self._schemas, rest = TypeAdapter.json_schemas(
            inputs, ref_template=REFS, schema_generator=SchemaGenerator
        )
        self.components: Schema = dict(sorted(rest["$defs"].items()))

    def media(self, content: Mapping[str, Any], mode: JsonSchemaMode) -> Schema:
        """Return the content of a request or response; a dictionary stands for itself."""
        return {
            media_type: shape if isinstance(shape, dict) else {"schema": self._schemas[repr(shape), mode]}
            for media_type, shape in content.items()
        }


def _described(path: str, method: str, operation: Operation, shapes: _Shapes) -> Schema:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": PATH_TEXTS.get(name, ID_SCHEMA)}
        for name in re.findall(r"{(\w+)}", path)
    ]
    if operation.parameters is not None:
        parameters += _query_parameters(operation.parameters)
    parameters += operation.headers
    described: Schema = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.tag],
        "parameters": parameters,
        "responses": {
            status: _response(answer, shapes) for status, answer in sorted(operation.answers.items())
        },
    }
    if operation.description:
        described["description"] = operation.description
    if operation.body:
        described["requestBody"] = {"required": True, "content": shapes.media(operation.body, "validation")}
    if path not in settings.OPEN_PATHS:
        described["security"] = SECURITY if settings.REQUIRE_API_KEY else [*SECURITY, {}]
    failures = _failures(path, method, operation, takes=len(parameters) > len(operation.headers))
    for status, words in sorted(failures.items()):
        shape = OpenAIProblem if face_of(path).like_openai else Problem
        described["responses"][status] = _problem(words, shape, with_query_id=status in operation.query_id_on)
    return described


def _failures(path: str, method: str, operation: Operation, *, takes: bool) -> dict[str, str]:
    """What may fail: by the path, by what the request brings, and by what the operation says itself."""
    statuses: list[str] = []
    if path not in settings.OPEN_PATHS:
        statuses += ["401", "403"]
    if path.startswith(("/api/v1/", "/query", "/v1/")):
        statuses += ["429", "500", "503"]
    if takes or operation.body:
        statuses.append("400")
    if operation.body:
        statuses += ["408", "413", "415"]
    if "{" in path:
        statuses.append("404")
    failures = {status: FAILURES[status] for status in statuses}
    if method != "get" and "403" in failures:
        failures["403"] = A_CHANGE
    return {**failures, **operation.failures}


def _response(answer: Answer, shapes: _Shapes) -> Schema:
    described: Schema = {"description": answer.description}
    if answer.content:
        described["content"] = shapes.media(answer.content, "serialization")
    if answer.headers:
        described["headers"] = answer.headers
    return described


def _problem(description: str, shape: type[BaseModel], *, with_query_id: bool) -> Schema:
    ref = {"$ref": REFS.format(model=shape.__name__)}
    described: Schema = {"description": description, "content": {"application/json": {"schema": ref}}}
    return {**described, "headers": QUERY_ID} if with_query_id else described


def _query_parameters(shape: type[BaseModel]) -> list[Schema]:
    described = shape.model_json_schema(schema_generator=SchemaGenerator)
    parameters = []
    for name, schema in described["properties"].items():
        parameter = {"name": name, "in": "query", "schema": schema}
        if "description" in schema:
            parameter["description"] = schema.pop("description")
        if name in described.get("required", ()):
            parameter["required"] = True
        parameters.append(parameter)
    return parameters


def _operations() -> Iterator[tuple[str, str, Operation]]:
    """(path, method, operation) of every view that is described."""
    for path, view in _views(get_resolver().url_patterns, "/"):
        by_method = getattr(view, "by_method", None)  # of `knowlex.web.methods`
        if by_method is None:
            view_class = getattr(view, "view_class", None)  # of Django REST framework
            names = ("get", "post", "put", "patch", "delete")
            by_method = {name.upper(): getattr(view_class, name, None) for name in names}
            if view_class is None:
                by_method = {view.allowed_methods[0]: view} if hasattr(view, "operation") else {}
        for method, function in by_method.items():
            if method not in ("HEAD", "OPTIONS") and hasattr(function, "operation"):
                yield path, method.lower(), function.operation


def _views(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str, Any]]:
    for item in patterns:
        path = prefix + _PARAMETER.sub(r"{\1}", str(item.pattern))
        if isinstance(item, URLResolver):
            if not path.startswith(tuple(f"/{name}" for name in NOT_API)):
                yield from _views(item.url_patterns, path)
        else:
            yield path, item.callback
