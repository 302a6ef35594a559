"""What /api/schema says of the Platform API: its routes, and the shapes that go in and out."""

from typing import Any

from rag.contracts.v1.openapi import collections, contents, documents, jobs, search

OPENAPI: dict[str, Any] = {
    "paths": collections.PATHS | jobs.PATHS | documents.PATHS | contents.PATHS | search.PATHS,
    "components": {
        "schemas": collections.SCHEMAS | jobs.SCHEMAS | documents.SCHEMAS | contents.SCHEMAS | search.SCHEMAS
    },
}
