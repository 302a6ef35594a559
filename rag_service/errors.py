"""The errors of `RAGService`, in the form that its document gives them; nothing in them holds credentials."""

from typing import Any
from urllib.parse import urlsplit

from knowlex.base.errors import (
    EmbedderError,
    InvalidInput,
    KnowlexError,
    RetrievalFailed,
    SynthesisFailed,
    SynthesisTimeout,
    VectorStoreTimeout,
)
from rag_service.environment import ServiceEnvironment

TRY_AGAIN = "Service temporarily unavailable. Please try again."


class RAGServiceError(Exception):
    """The base of the four. `str()` is what happened, without credentials; `message` is for whoever asked.

    request_id: "req_YYYYMMDD_xxxxxx", as in the log; processing_time_ms: until it was given up.
    """

    error_type = "RAGServiceError"
    http_status = 500
    public_message = TRY_AGAIN

    def __init__(self, error_details: str, *, request_id: str = "", processing_time_ms: int = 0) -> None:
        super().__init__(error_details)
        self.message = self.public_message or error_details
        self.error_details = error_details
        self.request_id, self.processing_time_ms = request_id, processing_time_ms

    def to_dict(self) -> dict[str, Any]:
        """Return the body of an error response."""
        return {
            "answer": None,
            "citations": [],
            "confidence": 0.0,
            "message": self.message,
            "request_id": self.request_id,
            "processing_time_ms": self.processing_time_ms,
            "error_type": self.error_type,
            "error_details": self.error_details,
        }


class InvalidQuery(RAGServiceError):
    """The question or a filter cannot be used. field: which, such as "question" or "filters.max_results"."""

    error_type = "InvalidQuery"
    http_status = 400
    public_message = ""  # what is wrong with it is for whoever asked
    field = ""


class VectorStoreUnavailable(RAGServiceError):
    """The vector store cannot be reached, is too slow, or says something that cannot be read."""

    error_type = "VectorStoreUnavailable"
    http_status = 503


class OllamaUnavailable(RAGServiceError):
    """Ollama cannot be reached, does not have the model, or fails at it."""

    error_type = "OllamaUnavailable"
    http_status = 503


class GenerationTimeout(RAGServiceError):
    """Ollama did not answer within OLLAMA_TIMEOUT_SECONDS; its work was cancelled."""

    error_type = "GenerationTimeout"
    http_status = 504


class QuestionNotEmbedded(OllamaUnavailable, VectorStoreUnavailable):
    """Ollama could not embed the question, so that the store could not be asked: to be caught as either."""


def invalid_query(error_details: str, field: str) -> InvalidQuery:
    error = InvalidQuery(error_details)
    error.field = field
    return error


def translate_error(exc: Exception, settings: ServiceEnvironment) -> RAGServiceError | None:
    """Return what `RAGService` raises, or None where neither a dependency nor the caller is at fault."""
    if not isinstance(exc, KnowlexError):
        return None
    if isinstance(exc, InvalidInput):
        return invalid_query(exc.message, exc.field or "")
    if isinstance(exc, SynthesisTimeout):
        return GenerationTimeout(
            f"Ollama did not answer within {settings.ollama_timeout_seconds:g}s; the request was cancelled."
        )
    if isinstance(exc, SynthesisFailed):
        return OllamaUnavailable(f"Ollama at {strip_credentials(settings.ollama_host)}: {exc.message}")
    if isinstance(exc, EmbedderError) or isinstance(exc.__cause__, EmbedderError):
        if settings.embeds_by_ollama:
            return QuestionNotEmbedded(exc.message)
        return VectorStoreUnavailable(exc.message)
    if isinstance(exc, VectorStoreTimeout):
        return VectorStoreUnavailable(exc.message)
    if isinstance(exc, RetrievalFailed):
        return VectorStoreUnavailable(
            f"Vector store at {strip_credentials(settings.vector_store_url)}: {exc.message}"
        )
    return None


def strip_credentials(url: str) -> str:
    """Return scheme, host and port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
