"""Checks of contents: chunks against pages, and vectors and words against a sample of the texts.

Chunks are compared in Python, a few documents at a time: PostgreSQL walks a text from its beginning for every
substring, which for a long document without pages takes time by the square of its length.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection

from documents.types import PAGED_SOURCES, TableHead
from embeddings.active_model import active_model
from embeddings.lexical.index import words_above
from embeddings.lexical.sentences import VERSION, describe_sentences
from embeddings.lexical.terms import lexemes
from embeddings.models import EmbeddingModel
from embeddings.registry import embedder_for
from embeddings.sanity.types import FindingTally, SanityCheck, SanityFinding
from embeddings.types import Vector
from knowlex.db.threads import execute

CHUNKS = 200
BATCH = 20
TOLERANCE = 0.05  # of cosine distance; the same text in another batch can differ a little
OWN_TEXT = SanityCheck(
    "own_text",
    f"Vectors, words and sentences are those of their chunk's text (a sample of up to {CHUNKS} chunks).",
    "",
    "DELETE FROM embeddings_embedding, embeddings_lexicalentry and embeddings_chunkanalysis of these chunks; "
    "then generate.",
    "I3",
)
_SAMPLE = """
    SELECT e.chunk_id, c.content, e.vector::float4[], coalesce(tsvector_to_array(l.lexemes), '{}'),
        d.language, coalesce(a.analysis, ''),
        concat_ws(' ', d.title, d.original_filename, c.chapter, c.section), c.table_head
    FROM (SELECT chunk_id, vector FROM embeddings_embedding WHERE model_id = %s ORDER BY random() LIMIT %s) e
    JOIN documents_chunk c ON c.id = e.chunk_id JOIN documents_document d ON d.id = c.document_id
    LEFT JOIN embeddings_lexicalentry l ON l.chunk_id = e.chunk_id
    LEFT JOIN embeddings_chunkanalysis a ON a.chunk_id = e.chunk_id AND a.version = %s
"""


@dataclass(frozen=True, slots=True)
class SampledChunk:
    chunk_id: UUID
    content: str
    vector: Vector
    words: tuple[str, ...]
    language: str
    table_head: tuple[str, ...] = ()
    analysis: str = ""  # none is stored of a chunk that an older version has stored
    headings: str = ""  # whose words are with its own, but for a chunk that an older version has stored


def sample_chunks() -> list[SampledChunk]:
    """Return random chunks with their vectors by the active model."""
    model = EmbeddingModel.objects.active().first()
    if model is None:
        return []
    rows = execute(_SAMPLE, [model.pk, CHUNKS, VERSION])
    return [
        SampledChunk(
            id_, text, np.array(vector, np.float32), tuple(words), language, tuple(head), analysis, headings
        )
        for id_, text, vector, words, language, analysis, headings, head in rows
    ]


def check_own_text(chunks: list[SampledChunk]) -> SanityFinding:
    """Ask the active model anew, outside any transaction. Raises EmbedderError."""
    tally, embedder = FindingTally(OWN_TEXT), embedder_for(active_model().spec)
    for start in range(0, len(chunks), BATCH):
        batch = chunks[start : start + BATCH]
        for chunk, vector in zip(batch, embedder.embed([chunk.content for chunk in batch]), strict=True):
            if _distance(chunk.vector, vector) > TOLERANCE or not _is_of_its_text(chunk):
                tally.add(chunk.chunk_id)
    return tally.finding()


def _is_of_its_text(chunk: SampledChunk) -> bool:
    text = chunk.content, chunk.language
    analyses = ("", describe_sentences(*text, TableHead.of(chunk.table_head)))
    own = set(lexemes(*text))
    above = set(words_above(chunk.headings, chunk.table_head, chunk.language))
    return chunk.analysis in analyses and own <= set(chunk.words) <= own | above


def _distance(stored: Vector, fresh: Vector) -> float:
    norms = float(np.linalg.norm(stored) * np.linalg.norm(fresh))
    if stored.shape != fresh.shape or not norms:
        return 2.0
    return 1.0 - float(stored @ fresh) / norms


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
    """Read all texts once. In a transaction: the rows come through a server-side cursor."""
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
    """Return whether pages are 1..n, each beginning one newline after the end of the one before."""
    position, expected = 0, list[int]()
    for text in texts:
        expected.append(position)
        position += len(text) + 1
    return numbers == list(range(1, page_count + 1)) and starts == expected


def do_chunks_match_pages(
    source: str, starts: list[int], start: int, end: int, first: int | None, last: int | None
) -> bool:
    """Only PAGED_SOURCES have pages that are cited; a chunk begins on its first page and ends on its last.

    starts: of the pages. start, end: the chunk's offsets.
    """
    if source not in PAGED_SOURCES:
        return first is None and last is None
    if first is None or last is None or not 1 <= first <= last <= len(starts):
        return False
    beyond = [*starts, float("inf")]
    return beyond[first - 1] <= start < beyond[first] and beyond[last - 1] < end <= beyond[last]
