"""What /api/schema says of asking."""

from typing import Any

from rag.api.states import CONTRADICTED, MISSING, SUPPORT, VERIFICATION

_STRING: dict[str, Any] = {"type": "string"}
_ID: dict[str, Any] = {"type": "string", "format": "uuid"}
_QUESTION: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 2000}
_QUERY_ID: dict[str, Any] = {"X-Query-ID": {"schema": _ID}}
_OTHER_NAME = "Another name for {}."
_PAGE: dict[str, Any] = {"type": "integer", "nullable": True}


def _object(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties}


def _list(schema: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{schema}"}}


def _count(default: int | None, high: int = 50) -> dict[str, Any]:
    bounds: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": high}
    return bounds if default is None else {**bounds, "default": default}


_COLLECTION = {"type": "string", "description": "Name or id; `default` if it is left out.", "maxLength": 255}
_UNREAD = _object(
    ["documentId", "title", "message", "unreadPages"],
    documentId=_ID,
    title=_STRING,
    message={"type": "string", "description": "Why pages of this cited document are unread."},
    unreadPages={"type": "array", "items": {"type": "integer"}},
)
_CITED = _object(
    ["citationIndex", "chunkId", "documentId", "quotedText", "startChar", "endChar", "support"],
    citationIndex={"type": "integer", "description": "The k of the claim's marker."},
    chunkId=_ID,
    documentId=_ID,
    documentName=_STRING,
    title=_STRING,
    pageNumber={**_PAGE, "description": "On which the quote stands, or most of it."},
    quotedText={"type": "string", "description": "An exact part of the chunk's content."},
    startChar={"type": "integer", "description": "Of the quote in the document's text."},
    endChar={"type": "integer"},
    answerStart={"type": "integer", "description": "Of the claim in the answer."},
    answerEnd={"type": "integer"},
    support=SUPPORT,
)
_CONTRADICTED = _object(
    ["text", "answerStart", "answerEnd", "missing"],
    text={"type": "string", "description": "The claim, without markers."},
    answerStart={"type": "integer", "description": "Of the claim in the answer."},
    answerEnd={"type": "integer"},
    missing=MISSING,
)
_NEAR = _object(
    ["chunkId", "documentId", "relevance"],
    chunkId=_ID,
    documentId=_ID,
    documentName=_STRING,
    title=_STRING,
    pageNumber=_PAGE,
    relevance={"type": "number"},
)
_METADATA = _object(
    ["answerSynthesized", "chunksRetrieved"],
    queryId={**_ID, "description": "Also in the header X-Query-ID."},
    reason={
        "type": "string",
        "nullable": True,
        "description": "Why nothing was answered; null if it was.",
        "enum": [
            *("no_documents", "embeddings_pending", "filtered_out", "below_threshold"),
            *("not_supported", "model_declined", None),
        ],
    },
    nearest={"type": "array", "items": _NEAR, "description": "Of a question without an answer."},
    citations={"type": "array", "items": _CITED},
    contradicted={"type": "array", "items": _CONTRADICTED, "description": CONTRADICTED},
    verification={"$ref": "#/components/schemas/Verification"},
    cached={"type": "boolean"},
    processingTimeMs={"type": "number"},
    answerSynthesized={"type": "boolean"},
    chunksRetrieved={"type": "integer", "description": "Before the relevance threshold."},
    relevance={"type": "number", "description": "Of the best passage, 0 to 1."},
    model=_STRING,
    stageTimesMs={
        "type": "object",
        "additionalProperties": {"type": "number"},
        "description": "`retrieve` holds `embed` and `search`.",
    },
    warnings={"type": "array", "items": _UNREAD},
)
SCHEMAS: dict[str, Any] = {
    "Verification": VERIFICATION,
    "AskRequest": _object(
        ["query"], query=_QUESTION, topK=_count(5), maxTokens=_count(None, 4096), collection=_COLLECTION
    ),
    "SourceChunk": _object(
        ["chunkId", "documentId", "chunkIndex", "content", "score"],
        chunkId=_ID,
        documentId=_ID,
        chunkIndex={"type": "integer"},
        content=_STRING,
        score={"type": "number", "description": "Cosine distance, lower is closer."},
        title=_STRING,
        pageNumber=_PAGE,
        relevance={"type": "number"},
    ),
    "AskResponse": _object(
        ["query", "answer", "sourceChunks"],
        query=_STRING,
        answer={"type": "string", "description": "With [k] for sourceChunks[k - 1]."},
        sourceChunks=_list("SourceChunk"),
        metadata=_METADATA,
    ),
    "QueryRequest": _object(
        ["query"],
        query=_QUESTION,
        maxSources=_count(10),
        topK={**_count(None), "description": _OTHER_NAME.format("maxSources")},
        maxTokens=_count(None, 4096),
        collection=_COLLECTION,
    ),
    "BookRequest": _object(
        ["question"],
        question=_QUESTION,
        topK=_count(5),
        maxSources={**_count(None), "description": _OTHER_NAME.format("topK") + " Goes before it."},
        maxTokens=_count(None, 4096),
        collection=_COLLECTION,
    ),
    "CitedDocument": _object(
        ["id", "title", "snippet", "url"],
        id=_ID,
        title=_STRING,
        snippet=_STRING,
        url={"type": "string", "nullable": True},
        pageNumber=_PAGE,
        pages={"type": "array", "items": {"type": "integer"}},
    ),
    "QueryResponse": _object(
        ["answer", "citedDocuments", "metadata"],
        answer={"type": "string", "description": "With [k] for citedDocuments[k - 1]."},
        citedDocuments=_list("CitedDocument"),
        metadata=_METADATA,
    ),
    "BookSource": _object(
        ["source_file", "chapter", "section"], source_file=_STRING, chapter=_STRING, section=_STRING
    ),
    "BookResponse": _object(["answer", "sources"], answer=_STRING, sources=_list("BookSource")),
}


def _content(*schemas: str) -> dict[str, Any]:
    options = [{"$ref": f"#/components/schemas/{name}"} for name in schemas]
    schema = options[0] if len(options) == 1 else {"oneOf": options}
    return {"application/json": {"schema": schema}}


def _answered(response: tuple[str, ...]) -> dict[str, Any]:
    return {
        "description": (
            "Answered, or not enough. With `Accept: text/event-stream`: `token` events, whose texts are"
            " the answer, `sources`, `done` with the whole body and `query_id`: with `metadata.citations`"
            " and `metadata.contradicted` a client can mark each claim of what it has shown. The `answer` of"
            " `done` is another one where every claim is contradicted or none has a source. A failure after"
            " the first token is an event `error` with the error body, and the end."
        ),
        "content": {**_content(*response), "text/event-stream": {"schema": {"type": "string"}}},
        "headers": _QUERY_ID,
    }


def _failed(status: str, words: str) -> dict[str, Any]:
    """A question that was asked and failed is recorded, so that it has an id."""
    told = {"description": words, "content": _content("Problem")}
    return {**told, "headers": _QUERY_ID} if status in ("500", "503") else told


def _operation(
    name: str, summary: str, request: tuple[str, ...], response: tuple[str, ...], failures: dict[str, str]
) -> dict[str, Any]:
    answers = {status: _failed(status, words) for status, words in failures.items()}
    return {
        "post": {
            "operationId": name,
            "summary": summary,
            "tags": ["ask"],
            "requestBody": {"required": True, "content": _content(*request)},
            "responses": {"200": _answered(response)} | answers,
        }
    }


_BAD = {
    "400": "A field is missing or wrong",
    "404": "No such collection",
    "415": "Not application/json",
    "429": "Too many requests",
}
_ASK_FAILURES = {**_BAD, "500": "The search or the chat model failed", "503": "The database is not reachable"}
_QUERY_FAILURES = {**_BAD, "503": "RETRIEVAL_FAILED or SYNTHESIS_FAILED"}


def _query(name: str) -> dict[str, Any]:
    return _operation(
        name,
        "Answer a question with cited documents (`query`) or book places (`question`)",
        ("QueryRequest", "BookRequest"),
        ("QueryResponse", "BookResponse"),
        _QUERY_FAILURES,
    )


_METRICS: dict[str, Any] = {
    "get": {
        "operationId": "metrics",
        "summary": "Counters and gauges for Prometheus",
        "tags": ["operating"],
        "responses": {
            "200": {"description": "Prometheus' text format", "content": {"text/plain": {"schema": _STRING}}}
        },
    }
}


OPENAPI: dict[str, Any] = {
    "paths": {
        "/api/v1/rag/ask": _operation(
            "ask", "Answer a question from the chunks", ("AskRequest",), ("AskResponse",), _ASK_FAILURES
        ),
        "/metrics": _METRICS,
        "/query": _query("query"),
        "/api/v1/rag/query": _query("ragQuery"),
    },
    "components": {"schemas": SCHEMAS},
}
