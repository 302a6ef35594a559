"""How /v1/search is described."""

from rag.api.v1.openapi.shared import (
    COUNT,
    FLAG,
    ID,
    MAYBE_TEXT,
    TEXT,
    Schema,
    answer,
    json_body,
    listed,
    obj,
    operation,
    ref,
)


def _number(description: str) -> Schema:
    return {"type": "number", "description": description}


def _maybe(schema: Schema) -> Schema:
    return {**schema, "nullable": True}


def _several(schema: Schema, description: str, most: int) -> Schema:
    several = {"type": "array", "items": schema, "minItems": 1, "maxItems": most}
    return {"oneOf": [schema, several], "description": description}


_DAY: Schema = {"type": "string", "format": "date"}
_PAGE: Schema = {"type": "integer", "minimum": 1, "maximum": 1_000_000}
_SCALAR: Schema = {"oneOf": [{"type": "string", "maxLength": 1000}, {"type": "number"}, {"type": "boolean"}]}
_BOUND: Schema = {"oneOf": [{"type": "string"}, {"type": "number"}]}
_TITLE: Schema = {"type": "string", "maxLength": 1000}

PATHS: dict[str, Schema] = {
    "/v1/search": {
        "post": operation(
            "search",
            "The passages that an answer would be made from, with every score",
            answer("200", "Best first; none is withheld for its relevance.", "SearchResults"),
            "400 404 413 415",
            body=json_body("SearchRequest"),
        )
    }
}
SCHEMAS: dict[str, Schema] = {
    "MetadataCondition": {
        "description": "A value, one of several values, or a range; types are compared, too.",
        "oneOf": [
            _SCALAR,
            {"type": "array", "items": _SCALAR, "minItems": 1, "maxItems": 100},
            {"type": "object", "properties": {"gte": _BOUND, "lte": _BOUND}, "additionalProperties": False},
        ],
    },
    "SearchFilters": {
        "type": "object",
        "description": "All that are given must hold.",
        "additionalProperties": False,
        "properties": {
            "date_range": {
                "type": "object",
                "description": "Of `created_at`: whole UTC days, both included.",
                "properties": {"start": _DAY, "end": _DAY},
                "additionalProperties": False,
            },
            "metadata": {
                "type": "object",
                "description": "Keys of the documents' metadata, at the top or under `custom`.",
                "maxProperties": 20,
                "additionalProperties": ref("MetadataCondition"),
            },
            "documents": _several(ID, "One of these documents.", 1000),
            "tags": _several(_TITLE, "One of these tags.", 100),
            "page": {
                "oneOf": [_PAGE, {"type": "object", "properties": {"from": _PAGE, "to": _PAGE}}],
                "description": "The passage touches this page, or one of these.",
            },
            "chapter": _several(_TITLE, "In one of these chapters.", 100),
            "section": _several(_TITLE, "In one of these sections.", 100),
        },
    },
    "SearchSettings": {
        "type": "object",
        "properties": {
            "top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "mode": {"type": "string", "enum": ["hybrid", "dense", "sparse", "exact"], "default": "hybrid"},
            "rerank": {**FLAG, "description": "true unless given in `hybrid`, false in the other modes."},
            "rewrite": {
                **FLAG,
                "description": "Search with what a chat model makes of it, too (`hybrid`, `dense`).",
            },
            "include_sources": FLAG,
            "response_format": {"type": "string", "enum": ["text", "json"]},
            "max_tokens": {"type": "integer", "minimum": 1, "maximum": 4096},
        },
    },
    "SearchRequest": obj(
        "query",
        query={"type": "string", "minLength": 1, "maxLength": 2000},
        conversation_id={"type": "string", "maxLength": 255},
        collections={
            "type": "array",
            "maxItems": 100,
            "items": {"type": "string", "maxLength": 255},
            "description": "Names or ids; all that may be read unless some are given.",
        },
        filters=ref("SearchFilters"),
        settings=ref("SearchSettings"),
        explain={**ID, "description": "Of a chunk: say where it was lost."},
    ),
    "SearchStage": obj(
        stage=TEXT,
        kept={**FLAG, "nullable": True, "description": "null where the chunk never came."},
        rank=_maybe({"type": "integer", "minimum": 1}),
        score=_maybe({"type": "number"}),
        limit=_maybe(_number("Of the rank; at `relevance`, of the score.")),
        reason=TEXT,
    ),
    "SearchExplanation": obj(
        chunk_id=ID,
        found={**FLAG, "description": "It is among the results."},
        lost_at={
            **MAYBE_TEXT,
            "description": "The first stage that did not keep it; of two rankings one is enough.",
        },
        stages=listed("SearchStage"),
    ),
    "SearchResult": obj(
        rank={"type": "integer", "minimum": 1},
        chunk_id=ID,
        document_id=ID,
        document_name=TEXT,
        title=TEXT,
        chunk_index=COUNT,
        content=TEXT,
        page_number=_maybe({"type": "integer"}),
        last_page=_maybe({"type": "integer"}),
        chapter=MAYBE_TEXT,
        section=MAYBE_TEXT,
        score=_number("The one that ranked it; higher is better."),
        dense_score=_maybe(_number("Cosine similarity; null where no model was called.")),
        sparse_score=_maybe(_number("BM25; null if the ranking by words does not hold it.")),
        fused_score=_number("Before reranking."),
        rerank_score=_maybe(_number("null if it was not reranked.")),
        relevance=_number("Probability that the passage helps to answer, 0 to 1."),
    ),
    "SearchResults": obj(
        *("results", "mode", "reranked", "embedding_model", "stage_times_ms", "latency_ms"),
        explanation=ref("SearchExplanation"),
        results=listed("SearchResult"),
        mode=TEXT,
        reranked=FLAG,
        reranker={**MAYBE_TEXT, "description": "Whose order it is: sentence, cross-encoder or http."},
        rewriting=_maybe(
            {
                "type": "string",
                "enum": ["done", "unavailable", "failed", None],  # OpenAPI 3.0 wants null said twice
                "description": "null where it was not asked for; unless done, the search was the plain one.",
            }
        ),
        embedding_model=MAYBE_TEXT,
        stage_times_ms={"type": "object", "additionalProperties": {"type": "number"}},
        latency_ms=COUNT,
    ),
}
