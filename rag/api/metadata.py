"""What the answers of the camelCase contracts say about themselves."""

from dataclasses import asdict
from typing import Any

from rag.answering.ask import AskResult
from rag.api.common import CitedClaim, Near, cited_claims, nearest
from rag.citations.numbering import Misstatement, Numbering, UnreadPart, misstatements, unread_parts


def answer_metadata(asked: AskResult, text: str, numbering: Numbering) -> dict[str, Any]:
    """text, numbering: of the answer, as the face numbers it."""
    answer = asked.answer
    return {
        "queryId": asked.query_id,
        "answerSynthesized": answer.answered,
        "chunksRetrieved": answer.retrieved,
        "reason": answer.reason,
        "nearest": [_near(one) for one in nearest(asked)],
        "citations": [_citation(one) for one in cited_claims(asked, numbering)],
        "contradicted": [_contradicted(one) for one in misstatements(answer, text, numbering)],
        "verification": asdict(answer.verification),
        "relevance": answer.confidence,
        "model": answer.usage.model,
        "cached": asked.cached,
        "stageTimesMs": answer.stage_ms,
        "warnings": [_warning(part) for part in unread_parts(answer)],
    }


def _citation(cited: CitedClaim) -> dict[str, Any]:
    return {
        "citationIndex": cited.index,
        "chunkId": cited.passage.chunk_id,
        "documentId": cited.passage.document_id,
        "documentName": cited.passage.document_name,
        "title": cited.passage.title,
        "pageNumber": cited.page_number,
        "quotedText": cited.quoted_text,
        "startChar": cited.start_char,
        "endChar": cited.end_char,
        "answerStart": cited.answer_start,
        "answerEnd": cited.answer_end,
        "support": cited.support,
    }


def _contradicted(claim: Misstatement) -> dict[str, Any]:
    return {
        "text": claim.text,
        "answerStart": claim.answer_start,
        "answerEnd": claim.answer_end,
        "missing": claim.missing,
    }


def _near(near: Near) -> dict[str, Any]:
    """Without its text: who gets no answer here is shown nothing that was not found fit to be one."""
    return {
        "chunkId": near.chunk_id,
        "documentId": near.document_id,
        "documentName": near.document_name,
        "title": near.title,
        "pageNumber": near.page_number,
        "relevance": near.relevance,
    }


def _warning(part: UnreadPart) -> dict[str, Any]:
    return {
        "documentId": part.document_id,
        "title": part.title,
        "message": part.message,
        "unreadPages": part.pages,
    }
