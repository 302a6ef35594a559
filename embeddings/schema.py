"""OpenAPI of the plain views, which drf-spectacular cannot see: paths -> operations."""

from typing import Any

_PROBLEM = {
    "description": "The error body: status, error, message, details, timestamp, requestId.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
_HIT = {
    "type": "object",
    "required": ["chunkId", "documentId", "chunkIndex", "content", "score"],
    "properties": {
        "chunkId": {"type": "string", "format": "uuid"},
        "documentId": {"type": "string", "format": "uuid"},
        "chunkIndex": {"type": "integer", "description": "Place in the document, from 0."},
        "content": {"type": "string"},
        "score": {"type": "number", "description": "Cosine distance: lower is closer, 0.0 is identical."},
        "documentName": {"type": "string"},
        "title": {"type": "string"},
        "pageNumber": {"type": "integer", "nullable": True, "description": "From 1; null without pages."},
    },
}
_QUEUED = {
    "type": "object",
    "required": ["queued"],
    "properties": {
        "runId": {"type": "string", "format": "uuid"},
        "queued": {"type": "integer"},
        "message": {"type": "string"},
    },
}
_PREFER = {
    "name": "Prefer",
    "in": "header",
    "schema": {"type": "string"},
    "description": "`respond-async` answers 202 at once instead of waiting for the work.",
}
_DOCUMENT_ID = {
    "name": "documentId",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "format": "uuid"},
}


def _problems(*statuses: int) -> dict[str, Any]:
    return {str(status): _PROBLEM for status in statuses}


def _generate(operation_id: str, summary: str, example: str, *parameters: dict[str, Any]) -> dict[str, Any]:
    text = {"schema": {"type": "string"}, "example": example}
    errors = (429, 500, 503) if not parameters else (400, 404, 429, 500, 503)
    return {
        "operationId": operation_id,
        "summary": summary,
        "tags": ["api"],
        "parameters": [*parameters, _PREFER],
        "responses": {
            "200": {"description": "How many were embedded.", "content": {"text/plain": text}},
            "202": {"description": "Queued.", "content": {"application/json": {"schema": _QUEUED}}},
            **_problems(*errors),
        },
    }


OPENAPI: dict[str, Any] = {
    "/api/v1/embeddings/generate": {
        "post": _generate(
            "generateEmbeddings", "Embed all chunks that have no vector yet", "Embedded 42 chunk(s)"
        )
    },
    "/api/v1/embeddings/generate/{documentId}": {
        "post": _generate(
            "generateDocumentEmbeddings",
            "Embed the chunks of one document that have no vector yet",
            "Embedded 12 chunk(s) for document a1b2c3d4-e5f6-7890-abcd-ef1234567890",
            _DOCUMENT_ID,
        )
    },
    "/api/v1/embeddings/search": {
        "post": {
            "operationId": "searchEmbeddings",
            "summary": "The chunks closest in meaning to a text",
            "tags": ["api"],
            "parameters": [
                {
                    "name": "k",
                    "in": "query",
                    "schema": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5},
                },
                {
                    "name": "collection",
                    "in": "query",
                    "schema": {"type": "string"},
                    "description": "Name or id; `default` unless given.",
                },
            ],
            "requestBody": {
                "required": True,
                "content": {"text/plain": {"schema": {"type": "string", "maxLength": 2000}}},
            },
            "responses": {
                "200": {
                    "description": "Closest first.",
                    "content": {"application/json": {"schema": {"type": "array", "items": _HIT}}},
                },
                **_problems(400, 404, 413, 415, 429, 500, 503),
            },
        }
    },
}
