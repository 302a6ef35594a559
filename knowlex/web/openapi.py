"""What the API's description says of every route: the error body, and /health."""

from typing import Any

_STRING = {"type": "string"}
_CONNECTION = {"type": "string", "enum": ["connected", "unreachable"]}
_CONFIGURED = {"type": "string", "enum": ["connected", "unreachable", "not_configured"]}

PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "Every failure, whatever the route; under /v1/ with request_id for requestId.",
    "required": ["status", "error", "message", "details", "timestamp"],
    "properties": {
        "status": {"type": "integer", "description": "The HTTP status."},
        "error": {"type": "string", "description": "A short code, for example VALIDATION_ERROR."},
        "message": _STRING,
        "details": {"type": "object", "description": "For example the `field` that is wrong."},
        "timestamp": {"type": "string", "format": "date-time"},
        "requestId": {"type": "string", "description": "The same as the header X-Request-ID."},
        "request_id": {"type": "string", "description": "The same, under /v1/."},
    },
}
HEALTH: dict[str, Any] = {
    "type": "object",
    "required": ["status", "ollama", "vector_store", "embedding_model", "timestamp"],
    "properties": {
        "status": {"type": "string", "enum": ["healthy", "degraded", "unhealthy"]},
        "ollama": _CONFIGURED,
        "vector_store": _CONNECTION,
        "embedding_model": {"type": "string", "enum": ["loaded", "not_loaded"]},
        "chat_model": {
            "type": "string",
            "enum": ["connected", "unreachable", "not_loaded", "not_configured"],
            "description": "`not_loaded`: Ollama answers, but the model was not pulled.",
        },
        "database": _CONNECTION,
        "broker": _CONNECTION,
        "vector_index": {
            "type": "object",
            "nullable": True,
            "description": "Null while the database cannot be reached.",
            "properties": {
                "kind": {"type": "string", "enum": ["none", "ivfflat", "hnsw"]},
                "searches": {"type": "string", "enum": ["exact", "index"]},
                "storage": {"type": "string", "enum": ["vector", "halfvec"]},
                "rows": {"type": "integer", "description": "When it was built."},
                "effort": {"type": "integer", "description": "Probes, or ef_search."},
                "recall": {
                    "type": "number",
                    "nullable": True,
                    "description": "recall@10 against exact search.",
                },
                "measured_at": {"type": "string", "nullable": True, "format": "date-time"},
            },
        },
        "reranker": {
            "type": "string",
            "enum": ["connected", "loaded", "unreachable", "not_loaded", "resting"],
            "description": "Only where a model reranks; `resting` after it was too slow or failed.",
        },
        "workers": {"type": "integer", "description": "Worker processes that are alive."},
        "timestamp": {"type": "string", "format": "date-time"},
    },
}


def _answer(description: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Health"}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


OPENAPI: dict[str, Any] = {
    "paths": {
        "/health": {
            "get": {
                "operationId": "health",
                "summary": "Whether Knowlex and what it stands on can work",
                "tags": ["health"],
                "responses": {"200": _answer("Healthy or degraded"), "503": _answer("Unhealthy")},
            }
        }
    },
    "components": {
        "schemas": {"Problem": PROBLEM, "Health": HEALTH},
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer", "description": "An API key."},
            "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        },
    },
}
