"""How /v1/question_sets and /v1/evaluations are described."""

from rag.api.v1.openapi.shared import (
    ANYTHING,
    COUNT,
    CURSOR,
    FLAG,
    HOLDING,
    ID,
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
from rag.evaluation.summary import ORDER

_SET, _EVALUATION = path("set_id"), path("evaluation_id")
_NUMBER: Schema = {"type": "number"}
_MAYBE_NUMBER: Schema = {"type": "number", "nullable": True}
_TEXTS: Schema = {"type": "array", "items": TEXT}
_RUN_STATUS: Schema = {"type": "string", "enum": ["pending", "running", "completed", "failed"]}
_QUESTION_SET: dict[str, Schema] = {
    "id": ID,
    "name": TEXT,
    "description": TEXT,
    "collection": MAYBE_TEXT,
    "collection_id": MAYBE_ID,
    "question_count": COUNT,
    "created_at": TIME,
}
_EVALUATION_BODY: dict[str, Schema] = {
    "id": ID,
    "status": _RUN_STATUS,
    "error": MAYBE_TEXT,
    "question_set": obj(id=ID, name=TEXT),
    "collections": {"type": "array", "items": obj(id=ID, name=TEXT)},
    "answers": FLAG,
    "progress": obj(total=COUNT, done=COUNT),
    "configurations": listed("MeasuredConfiguration"),
    "differences": {
        "type": "object",
        "nullable": True,
        "additionalProperties": ref("MetricDifference"),
        "description": "Second minus first, with the 95 % interval of a paired bootstrap.",
    },
    "plot": TEXT,
    "created_at": TIME,
    "started_at": MAYBE_TIME,
    "completed_at": MAYBE_TIME,
}

PATHS: dict[str, Schema] = {
    "/v1/question_sets": {
        "get": operation(
            "listQuestionSets",
            "List question sets",
            answer("200", "One page.", "QuestionSetList"),
            "400",
            parameters=[*paging("name", "created_at"), HOLDING],
        ),
        "post": operation(
            "createQuestionSet",
            "Store questions, as JSON lines (name, description, collection in the query) or one object",
            answer("201", "Stored.", "QuestionSet"),
            "400 404 409 413 415",
            parameters=[
                query("name", TEXT, "With JSON lines: the set's name, required."),
                query("description", TEXT, "With JSON lines."),
                query("collection", TEXT, "With JSON lines: the collection that the questions are about."),
            ],
            body={"application/x-ndjson": TEXT, **json_body("NewQuestionSet")},
        ),
    },
    "/v1/question_sets/{set_id}": {
        "get": operation(
            "getQuestionSet",
            "A question set with a page of its questions",
            answer("200", "The set.", "QuestionSetWithQuestions"),
            "400 404",
            parameters=[_SET, *paging("position")],
        ),
        "delete": operation(
            "deleteQuestionSet",
            "Delete a question set and its evaluations",
            answer("200", "What went.", "QuestionSetReceipt"),
            "400 404",
            parameters=[_SET],
        ),
    },
    "/v1/evaluations": {
        "get": operation(
            "listEvaluations",
            "List evaluations, newest first",
            answer("200", "One page.", "EvaluationList"),
            "400",
            parameters=[
                *paging("created_at"),
                query("question_set", ID, "Only of this set."),
                query("status", _RUN_STATUS),
            ],
        ),
        "post": operation(
            "createEvaluation",
            "Measure one or two configurations on a question set, in the background",
            answer("202", "A worker will take it.", "Evaluation"),
            "400 404 413 415",
            body=json_body("NewEvaluation"),
        ),
    },
    "/v1/evaluations/{evaluation_id}": {
        "get": operation(
            "getEvaluation",
            "How far an evaluation is, its figures, and a page of questions with their results",
            answer("200", "The evaluation.", "EvaluationWithResults"),
            "400 404",
            parameters=[
                _EVALUATION,
                *paging("position"),
                query(
                    "failing",
                    {"type": "string", "enum": list(ORDER)},
                    "Only questions of which this metric is below 1 under any configuration.",
                ),
            ],
        ),
        "delete": operation(
            "deleteEvaluation",
            "Delete an evaluation; one that is running ends",
            answer("200", "It is gone.", "Deleted"),
            "400 404",
            parameters=[_EVALUATION],
        ),
    },
    "/v1/evaluations/{evaluation_id}/plot.svg": {
        "get": operation(
            "plotEvaluation",
            "The figures with their intervals, and a reliability diagram, as a picture",
            {
                "200": {
                    "description": "An SVG; before the end, one that says how far it is.",
                    "content": {"image/svg+xml": {"schema": TEXT}},
                }
            },
            "400 404",
            parameters=[_EVALUATION],
        )
    },
}
SCHEMAS: dict[str, Schema] = {
    "EvaluationQuestion": {
        "type": "object",
        "required": ["question"],
        "properties": {
            "id": {**TEXT, "description": "Unique in the set; its place, unless given. Also `_id`, `key`."},
            "question": {"type": "string", "maxLength": 2000, "description": "Also `query`, `text`."},
            "answers": {**_TEXTS, "description": "Each of them right. Also `answer`."},
            "document": {
                **TEXT,
                "description": "File name, that without its ending, title or id. Also `doc`, `source_file`.",
            },
            "pages": {"type": "array", "items": COUNT, "description": "From 1. Also `page`."},
            "chapter": TEXT,
            "section": TEXT,
            "answerable": {**FLAG, "description": "Also `kind`: answerable or unanswerable."},
            "relevant": {
                "type": "object",
                "additionalProperties": _NUMBER,
                "description": "Grades by document, named as in `document`, or by chunk id. Also `qrels`.",
            },
            "answer_type": {"type": "string", "enum": ["span", "number", "long"]},
            "lang": TEXT,
            "document_lang": TEXT,
            "evidence": TEXT,
            "key_numbers": {"type": "array", "items": _NUMBER},
            "tags": _TEXTS,
            "metadata": ANYTHING,
        },
        "additionalProperties": True,
    },
    "NewQuestionSet": {
        "type": "object",
        "required": ["name", "questions"],
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 255},
            "description": TEXT,
            "collection": TEXT,
            "questions": listed("EvaluationQuestion"),
        },
    },
    "QuestionSet": obj(**_QUESTION_SET),
    "QuestionSetList": obj(question_sets=listed("QuestionSet"), next_cursor=CURSOR),
    "QuestionSetWithQuestions": obj(
        **_QUESTION_SET, questions=listed("EvaluationQuestion"), next_cursor=CURSOR
    ),
    "QuestionSetReceipt": obj(deleted=FLAG, questions_removed=COUNT),
    "Deleted": obj(deleted=FLAG),
    "EvaluationSettings": {
        "type": "object",
        "properties": {
            "mode": {"type": "string", "enum": ["hybrid", "dense", "sparse", "exact"]},
            "top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "rerank": FLAG,
            "rewrite": FLAG,
            "threshold": {"type": "number", "minimum": 0, "maximum": 1},
            "rrf_k": {"type": "integer", "minimum": 1, "maximum": 1000},
            "dense_weight": {"type": "number", "minimum": 0, "maximum": 1},
            "embedding_model": {**TEXT, "description": "One that is stored; the active one, unless given."},
        },
        "additionalProperties": False,
    },
    "NewEvaluation": {
        "type": "object",
        "required": ["question_set"],
        "properties": {
            "question_set": {**TEXT, "description": "Name or id."},
            "collections": {
                **_TEXTS,
                "description": "Names or ids; else the set's own, or `default`.",
            },
            "configurations": {
                "type": "array",
                "minItems": 1,
                "maxItems": 2,
                "items": obj("name", name=TEXT, settings=ref("EvaluationSettings")),
            },
            "answers": {**FLAG, "default": False, "description": "Write and judge answers, too."},
        },
    },
    "Metric": obj(value=_NUMBER, low=_MAYBE_NUMBER, high=_MAYBE_NUMBER, n=COUNT),
    "MetricDifference": obj(
        difference=_NUMBER,
        low=_MAYBE_NUMBER,
        high=_MAYBE_NUMBER,
        better=COUNT,
        worse=COUNT,
        equal=COUNT,
        n=COUNT,
    ),
    "MeasuredConfiguration": obj(
        "name",
        "settings",
        name=TEXT,
        settings=ref("EvaluationSettings"),
        questions=COUNT,
        errors=COUNT,
        metrics={"type": "object", "additionalProperties": ref("Metric")},
        reliability={"type": "array", "items": ANYTHING},
        calibration_error=_MAYBE_NUMBER,
    ),
    "Evaluation": obj(**_EVALUATION_BODY),
    "EvaluationList": obj(evaluations=listed("Evaluation"), next_cursor=CURSOR),
    "EvaluationResult": obj(
        position=COUNT,
        id=TEXT,
        question=TEXT,
        answerable=FLAG,
        expected_answers=_TEXTS,
        configuration=TEXT,
        metrics={"type": "object", "additionalProperties": _NUMBER},
        found={"type": "array", "items": ANYTHING},
        answered={**FLAG, "nullable": True},
        answer=MAYBE_TEXT,
        latency_ms=_MAYBE_NUMBER,
        error=MAYBE_TEXT,
    ),
    "EvaluationWithResults": obj(**_EVALUATION_BODY, results=listed("EvaluationResult"), next_cursor=CURSOR),
}
