"""`RAGService`: cited answers for any Python program, out of a collection that others fill. No Django.

    `service`                      the class that programs import, and its work on the background loop
    `models`, `errors`             what it returns and raises
    `environment`, `questions`     the variables that it reads; questions and filters, checked

Imported with the first question
    `pipeline`                     the parts of one service put together, and its health
    `readers`, `records`           collections in Chroma and in memory; what they hold as passages
    `retriever`, `headings`        search, and order by words; headings that count as text
    `synthesizer`, `citations`     the prompt with named sources; markers read and written
"""

from rag_service.errors import (
    GenerationTimeout,
    InvalidQuery,
    OllamaUnavailable,
    RAGServiceError,
    VectorStoreUnavailable,
)
from rag_service.models import Answer, Citation
from rag_service.service import RAGService

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
