"""What `RAGService` raises, in the form that its document gives to errors. Plain Python."""

from typing import Any

from knowlex.base.errors import KnowlexError

TRY_AGAIN = "Service temporarily unavailable. Please try again."


class RAGServiceError(KnowlexError):
    """Base of the four. `str()` is what happened, without credentials; `message` is fit for whoever asked.

    request_id: "req_YYYYMMDD_xxxxxx", as in the log; processing_time_ms: until it was given up.
    """

    error_type = "RAGServiceError"
    http_status = 500
    public_message = TRY_AGAIN

    def __init_subclass__(cls) -> None:
        if "error_type" not in vars(cls):
            cls.error_type = cls.__name__

    def __init__(self, error_details: str, *, request_id: str = "", processing_time_ms: int = 0) -> None:
        super().__init__(error_details)
        self.message = self.public_message or error_details
        self.error_details = error_details
        self.request_id, self.processing_time_ms = request_id, processing_time_ms

    def to_dict(self) -> dict[str, Any]:
        """The body of an error response."""
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

    http_status = status = 400
    code = "INVALID_QUERY"
    public_message = ""  # what is wrong with it is for whoever asked

    def __init__(
        self, error_details: str, *, field: str = "", request_id: str = "", processing_time_ms: int = 0
    ) -> None:
        super().__init__(error_details, request_id=request_id, processing_time_ms=processing_time_ms)
        self.field = field


class VectorStoreUnavailable(RAGServiceError):
    """The vector store cannot be reached, is too slow, or says something that cannot be read."""

    http_status = status = 503
    code = "SERVICE_UNAVAILABLE"


class OllamaUnavailable(RAGServiceError):
    """Ollama cannot be reached, does not have the model, or fails at it."""

    http_status = status = 503
    code = "SERVICE_UNAVAILABLE"


class GenerationTimeout(RAGServiceError):
    """Ollama did not answer within OLLAMA_TIMEOUT_SECONDS; its work was cancelled."""

    http_status = status = 504
    code = "GENERATION_TIMEOUT"
