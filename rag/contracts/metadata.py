"""What the answers of all contracts say about themselves."""

from typing import Any

from rag.types import Answer
from rag.unread import UnreadPart, unread_parts


def answer_metadata(answer: Answer) -> dict[str, Any]:
    return {
        "answerSynthesized": answer.answered,
        "chunksRetrieved": answer.retrieved,
        "relevance": answer.confidence,
        "model": answer.usage.model,
        "stageTimesMs": answer.stage_ms,
        "warnings": [_warning(part) for part in unread_parts(answer)],
    }


def _warning(part: UnreadPart) -> dict[str, Any]:
    return {
        "documentId": part.document_id,
        "title": part.title,
        "message": part.message,
        "unreadPages": part.pages,
    }
