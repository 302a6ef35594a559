"""Pages and chunks against each other: is every chunk exactly the text that its offsets name?

In Python, a few documents at a time: PostgreSQL walks a text from its beginning for every substring, which
for a long document without pages takes time by the square of its length.
"""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from django.db import connection

from embeddings.sanity.types import FindingTally, SanityCheck, SanityFinding

AT_ONCE = 8
HINT = "Delete the document and upload it again."
PAGES = SanityCheck("pages", "A document's pages are numbered from 1 and follow each other.", "", HINT, "I1")
OFFSETS = SanityCheck("offsets", "A chunk's content is the text between its offsets.", "", HINT, "I1")
CHUNK_PAGES = SanityCheck("chunk_pages", "A chunk's page numbers are those of its text.", "", HINT, "I1")
_TEXTS = """
    SELECT d.id, d.source, d.page_count, p.numbers, p.starts, p.texts,
        c.starts, c.ends, c.contents, c.firsts, c.lasts
    FROM documents_document d,
    LATERAL (SELECT array_agg(number ORDER BY number) AS numbers,
                array_agg(start_char ORDER BY number) AS starts,
                array_agg(text ORDER BY number) AS texts
             FROM documents_page WHERE document_id = d.id) p,
    LATERAL (SELECT array_agg(start_char ORDER BY chunk_index) AS starts,
                array_agg(end_char ORDER BY chunk_index) AS ends,
                array_agg(content ORDER BY chunk_index) AS contents,
                array_agg(page_number ORDER BY chunk_index) AS firsts,
                array_agg(last_page ORDER BY chunk_index) AS lasts
             FROM documents_chunk WHERE document_id = d.id) c
"""


def check_texts() -> Iterator[SanityFinding]:
    """Reads all texts once. In a transaction: the rows come through a server-side cursor."""
    pages, offsets, chunk_pages = FindingTally(PAGES), FindingTally(OFFSETS), FindingTally(CHUNK_PAGES)
    for row in _read_rows():
        document_id, source, page_count, numbers, starts, texts = row[:6]
        texts = texts or []
        if not do_pages_follow(page_count, numbers or [], starts or [], texts):
            pages.add(document_id)
        text = "\n".join(texts)
        chunks = list(zip(*(column or [] for column in row[6:]), strict=True))
        if any(text[start:end] != content or not content for start, end, content, _, _ in chunks):
            offsets.add(document_id)
        spans = ((start, end, first, last) for start, end, _, first, last in chunks)
        if not all(do_chunks_match_pages(source, starts or [], *span) for span in spans):
            chunk_pages.add(document_id)
    yield from (tally.finding() for tally in (pages, offsets, chunk_pages))


def _read_rows() -> Iterator[tuple[Any, ...]]:
    with closing(connection.chunked_cursor()) as cursor:
        cursor.execute(_TEXTS)
        while rows := cursor.fetchmany(AT_ONCE):
            yield from rows


def do_pages_follow(page_count: int, numbers: list[int], starts: list[int], texts: list[str]) -> bool:
    """Pages 1..n, each beginning one newline after the end of the one before."""
    place, expected = 0, list[int]()
    for text in texts:
        expected.append(place)
        place += len(text) + 1
    return numbers == list(range(1, page_count + 1)) and starts == expected


def do_chunks_match_pages(
    source: str, starts: list[int], start: int, end: int, first: int | None, last: int | None
) -> bool:
    """Only a PDF has pages that a reader knows; a chunk begins on its first page and ends on its last.

    starts: of the pages. start, end: the chunk's offsets.
    """
    if source != "PDF":
        return first is None and last is None
    if first is None or last is None or not 1 <= first <= last <= len(starts):
        return False
    beyond = [*starts, float("inf")]
    return beyond[first - 1] <= start < beyond[first] and beyond[last - 1] < end <= beyond[last]
