"""What went wrong inside, as what `RAGService` raises. Nothing in it holds credentials."""

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
from rag.service.environment import ServiceEnvironment
from rag.service.errors import (
    GenerationTimeout,
    InvalidQuery,
    OllamaUnavailable,
    RAGServiceError,
    VectorStoreUnavailable,
)


class _NotEmbedded(OllamaUnavailable, VectorStoreUnavailable):
    """Ollama could not embed the question, so that the store could not be asked: to be caught as either."""

    error_type = OllamaUnavailable.__name__


def translated(exc: KnowlexError, settings: ServiceEnvironment) -> RAGServiceError | None:
    """None for what is no failure of a dependency, and none of the caller's."""
    if isinstance(exc, InvalidInput):
        return InvalidQuery(exc.message, field=exc.field or "")
    if isinstance(exc, SynthesisTimeout):
        return GenerationTimeout(
            f"Ollama did not answer within {settings.ollama_timeout_seconds:g}s; the request was cancelled."
        )
    if isinstance(exc, SynthesisFailed):
        return OllamaUnavailable(f"Ollama at {without_secrets(settings.ollama_host)}: {exc.message}")
    if isinstance(exc, EmbedderError) or isinstance(exc.__cause__, EmbedderError):
        return (_NotEmbedded if settings.embeds_by_ollama else VectorStoreUnavailable)(exc.message)
    if isinstance(exc, VectorStoreTimeout):
        return VectorStoreUnavailable(exc.message)
    if isinstance(exc, RetrievalFailed):
        return VectorStoreUnavailable(
            f"Vector store at {without_secrets(settings.vector_store_url)}: {exc.message}"
        )
    return None


def without_secrets(url: str) -> str:
    """Scheme, host and port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
