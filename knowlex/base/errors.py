"""Every failure Knowlex can name. Plain Python: no HTTP library, no Django.

`status` and `code` are the defaults; a contract whose specification maps a failure to another status
(retrieval is a 500 under /api/v1 and a 503 under /query) does so where it renders the error.
"""

from typing import Any


class KnowlexError(Exception):
    """Base of all domain errors. `message` is fit for a client: no path, SQL, key or stack trace."""

    status = 500
    code = "INTERNAL_ERROR"

    def __init__(self, message: str, *, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = details or {}


class InvalidInput(KnowlexError):
    """The caller sent something unusable; `field` names what."""

    status = 400
    code = "VALIDATION_ERROR"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message, details={"field": field} if field else None)
        self.field = field


class InvalidQuestion(InvalidInput):
    """The question itself is blank, too long or holds characters that cannot be stored."""


class Unauthorized(KnowlexError):
    status = 401
    code = "UNAUTHORIZED"


class Forbidden(KnowlexError):
    status = 403
    code = "FORBIDDEN"


class NotFound(KnowlexError):
    status = 404
    code = "NOT_FOUND"


class MethodNotAllowed(KnowlexError):
    status = 405
    code = "METHOD_NOT_ALLOWED"


class RequestTimeout(KnowlexError):
    """The client was too slow in sending its request."""

    status = 408
    code = "REQUEST_TIMEOUT"


class Duplicate(KnowlexError):
    status = 409
    code = "DUPLICATE"


class Replaced(KnowlexError):
    """The document is another version than the one that was asked about."""

    status = 409
    code = "REPLACED"


class Conflict(KnowlexError):
    """An equal request is under way."""

    status = 409
    code = "CONFLICT"

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class PayloadTooLarge(KnowlexError):
    status = 413
    code = "PAYLOAD_TOO_LARGE"


class UnsupportedMediaType(KnowlexError):
    status = 415
    code = "UNSUPPORTED_MEDIA_TYPE"


class UnreadableDocument(KnowlexError):
    """Text cannot be extracted: not a document, encrypted, broken, without text, past a limit."""

    status = 422
    code = "UNPROCESSABLE"


class Unprocessable(KnowlexError):
    """What was asked is understood, and cannot be done."""

    status = 422
    code = "UNPROCESSABLE"

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message, details={"field": field})


class NotAPdf(KnowlexError):
    """Something was asked that only a PDF has: pages as they are printed."""

    status = 422
    code = "NOT_A_PDF"


class KeyReused(KnowlexError):
    """An Idempotency-Key came again with another request."""

    status = 422
    code = "UNPROCESSABLE"


class HeadersTooLarge(KnowlexError):
    """The request's headers, or its URL, are larger than any that make sense."""

    status = 431
    code = "HEADERS_TOO_LARGE"


class RateLimited(KnowlexError):
    status = 429
    code = "RATE_LIMITED"

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class DependencyUnavailable(KnowlexError):
    """Something Knowlex runs on (database, broker, workers, disk) cannot be reached now."""

    status = 503
    code = "SERVICE_UNAVAILABLE"

    def __init__(self, message: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class DatabaseUnavailable(DependencyUnavailable):
    """PostgreSQL cannot be reached or has no connection free."""


class BrokerUnavailable(DependencyUnavailable):
    """Valkey or Redis cannot be reached: nothing can be queued."""


class StorageUnavailable(DependencyUnavailable):
    """The file store refuses a write: full, read-only or gone."""

    status = 507
    code = "INSUFFICIENT_STORAGE"


class FilesUnavailable(DependencyUnavailable):
    """The store of files outside this machine cannot be reached, or refuses this server."""


class RetrievalFailed(KnowlexError):
    """The question could not be embedded, or the search itself failed."""

    status = 503
    code = "RETRIEVAL_FAILED"


class VectorStoreFailed(RetrievalFailed):
    """The vector store outside PostgreSQL cannot be reached, or answers with an error; tries are used up."""


class VectorStoreTimeout(VectorStoreFailed):
    """It did not answer in time."""


class SynthesisFailed(KnowlexError):
    """The chat model could not be reached, refused, or answered with nothing usable."""

    status = 503
    code = "SYNTHESIS_FAILED"


class SynthesisUnavailable(SynthesisFailed):
    """Transient: another try may help."""


class SynthesisTimeout(SynthesisFailed):
    """The chat model did not answer within the synthesis timeout, retries included."""


class DailyTokensSpent(SynthesisFailed):
    """The day's tokens are spent: no chat model is asked before the next. retry_after_s: until midnight UTC.

    Whatever can do without a chat model that fails can do without this one.
    """

    status = RateLimited.status
    code = RateLimited.code

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class EmbeddingIncomplete(KnowlexError):
    """Some chunks could not be embedded; those that could are stored and stay so."""

    status = 500
    code = "EMBEDDING_FAILED"


class EmbedderError(KnowlexError):
    """An embedding model could not embed. Subclasses say whether another try can help."""

    status = 503
    code = "EMBEDDING_FAILED"


class EmbedderUnavailable(EmbedderError):
    """Transient: timeouts, 429, 5xx, unusable answers. All tries are used up."""


class EmbedderRejected(EmbedderError):
    """Permanent for every text: the key or the model name is refused (401, 403, 404)."""


class TextRejected(EmbedderError):
    """Permanent for at least one text of the batch: the model refuses the input (400, 413, 422)."""
