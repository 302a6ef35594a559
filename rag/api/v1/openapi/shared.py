"""What the descriptions of all routes are put together from."""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
MAYBE_TEXT: Schema = {"type": "string", "nullable": True}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
ID: Schema = {"type": "string", "format": "uuid"}
MAYBE_ID: Schema = {**ID, "nullable": True}
TIME: Schema = {"type": "string", "format": "date-time"}
MAYBE_TIME: Schema = {**TIME, "nullable": True}
ANYTHING: Schema = {"type": "object", "additionalProperties": True}
STATUS: Schema = {"type": "string", "enum": ["pending", "processing", "completed", "failed"]}
CURSOR: Schema = {**MAYBE_TEXT, "description": "For the next page; null on the last one."}

FAILURES = {
    "400": "A field, parameter or id is missing or wrong; `details.field` names it",
    "401": "No valid API key, where keys are asked for",
    "403": "Not allowed",
    "404": "Unknown id or collection",
    "409": "There is one already, or an equal request is under way",
    "413": "The body is too large",
    "415": "The body's content type is wrong",
    "422": "The Idempotency-Key was used for another request",
    "429": "Too many requests",
    "500": "Something went wrong",
    "503": "The database is not reachable, or the server too busy",
    "507": "No room to store the documents",
}
ALWAYS = ("401", "403", "429", "500", "503")


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def listed(name: str) -> Schema:
    return {"type": "array", "items": ref(name)}


def obj(*required: str, **properties: Schema) -> Schema:
    """All properties are required unless some are named."""
    return {"type": "object", "required": list(required or properties), "properties": properties}


def query(name: str, schema: Schema, description: str = "") -> Schema:
    return {"name": name, "in": "query", "schema": schema, "description": description}


def path(name: str) -> Schema:
    return {"name": name, "in": "path", "required": True, "schema": ID}


def paging(*sorts: str) -> list[Schema]:
    parameters = [
        query("limit", {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}),
        query("cursor", TEXT, "`next_cursor` of the page before."),
    ]
    if sorts:
        orders = [order for sort in sorts for order in (sort, f"-{sort}")]
        parameters.append(query("sort", {"type": "string", "enum": orders}, "With - for descending."))
    return parameters


def answer(status: str, words: str, schema: str) -> Schema:
    return {status: {"description": words, "content": {"application/json": {"schema": ref(schema)}}}}


def operation(
    name: str,
    summary: str,
    answers: Schema,
    failures: str,
    *,
    parameters: list[Schema] | None = None,
    body: dict[str, Schema] | None = None,
) -> Schema:
    """failures: statuses besides those that any request may get."""
    statuses = sorted({*ALWAYS, *failures.split()})
    problems = {status: answer(status, FAILURES[status], "Problem")[status] for status in statuses}
    described: Schema = {
        "operationId": name,
        "summary": summary,
        "tags": ["platform"],
        "parameters": parameters or [],
        "responses": {**answers, **problems},
    }
    if body:
        described["requestBody"] = {
            "required": True,
            "content": {media_type: {"schema": schema} for media_type, schema in body.items()},
        }
    return described


def json_body(schema: str) -> dict[str, Schema]:
    return {"application/json": ref(schema)}


IN_COLLECTION = query("collection", TEXT, "A collection's name or id.")
BY_STATUS = query("status", {"type": "string", "enum": STATUS["enum"]})
HOLDING = query("q", {"type": "string", "maxLength": 255}, "Text to be found in names, whatever the case.")

CHUNKING = {
    "chunking_strategy": {"type": "string", "enum": ["fixed", "sentence", "semantic"]},
    "chunk_size": {"type": "integer", "minimum": 20, "maximum": 512},
    "chunk_overlap": {"type": "integer", "minimum": 0, "description": "At most half of chunk_size."},
    "similarity_threshold": {"type": "number", "minimum": 0, "maximum": 1},
    "min_chunk_size": {"type": "integer", "minimum": 1, "description": "At most chunk_size."},
}
