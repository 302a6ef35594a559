"""What /api/schema says of the Platform API: its routes, and the shapes that go in and out."""

from typing import Any

from rag.api.v1.openapi import collections, contents, documents, evaluations, jobs, queries, query, search

_PARTS = (collections, jobs, documents, contents, search, query, queries, evaluations)
OPENAPI: dict[str, Any] = {
    "paths": {path: item for part in _PARTS for path, item in part.PATHS.items()},
    "components": {"schemas": {name: shape for part in _PARTS for name, shape in part.SCHEMAS.items()}},
}
