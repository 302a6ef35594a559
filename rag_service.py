"""`from rag_service import RAGService`, in any Python program: see rag/service."""

from rag.service import (
    Answer,
    Citation,
    GenerationTimeout,
    InvalidQuery,
    OllamaUnavailable,
    RAGService,
    RAGServiceError,
    VectorStoreUnavailable,
)

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
