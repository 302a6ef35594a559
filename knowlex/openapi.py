"""/api/schema for all routes: drf-spectacular describes DRF's views, plain views describe themselves.

A module of MODULES holds a dict OPENAPI: `{"paths": ..., "components": {"schemas": ...}}`, or paths alone.
"""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.views import SpectacularSwaggerSplitView

from knowlex.base.errors import NotFound
from knowlex.web.responses import allow


@allow("GET")
async def front(request: HttpRequest) -> HttpResponse:
    if "text/html" not in request.headers.get("Accept", ""):
        raise NotFound("Not found. The documentation is at /api/docs.")
    return HttpResponseRedirect("/api/docs")


class DocsPage(SpectacularSwaggerSplitView):
    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        """Nothing but `Allow`: DRF's own answer is data, which a page's template cannot tell."""
        response = HttpResponse(status=204)
        del response["Content-Type"]
        return response


MODULES = ("knowlex.web.openapi", "embeddings.schema", "rag.api.schema", "rag.api.v1.openapi")
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
NOT_API = ("admin", "static")
FRONT_DOOR = "/"  # for browsers only
WITH_KEY = {
    "401": "No valid API key, where keys are asked for",
    "403": "Not within the API key's scope or collections",
}
SECURITY: list[dict[str, list[str]]] = [{"bearer": []}, {"apiKey": []}]
ANY_CALL = {"429": "Too many requests", "500": "Something went wrong"}
A_CHANGE = {"403": "Not within the API key's scope or collections, or sent by a page of another site"}
A_BODY = {"408": "The body arrives too slowly", "413": "The body is too large"}


def add_plain_views(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A postprocessing hook of drf-spectacular; a view that nobody described is listed with its methods."""
    paths = result.setdefault("paths", {})
    components = result.setdefault("components", {})
    for described in _descriptions():
        paths |= described.get("paths") or {path: item for path, item in described.items() if path[0] == "/"}
        for kind, entries in described.get("components", {}).items():
            components.setdefault(kind, {}).update(entries)
    described_shapes = {_shape(path) for path in paths}
    for path, view in _plain_views():
        if path != FRONT_DOOR and _shape(path) not in described_shapes:
            paths[path] = {
                method.lower(): _bare(f"{view.__name__}{path.replace('/', '_')}_{method.lower()}")
                for method in view.allowed_methods
                if method not in ("HEAD", "OPTIONS")
            }
    _add_common_failures(paths)
    _add_security(paths)
    result["paths"] = dict(sorted(paths.items()))
    return result


def _add_common_failures(paths: dict[str, Any]) -> None:
    """What the edges answer to any request of the API, where the route does not say it itself."""
    for path, item in paths.items():
        if path.startswith(("/api/v1/", "/query", "/v1/")):
            for method, operation in item.items():
                failures = ANY_CALL if method == "get" else ANY_CALL | A_CHANGE
                failures = failures | A_BODY if "requestBody" in operation else failures
                for status, words in failures.items():
                    operation["responses"].setdefault(status, _problem(words))


def _add_security(paths: dict[str, Any]) -> None:
    """Keys for all routes but the open ones; `{}`, no key at all, where none is asked for."""
    for path, item in paths.items():
        for operation in item.values() if path not in settings.OPEN_PATHS else ():
            operation["security"] = SECURITY if settings.REQUIRE_API_KEY else [*SECURITY, {}]
            for status, words in WITH_KEY.items():
                operation["responses"].setdefault(status, _problem(words))


def _problem(description: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _shape(path: str) -> str:
    """The path without the names of its parameters, which may be documentId or document_id."""
    return re.sub(r"{\w+}", "{}", path)


def _bare(operation_id: str) -> dict[str, Any]:
    return {"operationId": operation_id, "responses": {"200": {"description": "OK"}}}


def _descriptions() -> Iterator[dict[str, Any]]:
    for name in MODULES:
        yield import_module(name).OPENAPI


def _plain_views() -> Iterator[tuple[str, Any]]:
    patterns: list[tuple[str, URLPattern | URLResolver]] = [
        ("/", item) for item in get_resolver().url_patterns
    ]
    while patterns:
        prefix, item = patterns.pop()
        path = prefix + _PARAMETER.sub(r"{\1}", str(item.pattern))
        if isinstance(item, URLResolver):
            if not path.startswith(tuple(f"/{name}" for name in NOT_API)):
                patterns.extend((path, inner) for inner in item.url_patterns)
        elif hasattr(item.callback, "allowed_methods"):
            yield path, item.callback
