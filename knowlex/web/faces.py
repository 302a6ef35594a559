"""The faces by their paths, and what each failure is called there. Plain Python.

The table "Failures" of the specifications; what no row names keeps the status and code of its class.
"""

from dataclasses import dataclass, field

from knowlex.base.errors import (
    DailyTokensSpent,
    DependencyUnavailable,
    EmbedderError,
    InvalidInput,
    InvalidQuestion,
    KnowlexError,
    RetrievalFailed,
    StorageUnavailable,
    SynthesisFailed,
)

Outcome = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Face:
    """How one contract words failures. `outcomes` is read in order; the first class that fits decides."""

    request_id_key: str = "requestId"
    like_openai: bool = False  # the error body is `{"error": {"message", "type", "param", "code"}}`
    like_dify: bool = False  # the error body has `error_code` and `error_msg` besides
    outcomes: tuple[tuple[type[KnowlexError], Outcome], ...] = ()
    query_paths: tuple[str, ...] = field(default=())

    def outcome(self, path: str, error: KnowlexError) -> Outcome:
        if path in self.query_paths and isinstance(error, InvalidInput) and _about_query(error):
            return 400, "INVALID_QUERY"
        for kind, outcome in self.outcomes:
            if isinstance(error, kind):
                return outcome
        return error.status, error.code


def _about_query(error: InvalidInput) -> bool:
    return isinstance(error, InvalidQuestion) or error.field == "query"


KNOWLEX_API = Face(
    outcomes=(
        (RetrievalFailed, (500, RetrievalFailed.code)),
        (DailyTokensSpent, (DailyTokensSpent.status, DailyTokensSpent.code)),
        (SynthesisFailed, (500, SynthesisFailed.code)),
        (EmbedderError, (500, EmbedderError.code)),
    )
)
QUERY_API = Face(
    outcomes=(
        (StorageUnavailable, (507, StorageUnavailable.code)),
        (DependencyUnavailable, (503, RetrievalFailed.code)),
        (EmbedderError, (503, RetrievalFailed.code)),
    )
)
PLATFORM_API = Face(
    request_id_key="request_id",
    outcomes=(
        (RetrievalFailed, (503, DependencyUnavailable.code)),
        (DailyTokensSpent, (DailyTokensSpent.status, DailyTokensSpent.code)),
        (SynthesisFailed, (503, DependencyUnavailable.code)),
        (EmbedderError, (503, DependencyUnavailable.code)),
    ),
    query_paths=("/v1/query", "/v1/query/stream", "/v1/search", "/mcp"),
)
OPENAI_API = Face(like_openai=True, outcomes=PLATFORM_API.outcomes)
DIFY_API = Face(
    request_id_key="request_id",
    like_dify=True,
    outcomes=PLATFORM_API.outcomes,
    query_paths=("/v1/dify/retrieval",),
)
OTHER = Face()


def face_of(path: str) -> Face:
    """Return the face that owns a request path; OTHER for health, schema, admin and unknown paths."""
    if path in ("/query", "/api/v1/rag/query"):
        return QUERY_API
    if path.startswith("/api/v1/"):
        return KNOWLEX_API
    if path in ("/v1/models", "/v1/chat/completions", "/v1/embeddings") or path.startswith("/v1/models/"):
        return OPENAI_API
    if path == "/v1/dify/retrieval":
        return DIFY_API
    if path.startswith("/v1/") or path == "/mcp":
        return PLATFORM_API
    return OTHER
