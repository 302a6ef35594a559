"""An answer as /v1/query sends it."""

from dataclasses import asdict
from itertools import groupby
from typing import Any, get_args

from rag.answering.ask import AskResult
from rag.api.common import CitedClaim, Near, cited_claims, nearest, rewritten_question
from rag.api.v1.questions import ReplySettings
from rag.citations import claim
from rag.citations.numbering import (
    FirstCited,
    PlaceOf,
    UnreadPart,
    misstatements,
    number_citations,
    snippet,
    snippet_from,
    unread_parts,
)
from rag.types.answer import Answer, Support

NOT_ENOUGH = "I don't have enough information to answer that."
BEST_FIRST: tuple[Support, ...] = get_args(Support)


def by_passage() -> PlaceOf:
    """One number for each chunk, in the order of first citation."""
    return FirstCited(lambda number: number)


def answer_body(asked: AskResult, reply: ReplySettings) -> dict[str, Any]:
    answer = asked.answer
    text, numbering = number_citations(answer, by_passage())
    cited = cited_claims(asked, numbering)
    body = {
        "query_id": asked.query_id,
        "conversation_id": asked.conversation_id,
        "answer": text if answer.answered else NOT_ENOUGH,
        "sources": answer_sources(answer, numbering.place_of) if reply.include_sources else [],
        "citations": [_citation(one) for one in cited],
        "contradicted": [one._asdict() for one in misstatements(answer, text, numbering)],
        "verification": asdict(answer.verification),
        "usage": {
            "input_tokens": answer.usage.input_tokens,
            "output_tokens": answer.usage.output_tokens,
            "model": answer.usage.model,
            "stage_times_ms": answer.stage_ms,
        },
        "latency_ms": asked.latency_ms,
        "reason": answer.reason,
        "nearest": [_near(one) for one in nearest(asked)],
        "relevance": answer.confidence,
        "cached": asked.cached,
        "rewritten_query": rewritten_question(asked),
        "stage_times_ms": answer.stage_ms,
        "warnings": [_warning(part) for part in unread_parts(answer)],
    }
    return body | ({"claims": _claims(cited, text)} if reply.response_format == "json" else {})


def answer_sources(answer: Answer, place_of: PlaceOf) -> list[dict[str, Any]]:
    """The cited passages. score: the one that ranked the passage, higher is better."""
    sources = []
    for number in answer.cited:
        passage = answer.context[number - 1]
        sources.append(
            {
                "chunk_id": passage.chunk_id,
                "document_id": passage.document_id,
                "document_name": passage.document_name,
                "title": passage.title,
                "content_snippet": _snippet(answer, number),
                "score": passage.score,
                "citation_index": place_of(number),
                "page_number": passage.page_number,
                "last_page": passage.last_page,
                "chapter": passage.chapter or None,
                "section": passage.section or None,
                "relevance": passage.relevance,
            }
        )
    return sources


def _snippet(answer: Answer, number: int) -> str:
    """From the first quote on, where one is known."""
    content = answer.context[number - 1].content
    quotes = [citation.quote_start for citation in answer.citations if citation.passage == number]
    return snippet_from(content, quotes[0]) if quotes else snippet(content, claim(answer.text, number))


def _citation(cited: CitedClaim) -> dict[str, Any]:
    return {
        "citation_index": cited.index,
        "chunk_id": cited.passage.chunk_id,
        "document_id": cited.passage.document_id,
        "document_name": cited.passage.document_name,
        "title": cited.passage.title,
        "page_number": cited.page_number,
        "quoted_text": cited.quoted_text,
        "start_char": cited.start_char,
        "end_char": cited.end_char,
        "answer_start": cited.answer_start,
        "answer_end": cited.answer_end,
        "support": cited.support,
    }


def _claims(cited: list[CitedClaim], text: str) -> list[dict[str, Any]]:
    """Each claim once, with all that it cites; its support is the best of its passages."""
    found = []
    for (start, end), group in groupby(cited, key=lambda one: (one.answer_start, one.answer_end)):
        ones = list(group)
        found.append(
            {
                "text": text[start:end],
                "citation_indexes": list(dict.fromkeys(one.index for one in ones)),
                "support": min((one.support for one in ones), key=BEST_FIRST.index),
            }
        )
    return found


def _near(near: Near) -> dict[str, Any]:
    return {
        "chunk_id": near.chunk_id,
        "document_id": near.document_id,
        "document_name": near.document_name,
        "title": near.title,
        "page_number": near.page_number,
        "relevance": near.relevance,
        "content_snippet": near.content_snippet,
    }


def _warning(part: UnreadPart) -> dict[str, Any]:
    return {
        "document_id": part.document_id,
        "title": part.title,
        "message": part.message,
        "unread_pages": part.pages,
    }
