"""What `RAGService.query` returns: frozen pydantic models whose JSON is that of its document."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

NOT_FOUND = "Information not found in the knowledge base."
FOUND = "Answer generated successfully."


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)

    def dict(self, **options: Any) -> dict[str, Any]:
        """The same as `model_dump`, by the name that it had before pydantic 2."""
        return self.model_dump(**options)

    def json(self, **options: Any) -> str:
        """The same as `model_dump_json`, likewise."""
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
