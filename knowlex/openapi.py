"""/api/schema for all routes: drf-spectacular describes DRF's views, plain views describe themselves.

A module of MODULES holds a dict OPENAPI: `{"paths": ..., "components": {"schemas": ...}}`, or paths alone.
"""

import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

MODULES = ("knowlex.common.schema", "embeddings.schema", "rag.contracts.schema")
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
NOT_API = ("admin", "static")


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
        if _shape(path) not in described_shapes:
            paths[path] = {
                method.lower(): _bare(f"{view.__name__}{path.replace('/', '_')}_{method.lower()}")
                for method in view.allowed_methods
                if method not in ("HEAD", "OPTIONS")
            }
    result["paths"] = dict(sorted(paths.items()))
    return result


def _shape(path: str) -> str:
    """The path without the names of its parameters, which may be documentId or document_id."""
    return re.sub(r"{\w+}", "{}", path)


def _bare(operation_id: str) -> dict[str, Any]:
    return {"operationId": operation_id, "responses": {"200": {"description": "OK"}}}


def _descriptions() -> Iterator[dict[str, Any]]:
    for name in MODULES:
        if find_spec(name) is not None:
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
