"""A client of Knowlex: questions answered with checked citations, search, documents, evaluation.

`Knowlex` blocks, `AsyncKnowlex` is awaited; both have the same verbs. Every other operation of the server is
in `operations`, for `call`; what they answer is in `models`.
"""

from knowlex_client import models, operations
from knowlex_client.client import AsyncKnowlex, Ingested, Knowlex, Progress
from knowlex_client.errors import (
    ApiError,
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    KnowlexError,
    NotFound,
    RateLimited,
    ServerFailed,
    Unauthorized,
    UnexpectedAnswer,
    WaitedTooLong,
)
from knowlex_client.exchange import Operation, Retry

__all__ = [
    "ApiError",
    "AsyncKnowlex",
    "Conflict",
    "ConnectionFailed",
    "Forbidden",
    "Ingested",
    "InvalidRequest",
    "Knowlex",
    "KnowlexError",
    "NotFound",
    "Operation",
    "Progress",
    "RateLimited",
    "Retry",
    "ServerFailed",
    "Unauthorized",
    "UnexpectedAnswer",
    "WaitedTooLong",
    "models",
    "operations",
]
