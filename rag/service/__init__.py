"""`RAGService`: answers for other programs, out of a collection that others keep. No Django in here."""

from rag.service.errors import (
    GenerationTimeout,
    InvalidQuery,
    OllamaUnavailable,
    RAGServiceError,
    VectorStoreUnavailable,
)
from rag.service.models import Answer, Citation
from rag.service.service import RAGService

__all__ = [
    "Answer",
    "Citation",
    "GenerationTimeout",
    "InvalidQuery",
    "OllamaUnavailable",
    "RAGService",
    "RAGServiceError",
    "VectorStoreUnavailable",
]
