"""How /v1/query is described: the answer whole, and as it is written."""

from rag.api.states import CONTRADICTED, MISSING, SUPPORT
from rag.api.v1.openapi.shared import (
    COUNT,
    FLAG,
    ID,
    MAYBE_TEXT,
    TEXT,
    Schema,
    json_body,
    listed,
    obj,
    operation,
    ref,
)

_PAGE: Schema = {"type": "integer", "nullable": True}
_SNIPPET: Schema = {**TEXT, "maxLength": 200}
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_REASON: Schema = {
    "type": "string",
    "nullable": True,
    "description": "Why nothing was answered; null if it was.",
    "enum": [
        *("no_documents", "embeddings_pending", "filtered_out", "below_threshold"),
        *("not_supported", "model_declined", None),
    ],
}
EVENTS: Schema = {
    "schema": {"type": "string"},
    "example": (
        'event: token\ndata: {"text":"It has 253 steps [1]."}\n\n'
        'event: sources\ndata: {"sources":[]}\n\n'
        'event: done\ndata: {"query_id":"","answer":"It has 253 steps [1].","citations":[{"citation_index":1,'
        '"answer_start":0,"answer_end":16,"support":"exact"}],"contradicted":[],"verification":{"exact":1,'
        '"supported":0,"unverified":0,"contradicted":0,"uncited":0},"usage":{}}\n\n'
    ),
}
_TIMES: Schema = {"type": "object", "additionalProperties": {"type": "number"}}
_FIELDS: dict[str, Schema] = {
    "query_id": {**ID, "description": "Also in the header X-Query-ID."},
    "conversation_id": {**TEXT, "description": "As it was sent, or a new one."},
    "answer": {**TEXT, "description": "[k] names the source, and the citations, whose citation_index is k."},
    "sources": {**listed("QuerySource"), "description": "The cited passages, in order of first citation."},
    "citations": {**listed("QueryCitation"), "description": "One for each marked claim and its passage."},
    "contradicted": {**listed("ContradictedClaim"), "description": CONTRADICTED},
    "verification": ref("Verification"),
    "usage": obj(input_tokens=COUNT, output_tokens=COUNT, model=TEXT, stage_times_ms=_TIMES),
    "latency_ms": COUNT,
    "reason": _REASON,
    "nearest": {**listed("QueryNear"), "description": "Of a question without an answer: at most three."},
    "relevance": {**_SHARE, "description": "Of the best passage."},
    "cached": FLAG,
    "rewritten_query": {**MAYBE_TEXT, "description": "A follow-up question as it stands alone."},
    "stage_times_ms": {**_TIMES, "description": "`retrieve` holds `embed` and `search`. Also in `usage`."},
    "warnings": listed("QueryWarning"),
}
PATHS: dict[str, Schema] = {
    "/v1/query": {
        "post": operation(
            "platformQuery",
            "An answer that says of each claim how far it was checked, whole or as it is written",
            {
                "200": {
                    "description": (
                        "Answered, or not enough. With `Accept: text/event-stream`, or `settings.streaming`:"
                        " `token` events whose texts joined are the answer, `sources`, then `done` with the"
                        " rest: with `citations` and `contradicted` a client can mark each claim of what it"
                        " has shown. Where every claim is contradicted or none has a source, the `answer` of"
                        " `done` is another than what was written. A failure after the first token is an"
                        " event `error` with the error body, and the end."
                    ),
                    "content": {
                        "application/json": {"schema": ref("QueryAnswer")},
                        "text/event-stream": EVENTS,
                    },
                    "headers": {"X-Query-ID": {"schema": ID}},
                }
            },
            "400 404 413 415",
            body=json_body("QueryAsked"),
        )
    }
}
SCHEMAS: dict[str, Schema] = {
    "QueryAsked": obj(
        "query",
        query={"type": "string", "minLength": 1, "maxLength": 2000},
        conversation_id={"type": "string", "minLength": 1, "maxLength": 255},
        collections={
            "type": "array",
            "maxItems": 100,
            "items": {"type": "string", "maxLength": 255},
            "description": "Names or ids; all that may be read unless some are given.",
        },
        filters=ref("SearchFilters"),
        settings=ref("QuerySettings"),
    ),
    "QuerySettings": {
        "type": "object",
        "properties": {
            "top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "mode": {"type": "string", "enum": ["hybrid", "dense", "sparse", "exact"], "default": "hybrid"},
            "rerank": {**FLAG, "description": "true unless given in `hybrid`, false in the other modes."},
            "rewrite": {
                **FLAG,
                "description": "Search with what a chat model makes of it, too (`hybrid`, `dense`).",
            },
            "include_sources": {**FLAG, "default": True},
            "response_format": {
                "type": "string",
                "enum": ["text", "json"],
                "default": "text",
                "description": "json: `claims` besides.",
            },
            "max_tokens": {"type": "integer", "minimum": 1, "maximum": 4096, "default": 1024},
            "streaming": {**FLAG, "default": False, "description": "Like `Accept: text/event-stream`."},
        },
    },
    "QuerySource": obj(
        chunk_id=ID,
        document_id=ID,
        document_name=TEXT,
        title=TEXT,
        content_snippet=_SNIPPET,
        score={"type": "number", "description": "The one that ranked it; higher is better."},
        citation_index={"type": "integer", "minimum": 1},
        page_number=_PAGE,
        last_page=_PAGE,
        chapter=MAYBE_TEXT,
        section=MAYBE_TEXT,
        relevance=_SHARE,
    ),
    "QueryCitation": obj(
        citation_index={"type": "integer", "minimum": 1},
        chunk_id=ID,
        document_id=ID,
        document_name=TEXT,
        title=TEXT,
        page_number={**_PAGE, "description": "On which the quote stands, or most of it."},
        quoted_text={**TEXT, "description": "An exact part of the chunk's content."},
        start_char={**COUNT, "description": "Of the quote in the document's text."},
        end_char=COUNT,
        answer_start={**COUNT, "description": "Of the claim in the answer."},
        answer_end=COUNT,
        support=SUPPORT,
    ),
    "ContradictedClaim": obj(
        text={**TEXT, "description": "Without markers."},
        answer_start={**COUNT, "description": "Of the claim in the answer."},
        answer_end=COUNT,
        missing=MISSING,
    ),
    "QueryNear": obj(
        chunk_id=ID,
        document_id=ID,
        document_name=TEXT,
        title=TEXT,
        page_number=_PAGE,
        relevance=_SHARE,
        content_snippet=_SNIPPET,
    ),
    "QueryWarning": obj(
        document_id=ID,
        title=TEXT,
        message={**TEXT, "description": "Why pages of this cited document are unread."},
        unread_pages={"type": "array", "items": {"type": "integer"}},
    ),
    "QueryClaim": obj(
        text=TEXT,
        citation_indexes={"type": "array", "items": {"type": "integer"}},
        support={**SUPPORT, "description": "The best of its citations."},
    ),
    "QueryAnswer": obj(
        *_FIELDS,
        **_FIELDS,
        claims={**listed("QueryClaim"), "description": "With response_format json: each marked claim once."},
    ),
}
