"""On which page each quote of an answer stands, or most of it."""

import asyncio
import logging

import psycopg

from knowlex.base.errors import KnowlexError
from knowlex.db.pool import fetch_all
from rag.types.answer import Answer, Citation
from rag.types.retrieval import Passage

log = logging.getLogger(__name__)

LIMIT_S = 1.0
_STARTS = """
    SELECT p.document_id, p.number, p.start_char
    FROM unnest(%s::uuid[], %s::int[], %s::int[]) AS s (document_id, first, last)
    JOIN documents_page p ON p.document_id = s.document_id AND p.number BETWEEN s.first AND s.last
    ORDER BY p.number
"""


async def of_citations(answer: Answer) -> tuple[int | None, ...]:
    """In the order of `answer.citations`; None where there are no pages.

    One statement for them all, and none where no cited passage goes over the end of a page. Without the
    database, or without time, it is the page on which the passage begins: an answer does not fail for that.
    """
    cited = [(citation, answer.context[citation.passage - 1]) for citation in answer.citations]
    spanning = {passage.chunk_id: passage for _, passage in cited if _spans_pages(passage)}
    starts = {}
    if spanning:
        try:
            async with asyncio.timeout(answer.question.within(LIMIT_S)):
                starts = await _page_starts(list(spanning.values()))
        except (KnowlexError, psycopg.Error, TimeoutError) as exc:
            log.warning("pages of quotes not looked up", extra={"error": type(exc).__name__})
    return tuple(_page(citation, passage, starts) for citation, passage in cited)


def _spans_pages(passage: Passage) -> bool:
    return None not in (passage.page_number, passage.last_page) and passage.page_number != passage.last_page


async def _page_starts(passages: list[Passage]) -> dict[object, list[tuple[int, int]]]:
    """By document: (where a page starts in the document's text, its number), in order."""
    rows = await fetch_all(
        _STARTS,
        [
            [passage.document_id for passage in passages],
            [passage.page_number for passage in passages],
            [passage.last_page for passage in passages],
        ],
    )
    starts: dict[object, list[tuple[int, int]]] = {}
    for row in rows:
        starts.setdefault(row["document_id"], []).append((row["start_char"], row["number"]))
    return starts


def _page(citation: Citation, passage: Passage, starts: dict[object, list[tuple[int, int]]]) -> int | None:
    """Where its middle stands: one that a page's end tears apart is mostly on the other page."""
    page = passage.page_number
    if not _spans_pages(passage):
        return page
    place = passage.start_char + (citation.quote_start + citation.quote_end) // 2
    before = [number for start, number in starts.get(passage.document_id, []) if start <= place]
    return max(before, default=page)
