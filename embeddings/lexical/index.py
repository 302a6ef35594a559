"""The words of chunks as BM25 finds them: stored with a chunk's first vector, counted, and analysed anew."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction

from documents.text.languages import detect_language
from documents.types import TableHead
from embeddings.lexical.sentences import VERSION, describe_sentences
from embeddings.lexical.terms import SPARSE_DIMENSIONS, lexemes, term_weights
from embeddings.queue import ANALYSIS_LOCK, LEXEME_LOCK, try_lock
from embeddings.types import ClaimedChunk
from knowlex.db.threads import execute, with_retries

MIN_NEW_ROWS = 20_000
# One statement: a reader sees all rows as they were, or all sums; rows that come meanwhile are left alone.
_FOLD = """
    WITH counted AS (
        SELECT DISTINCT collection_id, lexeme FROM embeddings_lexemecount
        WHERE id > %(since)s AND id <= %(until)s
    ), gone AS (
        DELETE FROM embeddings_lexemecount c USING counted
        WHERE c.collection_id = counted.collection_id AND c.lexeme = counted.lexeme AND c.id <= %(until)s
            AND EXISTS (SELECT FROM embeddings_lexemecount o WHERE o.collection_id = c.collection_id
                AND o.lexeme = c.lexeme AND o.id <> c.id AND o.id <= %(until)s)
        RETURNING c.collection_id, c.lexeme, c.chunks
    )
    INSERT INTO embeddings_lexemecount (collection_id, lexeme, chunks)
    SELECT collection_id, lexeme, sum(chunks) FROM gone GROUP BY collection_id, lexeme HAVING sum(chunks) <> 0
"""


def fold_counts(*, since: int, min_new_rows: int = MIN_NEW_ROWS) -> int:
    """Fold the words that were counted after row `since`, if enough were; returns the next call's `since`."""
    return with_retries(lambda: _fold_counts(since, min_new_rows))


@transaction.atomic
def _fold_counts(since: int, min_new_rows: int) -> int:
    until = _newest()
    if until - since < min_new_rows or not try_lock(LEXEME_LOCK):
        return since
    execute(_FOLD, {"since": since, "until": until})
    return _newest()


def _newest() -> int:
    return int(execute("SELECT coalesce(max(id), 0) FROM embeddings_lexemecount")[0][0])


_SEPARATOR = "\x1f"  # stands in no lexeme
_GIVEN = "unnest(%s::uuid[], %s::text[], %s::text[]) AS given (chunk_id, lexemes, weights)"
_LEXEMES = "array_to_tsvector(string_to_array(given.lexemes, chr(31))), given.weights::sparsevec"
# What stands above a chunk: it is found by these words, too.
_HEADINGS = "concat_ws(' ', nullif(d.title, ''), d.original_filename, c.chapter, c.section)"
# Those that have words already are left out: a second model's vectors come to the same words.
_NEW = f"""
    SELECT c.id, d.language, {_HEADINGS}, c.table_head
    FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE c.id = ANY(%s) AND NOT EXISTS (SELECT FROM embeddings_lexicalentry l WHERE l.chunk_id = c.id)
"""  # noqa: S608 - constants only
_INSERT = f"""
    INSERT INTO embeddings_lexicalentry (chunk_id, collection_id, lexemes, weights)
    SELECT given.chunk_id, coalesce(d.replaces_id, d.collection_id), {_LEXEMES}
    FROM {_GIVEN}
    JOIN documents_chunk c ON c.id = given.chunk_id JOIN documents_document d ON d.id = c.document_id
    ON CONFLICT DO NOTHING
"""  # noqa: S608 - no value is in it
_UPDATE = f"""
    UPDATE embeddings_lexicalentry l SET (lexemes, weights) = ROW ({_LEXEMES})
    FROM {_GIVEN} WHERE l.chunk_id = given.chunk_id
"""  # noqa: S608
# Of a chunk that is there. A former version's goes: whoever still reads by it analyses what it meets.
_DESCRIBE = """
    WITH gone AS (
        DELETE FROM embeddings_chunkanalysis WHERE chunk_id = ANY(%(ids)s) AND version <> %(version)s
    )
    INSERT INTO embeddings_chunkanalysis (chunk_id, version, analysis)
    SELECT given.chunk_id, %(version)s, given.analysis
    FROM unnest(%(ids)s::uuid[], %(analyses)s::text[]) AS given (chunk_id, analysis)
    JOIN documents_chunk c ON c.id = given.chunk_id
    ON CONFLICT (chunk_id, version) DO UPDATE SET analysis = excluded.analysis
"""
# `after` is said of both: their indexes are merged, and the second would be read from its start each time.
_UNDESCRIBED = """
    SELECT l.chunk_id FROM embeddings_lexicalentry l
    WHERE l.chunk_id > %(after)s AND NOT EXISTS (
        SELECT FROM embeddings_chunkanalysis a
        WHERE a.chunk_id = l.chunk_id AND a.version = %(version)s AND a.chunk_id > %(after)s)
    ORDER BY l.chunk_id LIMIT %(limit)s
"""
# Against `reindex`, which changes a document's language, and against its deletion.
_KEEP_DOCUMENTS = """
    SELECT d.id FROM documents_document d
    WHERE d.id IN (SELECT c.document_id FROM documents_chunk c WHERE c.id = ANY(%s))
    ORDER BY d.id FOR KEY SHARE OF d
"""
_TEXTS = """
    SELECT c.id, c.content, d.language, c.table_head
    FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
    WHERE c.id = ANY(%s)
"""

# Only the index's owner may, who is somebody else where the tables were not made by Knowlex's own role.
_INDEX_PENDING = """
    SELECT gin_clean_pending_list(oid) FROM pg_class
    WHERE oid = to_regclass('lexical_by_lexeme') AND pg_has_role(relowner, 'USAGE')
"""


class _ChunkText(NamedTuple):
    """headings: what stands above the chunk, and its document's names. table_head: see `TableHead`."""

    id: UUID
    content: str
    language: str
    headings: str
    table_head: Sequence[str]


def store_words(chunks: Sequence[ClaimedChunk]) -> None:
    """Store words and analysis of chunks that are there and have none. In a transaction, with their
    documents locked.
    """
    rows = execute(_NEW, [[chunk.chunk_id for chunk in chunks]])
    place = {id_: known for id_, *known in rows}
    new = [
        _ChunkText(one.chunk_id, one.content, *place[one.chunk_id]) for one in chunks if one.chunk_id in place
    ]
    if new:
        execute(_INSERT, _columns(new))
        _describe([(one.id, one.content, one.language, one.table_head) for one in new])


def _replace_words(chunks: Sequence[_ChunkText]) -> None:
    """Store other words and analyses for chunks that have some; triggers keep the counts true."""
    execute(_UPDATE, _columns(chunks))
    _describe([(one.id, one.content, one.language, one.table_head) for one in chunks])


def words_above(headings: str, table_head: Sequence[str], language: str) -> list[str]:
    """Return the lexemes of what stands above a chunk: by these it is found besides those of its text."""
    return lexemes("\n".join((headings, *table_head)), language)


def _describe(texts: Sequence[tuple[UUID, str, str, Sequence[str]]]) -> None:
    """Store the analyses of chunks: id, content, language, table_head."""
    analyses = [
        describe_sentences(content, language, TableHead.of(head)) for _, content, language, head in texts
    ]
    execute(_DESCRIBE, {"ids": [id_ for id_, *_ in texts], "analyses": analyses, "version": VERSION})


def describe_missing(*, batch: int = 200) -> Iterator[int]:
    """Store the analyses of chunks that have words but no analysis of the present version: those of an
    installation that is older. Yields how many were done, after each batch, a transaction; ends where another
    process is at it.
    """
    after = UUID(int=0)
    while ids := with_retries(partial(_describe_batch, after, batch)):
        after = ids[-1]
        yield len(ids)


@transaction.atomic
def _describe_batch(after: UUID, limit: int) -> list[UUID]:
    if not try_lock(ANALYSIS_LOCK):
        return []
    ids = [id_ for (id_,) in execute(_UNDESCRIBED, {"after": after, "limit": limit, "version": VERSION})]
    if ids:
        execute(_KEEP_DOCUMENTS, [ids])
        _describe(execute(_TEXTS, [ids]))
    return ids


def _columns(chunks: Sequence[_ChunkText]) -> tuple[list[UUID], list[str], list[str]]:
    words = [
        (lexemes(one.content, one.language), words_above(one.headings, one.table_head, one.language))
        for one in chunks
    ]
    return (
        [one.id for one in chunks],
        [_SEPARATOR.join(sorted({*own, *above})) for own, above in words],
        [sparse_text(term_weights(own, above)) for own, above in words],
    )


def sparse_text(weights: dict[int, float]) -> str:
    """Return pgvector's notation of a sparsevec, whose positions count from 1."""
    items = ",".join(f"{place + 1}:{weight:.6g}" for place, weight in sorted(weights.items()))
    return f"{{{items}}}/{SPARSE_DIMENSIONS}"


def index_pending() -> None:
    """Have the index of words take in what was written lately, which it keeps in a list of up to 4 MB: each
    search reads all of that, 0.4 ms for 300 chunks. Costs nothing where there is nothing; of a large ingest
    under 2 %: 0.3 ms a chunk if 40 are taken in at once, 0.1 ms if 400 are.
    """
    with_retries(lambda: execute(_INDEX_PENDING))


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
_LOCK_LANGUAGE = "SELECT language FROM documents_document WHERE id = %s FOR UPDATE"
_CHUNKS = f"""
    SELECT c.id, c.content, {_HEADINGS}, c.table_head, c.chunk_index FROM documents_chunk c
    JOIN documents_document d ON d.id = c.document_id
    JOIN embeddings_lexicalentry l ON l.chunk_id = c.id
    WHERE c.document_id = %s AND c.chunk_index > %s ORDER BY c.chunk_index LIMIT %s
"""  # noqa: S608 - constants only
_LOCK_NAME = "SELECT language, original_filename FROM documents_document WHERE id = %s FOR UPDATE"
_SET_NAME = "UPDATE documents_document SET original_filename = %s, updated_at = now() WHERE id = %s"
_SET_LANGUAGE = "UPDATE documents_document SET language = %s WHERE id = %s"
_AS_ENGLISH = ("", "en")


@dataclass(slots=True)
class ReindexedDocument:
    """One document. chunks: how many have been analysed anew."""

    document_id: UUID
    language: str
    chunks: int = 0


def reindex(*, collection: UUID | None = None, everything: bool = False) -> Iterator[ReindexedDocument]:
    """Detect every document's language; where it is another than is stored, its words are analysed by it.

    everything: words of the others are analysed anew too. What is done stays done if it is broken off.
    """
    for document_id, language in _documents(collection):
        pages = _read(_PAGES, document=document_id, pages=MAX_PAGES)
        detected = detect_language("\n".join(text for (text,) in pages))
        if everything or detected != language:
            yield with_retries(partial(_reindex, document_id, detected, everything))
        else:
            yield ReindexedDocument(document_id, language)


def _documents(collection: UUID | None) -> Iterator[tuple[UUID, str]]:
    rows = _read(_DOCUMENTS, after=UUID(int=0), collection=collection)
    while rows:
        yield from rows
        rows = _read(_DOCUMENTS, after=rows[-1][0], collection=collection)


def _read(statement: str, **parameters: object) -> list[tuple[Any, ...]]:
    return with_retries(lambda: execute(statement, parameters))


@transaction.atomic
def _reindex(document_id: UUID, language: str, everything: bool) -> ReindexedDocument:
    """Re-index in one transaction: a document is never found half by one analysis, half by another."""
    done = ReindexedDocument(document_id, language)
    for (former,) in execute(_LOCK_LANGUAGE, [document_id]):
        execute(_SET_LANGUAGE, [language, document_id])
        if everything or not {former, language} <= set(_AS_ENGLISH):
            done.chunks = _analyse(document_id, language)
    return done


def rename_document(document_id: UUID, filename: str) -> None:
    """Give a stored document another name, by whose words its chunks are found, too; its vectors stay.

    In a transaction.
    """
    for language, former in execute(_LOCK_NAME, [document_id]):
        if former != filename:
            execute(_SET_NAME, [filename, document_id])
            _analyse(document_id, language)


def _analyse(document_id: UUID, language: str) -> int:
    count, rows = 0, execute(_CHUNKS, [document_id, -1, BATCH])
    while rows:
        _replace_words([_ChunkText(id_, content, language, *above) for id_, content, *above, _ in rows])
        count += len(rows)
        rows = execute(_CHUNKS, [document_id, rows[-1][-1], BATCH])
    return count
