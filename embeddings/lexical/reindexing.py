"""Words of stored documents anew, a document at a time, while searches and other writers go on."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction

from documents.text.languages import detect_language
from embeddings.lexical import chunk_words
from embeddings.types import HeldChunk
from knowlex.db.threads import execute, with_retries

BATCH = 500
MAX_PAGES = 64  # that the language is told from, spread over the document
_DOCUMENTS = """
    SELECT id, language FROM documents_document
    WHERE id > %(after)s AND (%(collection)s::uuid IS NULL OR collection_id = %(collection)s)
    ORDER BY id LIMIT 500
"""
_PAGES = """
    SELECT left(text, 100000) FROM documents_page p JOIN documents_document d ON d.id = p.document_id
    WHERE d.id = %(document)s AND p.number %% greatest(1, ceil(d.page_count / %(pages)s::float)::int) = 0
    ORDER BY p.number
"""
# Against a worker that stores words of the same document, by the language that it had.
_LOCK = "SELECT language FROM documents_document WHERE id = %s FOR UPDATE"
_CHUNKS = """
    SELECT c.id, c.content, c.chunk_index FROM documents_chunk c
    JOIN embeddings_lexicalentry l ON l.chunk_id = c.id
    WHERE c.document_id = %s AND c.chunk_index > %s ORDER BY c.chunk_index LIMIT %s
"""
_SET = "UPDATE documents_document SET language = %s WHERE id = %s"
_AS_ENGLISH = ("", "en")


@dataclass(slots=True)
class Reindexed:
    """One document. chunks: how many have been analysed anew."""

    document_id: UUID
    language: str
    chunks: int = 0


def reindex(*, collection: UUID | None = None, everything: bool = False) -> Iterator[Reindexed]:
    """Tell every document's language; where it is another than is stored, its words are analysed by it.

    everything: words of the others are analysed anew too. What is done stays done if it is broken off.
    """
    for document_id, language in _documents(collection):
        pages = _read(_PAGES, document=document_id, pages=MAX_PAGES)
        told = detect_language("\n".join(text for (text,) in pages))
        if everything or told != language:
            yield with_retries(partial(_reindex, document_id, told, everything))
        else:
            yield Reindexed(document_id, language)


def _documents(collection: UUID | None) -> Iterator[tuple[UUID, str]]:
    rows = _read(_DOCUMENTS, after=UUID(int=0), collection=collection)
    while rows:
        yield from rows
        rows = _read(_DOCUMENTS, after=rows[-1][0], collection=collection)


def _read(statement: str, **parameters: object) -> list[tuple[Any, ...]]:
    return with_retries(lambda: execute(statement, parameters))


@transaction.atomic
def _reindex(document_id: UUID, language: str, everything: bool) -> Reindexed:
    """Of one moment: a document is never found half by one analysis, half by another."""
    done = Reindexed(document_id, language)
    for (former,) in execute(_LOCK, [document_id]):
        execute(_SET, [language, document_id])
        if everything or not {former, language} <= set(_AS_ENGLISH):
            done.chunks = _analyse(document_id, language)
    return done


def _analyse(document_id: UUID, language: str) -> int:
    count, rows = 0, execute(_CHUNKS, [document_id, -1, BATCH])
    while rows:
        chunk_words.analyse_again([HeldChunk(id_, content) for id_, content, _ in rows], language)
        count += len(rows)
        rows = execute(_CHUNKS, [document_id, rows[-1][2], BATCH])
    return count
