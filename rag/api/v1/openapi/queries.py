"""How /v1/queries and /v1/feedback are described."""

from rag.api.states import CONTRADICTED, SUPPORT, VERIFICATION
from rag.api.v1.openapi.shared import (
    ANYTHING,
    COUNT,
    CURSOR,
    FLAG,
    ID,
    IN_COLLECTION,
    MAYBE_ID,
    MAYBE_TEXT,
    MAYBE_TIME,
    TEXT,
    TIME,
    Schema,
    answer,
    json_body,
    listed,
    obj,
    operation,
    paging,
    path,
    query,
    ref,
)
from rag.relevance import answers
from rag.types import claims

_QUERY = path("query_id")
_NUMBER: Schema = {"type": "number"}
_TIMES: Schema = {"type": "object", "additionalProperties": _NUMBER}
_MAYBE_NUMBER: Schema = {**_NUMBER, "nullable": True}
_MAYBE_COUNT: Schema = {**COUNT, "nullable": True}
_MAYBE_FLAG: Schema = {**FLAG, "nullable": True}
_RATING: Schema = {"type": "string", "enum": ["thumbs_up", "thumbs_down"]}
_STATUS: Schema = {
    "type": "string",
    "enum": ["current", "replaced", "gone"],
    "description": "replaced: the document has a newer version. gone: it was deleted.",
}
_WHEN = "A time in ISO 8601 or a whole UTC day."
_IDS: Schema = {"type": "array", "items": ID}
_SUMMARY: dict[str, Schema] = {
    "query_id": ID,
    "conversation_id": TEXT,
    "face": {**TEXT, "description": "ask, query, book, platform or replay: the route it came by."},
    "query": TEXT,
    "rewritten_query": MAYBE_TEXT,
    "collection_ids": _IDS,
    "answered": FLAG,
    "reason": MAYBE_TEXT,
    "error": {**MAYBE_TEXT, "description": "Code of what failed; CLIENT_LEFT: before the answer."},
    "answer": {**MAYBE_TEXT, "description": "With [k] for the citations whose citation_index is k."},
    "answer_gone": {**FLAG, "description": "A document that it cites was deleted, and its words with it."},
    "model": MAYBE_TEXT,
    "verification": ref("PastVerification"),
    "faithfulness_score": {**_MAYBE_NUMBER, "description": claims.HOW},
    "ratings": obj(thumbs_up=COUNT, thumbs_down=COUNT),
    "cached": FLAG,
    "replay_of": MAYBE_ID,
    "latency_ms": COUNT,
    "created_at": TIME,
}
_FEEDBACK: dict[str, Schema] = {
    "rating": {"type": "string", "enum": ["thumbs_up", "thumbs_down", None], "nullable": True},
    "comment": MAYBE_TEXT,
    "created_at": TIME,
    "updated_at": TIME,
}

PATHS: dict[str, Schema] = {
    "/v1/queries": {
        "get": operation(
            "listQueries",
            "List past questions of all faces, newest first",
            answer("200", "One page.", "QueryList"),
            "400 404",
            parameters=[
                *paging("created_at"),
                query("conversation_id", TEXT),
                query("answered", FLAG),
                query("rating", _RATING, "Only those that somebody gave this rating."),
                query("since", TEXT, _WHEN),
                query("until", TEXT, f"{_WHEN} A day is included, a time is not."),
                IN_COLLECTION,
            ],
        )
    },
    "/v1/queries/{query_id}": {
        "get": operation(
            "getQuery",
            "What was asked, found and answered, by which settings and scores",
            answer("200", "All that explains the answer.", "ExplainedQuery"),
            "400 404",
            parameters=[_QUERY],
        ),
        "delete": operation(
            "deleteQuery",
            "Forget a question, its answer and what was said of it",
            answer("200", "It is gone.", "Deleted"),
            "400 404",
            parameters=[_QUERY],
        ),
    },
    "/v1/queries/{query_id}/replay": {
        "post": operation(
            "replayQuery",
            "Ask the same again, with the same settings and past the cache",
            answer("200", "The body of /v1/query, and what changed.", "ReplayedQuery"),
            "400 404",
            parameters=[_QUERY],
        )
    },
    "/v1/feedback": {
        "post": operation(
            "giveFeedback",
            "Rate an answer or comment on it; once more changes it",
            answer("200", "Kept.", "FeedbackReceipt"),
            "400 404 413 415",
            body=json_body("NewFeedback"),
        )
    },
}
SCHEMAS: dict[str, Schema] = {
    "QuerySummary": obj(**_SUMMARY),
    "QueryList": obj(queries=listed("QuerySummary"), next_cursor=CURSOR),
    "Candidate": obj(
        rank={**_MAYBE_COUNT, "description": "As judged; null for a neighbour in the context."},
        chunk_id=ID,
        document_id=ID,
        document_name=MAYBE_TEXT,
        title=MAYBE_TEXT,
        page_number=_MAYBE_COUNT,
        status=_STATUS,
        dense_score={**_MAYBE_NUMBER, "description": "Cosine similarity."},
        sparse_score={**_MAYBE_NUMBER, "description": "BM25."},
        fused_score=_MAYBE_NUMBER,
        rerank_score=_MAYBE_NUMBER,
        relevance=_NUMBER,
        result_rank={**_MAYBE_COUNT, "description": "Among the results, from 1."},
        context_number={**_MAYBE_COUNT, "description": "Among the passages the model was given, from 1."},
    ),
    "PastCitation": obj(
        citation_index=COUNT,
        chunk_id=ID,
        document_id=ID,
        document_name={**MAYBE_TEXT, "description": "As it is called now; null if it was deleted."},
        title=MAYBE_TEXT,
        page_number=_MAYBE_COUNT,
        quoted_text=MAYBE_TEXT,
        start_char=COUNT,
        end_char=COUNT,
        answer_start=COUNT,
        answer_end=COUNT,
        support=SUPPORT,
        verdict={
            "type": "string",
            "nullable": True,
            "enum": ["supported", "unverified", "contradicted", None],
            "description": "What a model that read the claim after the answer says; null if none has.",
        },
        judged_by={**MAYBE_TEXT, "description": "That model."},
        status=_STATUS,
        message={**MAYBE_TEXT, "description": "Why it is not as it was."},
    ),
    "PastVerification": {
        **VERIFICATION,
        "nullable": True,
        "description": "As in `Verification`; null if the question failed, or the answer is of a release"
        " that did not count.",
    },
    "TokenUsage": {
        **obj(input_tokens=COUNT, output_tokens=COUNT, model=TEXT, stage_times_ms=_TIMES),
        "nullable": True,
    },
    "OwnFeedback": {**obj(**_FEEDBACK), "nullable": True},
    "PastResponse": {
        **obj(
            answer=MAYBE_TEXT,
            citations=listed("PastCitation"),
            input_tokens=COUNT,
            output_tokens=COUNT,
            model=TEXT,
            latency_ms={**_MAYBE_NUMBER, "description": "Of the writing; null where nothing was written."},
        ),
        "nullable": True,
    },
    "ExplainedQuery": obj(
        id=ID,
        **_SUMMARY,
        message=MAYBE_TEXT,
        original_query=TEXT,
        input=obj(original=TEXT, rewritten=MAYBE_TEXT),
        collections={"type": "array", "items": obj(id=ID, name=TEXT)},
        filters=ANYTHING,
        settings=ANYTHING,
        retrieved={**COUNT, "description": "Before the relevance threshold."},
        relevance=_NUMBER,
        embedding_model=MAYBE_TEXT,
        reranker=MAYBE_TEXT,
        rewriting=MAYBE_TEXT,
        retrieval=obj(chunks=listed("Candidate"), latency_ms=_MAYBE_NUMBER),
        response=ref("PastResponse"),
        citations=listed("PastCitation"),
        contradicted={
            **listed("ContradictedClaim"),
            "description": f"{CONTRADICTED} Empty if the answer is gone.",
        },
        usage=ref("TokenUsage"),
        prompt_version=MAYBE_TEXT,
        stage_times_ms=_TIMES,
        total_latency_ms=COUNT,
        faithfulness_judged_at={
            **MAYBE_TIME,
            "description": "Some seconds after the answer; later where a model that reads it was away.",
        },
        quality=obj(
            faithfulness={**_MAYBE_NUMBER, "description": claims.HOW},
            answer_relevance={**_MAYBE_NUMBER, "description": answers.HOW},
            relevance=_NUMBER,
            feedback={**_FEEDBACK["rating"], "description": "The caller's own."},
        ),
        feedback=ref("OwnFeedback"),
    ),
    "ReplayChange": obj(
        chunk_id=ID,
        document_id=ID,
        title=MAYBE_TEXT,
        place_before=_MAYBE_COUNT,
        place_now=_MAYBE_COUNT,
        relevance_before=_MAYBE_NUMBER,
        relevance_now=_MAYBE_NUMBER,
    ),
    "ReplayedQuery": {
        "type": "object",
        "required": ["query_id", "answer", "replay_of", "changes"],
        "properties": {
            "query_id": ID,
            "answer": TEXT,
            "replay_of": ID,
            "changes": obj(
                same_answer={**_MAYBE_FLAG, "description": "null: the earlier answer failed or is gone."},
                same_verification={**_MAYBE_FLAG, "description": "null: that of the earlier is unknown."},
                verification_before=ref("PastVerification"),
                added=listed("ReplayChange"),
                gone=listed("ReplayChange"),
                moved=listed("ReplayChange"),
            ),
        },
        "additionalProperties": True,
    },
    "NewFeedback": {
        "type": "object",
        "required": ["query_id"],
        "description": "A rating, a comment, or both.",
        "properties": {
            "query_id": ID,
            "rating": _RATING,
            "comment": {"type": "string", "maxLength": 2000},
        },
    },
    "FeedbackReceipt": obj(recorded=FLAG, query_id=ID, **_FEEDBACK),
}
