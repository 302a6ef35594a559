"""POST /query: `query` is answered in the Query API's form, `question` in the Book API's."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from knowlex.base.errors import InvalidQuestion
from knowlex.web.fields import QUESTION_RULE, int_field, question_field, text_field
from knowlex.web.responses import allow, json_object
from knowlex.web.sse import wants_events
from rag.answering import services
from rag.answering.ask import AskResult
from rag.api.common import answer_response, asked_by, asker_of
from rag.api.metadata import answer_metadata
from rag.api.sse import Telling, event_response
from rag.citations import claim
from rag.citations.numbering import (
    FirstCited,
    Numbering,
    PlaceOf,
    PlainWriter,
    clean,
    number_citations,
    snippet,
)
from rag.types.answer import Started
from rag.types.retrieval import Passage

DEFAULT_SOURCES = {"query": 10, "question": 5}
NOT_ENOUGH = "I don't have enough information to answer that."
NOT_FOUND = "Answer not found in provided content"


@allow("POST")
async def query(request: HttpRequest) -> HttpResponseBase:
    asker = asker_of(request, "query")
    body = json_object(request)
    field = _question_name(body)
    text = question_field(body, field)
    top_k = int_field(body, "topK", low=1, high=50, default=DEFAULT_SOURCES[field])
    max_sources = int_field(body, "maxSources", low=1, high=50, default=top_k)
    max_tokens = int_field(body, "maxTokens", low=1, high=4096, default=None)
    collection = text_field(body, "collection", max_chars=255, required=False)
    collections = [collection] if collection is not None else []
    question = await services.make_question(
        text,
        access=asker.access,
        collections=collections,
        top_k=max_sources,
        max_tokens=max_tokens,
        strict_context=field == "query",  # its document: each passage is held to the threshold
    )
    asker, telling = (asker, QUERY) if field == "query" else (replace(asker, face="book"), BOOK)
    if wants_events(request):
        return await event_response(request, question, asker, telling)
    asked = await asked_by(request, question, asker)
    return answer_response(asked, telling.body(asked))


def _question_name(body: dict[str, Any]) -> str:
    given = [name for name in DEFAULT_SOURCES if name in body]
    if len(given) == 2:
        raise InvalidQuestion("Send either query or question, not both.", field="query")
    if not given:
        raise InvalidQuestion(QUESTION_RULE, field="query")
    return given[0]


def _query_body(asked: AskResult) -> dict[str, Any]:
    answer = asked.answer
    text, numbering = number_citations(answer, _by_document(answer.context))
    return {
        "answer": text if answer.answered else NOT_ENOUGH,
        "citedDocuments": _documents(asked, numbering.place_of),
        "metadata": {"processingTimeMs": asked.latency_ms, **answer_metadata(asked, text, numbering)},
    }


def _by_document(context: Sequence[Passage]) -> PlaceOf:
    """One number for each document, in the order of first citation."""
    return FirstCited(lambda number: context[number - 1].document_id)


def _documents(asked: AskResult, place_of: PlaceOf) -> list[dict[str, Any]]:
    """In the order of first citation."""
    first = {place_of(n): n for n in reversed(asked.answer.cited)}
    return [_cited(asked, first[place]) for place in sorted(first)]


def _cited(asked: AskResult, n: int) -> dict[str, Any]:
    """One document; n is the first of its passages that the answer cites. pages: those of what it quotes.

    pageNumber and snippet are of the page that most of what is quoted stands on: what leads to an answer may
    stand on the page before.
    """
    passages, passage = asked.answer.context, asked.answer.context[n - 1]
    quotes = [
        (citation, passages[citation.passage - 1].page_number if page is None else page)
        for citation, page in zip_longest(asked.answer.citations, asked.pages)
        if passages[citation.passage - 1].document_id == passage.document_id
    ]
    quoted = Counter[int | None]()
    for citation, page in quotes:
        quoted[page] += citation.quote_end - citation.quote_start
    number = quoted.most_common(1)[0][0] if quoted else passage.page_number
    main = next((citation for citation, page in quotes if page == number), None)
    shown = passages[main.passage - 1] if main else passage
    said = asked.answer.text[main.answer_start : main.answer_end] if main else claim(asked.answer.text, n)
    return {
        "id": passage.document_id,
        "title": passage.title,
        "snippet": snippet(shown.content, said),
        "url": None,
        "pageNumber": number,
        "pages": sorted({page for _, page in quotes if page is not None}),
    }


def _book_body(asked: AskResult) -> dict[str, Any]:
    answer = asked.answer
    if not answer.answered:
        return {"answer": NOT_FOUND, "sources": []}
    sources = dict.fromkeys(_place(answer.context[n - 1]) for n in answer.cited)
    names = ("source_file", "chapter", "section")
    return {
        "answer": clean(answer.text),
        "sources": [dict(zip(names, source, strict=True)) for source in sources],
    }


def _place(passage: Passage) -> tuple[str, str, str]:
    return passage.document_name, passage.chapter, passage.section


def _numbering(started: Started) -> Numbering:
    return Numbering(_by_document(started.context))


QUERY = Telling(_query_body, _numbering, sources="citedDocuments")
BOOK = Telling(_book_body, lambda _: PlainWriter(), sources="sources")
