"""What the documents that an answer cites could not be read of. Plain Python."""

from dataclasses import dataclass
from uuid import UUID

from rag.types import Answer


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """message: the document's own warnings, for a reader. pages: 1-based, at most the first 1000."""

    document_id: UUID
    title: str
    message: str
    pages: tuple[int, ...]


def unread_parts(answer: Answer) -> list[UnreadPart]:
    """One for each cited document with unread pages, in order of first citation."""
    cited = (answer.context[n - 1] for n in answer.cited)
    parts: dict[UUID, UnreadPart] = {}
    for passage in cited:
        if passage.unread_pages and passage.document_id not in parts:
            message = " ".join(passage.document_warnings)
            parts[passage.document_id] = UnreadPart(
                passage.document_id, passage.title, message, passage.unread_pages
            )
    return list(parts.values())
