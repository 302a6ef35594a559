"""What all contracts read from a question's request, and say of its answer, each in its own words."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from documents.access import access_of
from knowlex.web.responses import QUERY_ID_HEADER, failed_query, plain_json_response
from rag.answering import ask
from rag.answering.ask import AskResult, Caller, FaceName
from rag.citations.numbering import Numbering, snippet
from rag.types.answer import Support
from rag.types.question import Question
from rag.types.retrieval import Passage

NEAREST = 3
NOT_STORED = {"no-cache", "no-store", "max-age=0"}


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A citation as a client gets it. index: the face's number.

    start_char, end_char: of the quote in the document's text. answer_start, answer_end: of the claim in the
    answer that is sent.
    """

    index: int
    passage: Passage
    page_number: int | None
    quoted_text: str
    start_char: int
    end_char: int
    answer_start: int
    answer_end: int
    support: Support


@dataclass(frozen=True, slots=True)
class Near:
    """One of the passages that came nearest, where there was no answer."""

    chunk_id: UUID
    document_id: UUID
    document_name: str
    title: str
    page_number: int | None
    relevance: float
    content_snippet: str


def asker_of(request: HttpRequest, face: FaceName, conversation_id: str = "") -> Caller:
    """To be made at the start: the time runs from here. Raises Unauthorized."""
    directives = {part.strip().lower() for part in request.META.get("HTTP_CACHE_CONTROL", "").split(",")}
    return Caller(
        face, access_of(request), fresh=bool(directives & NOT_STORED), conversation_id=conversation_id
    )


async def asked_by(request: HttpRequest, question: Question, asker: Caller) -> AskResult:
    """As `asking.ask`; what it raises becomes an error response that tells the query's id, too."""
    try:
        return await ask.ask(question, asker)
    except Exception:
        failed_query(request, asker.query_id)
        raise


def answer_response(asked: AskResult, body: dict[str, Any]) -> HttpResponse:
    """No cache between us and the client may keep an answer: documents go, and keys differ."""
    response = plain_json_response(body)
    response["Cache-Control"] = "no-store"
    response[QUERY_ID_HEADER] = str(asked.query_id)
    return response


def cited_claims(asked: AskResult, numbering: Numbering) -> list[CitedClaim]:
    """In the order of the answer."""
    found = []
    for citation, page in zip(asked.answer.citations, asked.pages, strict=True):
        passage = asked.answer.context[citation.passage - 1]
        found.append(
            CitedClaim(
                index=numbering.place_of(citation.passage),
                passage=passage,
                page_number=page,
                quoted_text=passage.content[citation.quote_start : citation.quote_end],
                start_char=passage.start_char + citation.quote_start,
                end_char=passage.start_char + citation.quote_end,
                answer_start=numbering.sent(citation.answer_start),
                answer_end=numbering.sent(citation.answer_end),
                support=citation.support,
            )
        )
    return found


def nearest(asked: AskResult) -> list[Near]:
    """At most three, the most relevant first; none where there is an answer."""
    answer = asked.answer
    if answer.answered:
        return []
    passages = sorted(answer.passages, key=lambda passage: -passage.relevance)[:NEAREST]
    return [
        Near(
            passage.chunk_id,
            passage.document_id,
            passage.document_name,
            passage.title,
            passage.page_number,
            passage.relevance,
            snippet(passage.content, answer.question.text),
        )
        for passage in passages
    ]


def question_as_asked(asked: AskResult) -> str:
    """What the user wrote."""
    return asked.answer.question.original or asked.answer.question.text


def rewritten_question(asked: AskResult) -> str | None:
    """The follow-up question as it stands alone, if it was one."""
    return asked.answer.question.text if asked.answer.question.original else None
