"""The results of `RAGService`: frozen pydantic models, whose JSON is that of its document; its health."""

import time
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from knowlex.base.times import utc_timestamp

NOT_FOUND = "Information not found in the knowledge base."
FOUND = "Answer generated successfully."


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)

    def dict(self, **options: Any) -> dict[str, Any]:
        """Call `model_dump` by the name that it had before pydantic 2."""
        return self.model_dump(**options)

    def json(self, **options: Any) -> str:
        """Call `model_dump_json` by the name that it had before pydantic 2."""
        return self.model_dump_json(**options)


class Citation(_Frozen):
    """A place in the collection that supports the answer.

    page: 1-based, None where the document has none; section: None likewise. chunk_id: as in the store.
    text: the marker that stands in the answer, such as "[safety_manual.pdf, page 5]".
    """

    document: str
    page: int | None = None
    section: str | None = None
    chunk_id: str
    text: str


class Answer(_Frozen):
    """answer: None where the knowledge base does not tell, and then there are no citations.

    confidence: [0, 1], of the best passage, that it helps to answer; 0 without an answer. citations: in the
    order of the answer, each place once. error_type, error_details: None; here so that answers and errors
    have one form.
    """

    answer: str | None
    citations: list[Citation] = []
    confidence: float = Field(ge=0.0, le=1.0)
    message: str
    request_id: str
    processing_time_ms: int = Field(ge=0)
    error_type: str | None = None
    error_details: str | None = None


def health_report(status: str, *, ollama: str, vector_store: bool, embedding_model: bool) -> dict[str, str]:
    """Return what `health_check` answers with."""
    return {
        "status": status,
        "ollama": ollama,
        "vector_store": "connected" if vector_store else "unreachable",
        "embedding_model": "loaded" if embedding_model else "not_loaded",
        "timestamp": utc_timestamp(),
    }


def milliseconds_since(started: float) -> int:
    """started: by `time.perf_counter()`."""
    return round((time.perf_counter() - started) * 1000)
