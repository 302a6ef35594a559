"""`manage.py sanity`: a sound database passes, and damage of every kind is found and named."""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

import embeddings.sanity
from documents import services as documents
from documents.access import FULL
from documents.library.storage import Staging
from documents.models import Collection, Document, IngestItem, IngestJob
from embeddings import services
from embeddings.models import EmbeddingRequest
from embeddings.sanity import check_sanity
from knowlex.base.ids import new_id
from knowlex.db.threads import execute
from tests.support.texts import facts_pdf, markdown

LOST = "00000000-0000-7000-8000-000000000000"
TABLES = [
    *("documents_collection", "documents_document", "documents_page", "documents_chunk"),
    *("documents_ingestjob", "documents_ingestitem", "documents_apikey", "documents_apikeycollection"),
    *("embeddings_embedding", "embeddings_embeddingrequest", "embeddings_embeddingrun"),
    *("embeddings_lexicalentry", "embeddings_lexemecount", "embeddings_sentencevectors"),
]
ONCE = "documents_one_per_checksum"
NAMES = {
    "{sentences}": "INSERT INTO embeddings_sentencevectors (chunk_id, model_id, bounds, vectors) "
    "SELECT {chunk}, max(id), '{0,4,5,9}', array_fill(array_fill(1, ARRAY[32])::vector::halfvec, ARRAY[2]) "
    "FROM embeddings_embeddingmodel",
    "{lost}": LOST,
    "{waiting}": "(SELECT id FROM documents_document WHERE original_filename = 'waiting.md')",
    "{chunk}": "(SELECT c.id FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id "
    "WHERE original_filename = 'book.pdf' AND chunk_index = 0)",
    "{book}": "(SELECT id FROM documents_document WHERE original_filename = 'book.pdf')",
    "{making}": "(SELECT id FROM documents_document WHERE replaces_id IS NOT NULL)",
}
# What is found (at least), and what is done to the database for it.
DAMAGES = """
default_collection documents_document.collection_id:
    DELETE FROM documents_collection WHERE name = 'default'
one_per_checksum:
    DROP INDEX documents_one_per_checksum; UPDATE documents_document SET checksum = (SELECT checksum
    FROM documents_document WHERE original_filename = 'book.pdf') WHERE original_filename = 'waiting.md'
chunks_numbered:
    DELETE FROM documents_chunk WHERE document_id = {waiting}
chunks_numbered:
    UPDATE documents_chunk SET chunk_index = 90 WHERE id = {chunk}
chunks_numbered:
    UPDATE documents_document SET chunk_count = 1 WHERE id = {book}
offsets:
    UPDATE documents_chunk SET content = 'x' || content WHERE id = {chunk}
offsets:
    UPDATE documents_chunk SET start_char = start_char + 1 WHERE id = {chunk}
pages:
    UPDATE documents_page SET text = text || '!' WHERE document_id = {book} AND number = 1
offsets pages:
    UPDATE documents_page SET number = 7 WHERE document_id = {book} AND number = 1
offsets pages:
    DELETE FROM documents_page WHERE document_id = {waiting}
chunk_pages:
    UPDATE documents_chunk SET page_number = 2 WHERE id = {chunk}
chunk_pages:
    UPDATE documents_chunk SET page_number = NULL WHERE id = {chunk}
documents_page.document_id:
    UPDATE documents_page SET document_id = '{lost}' WHERE document_id = {waiting}
documents_chunk.document_id documents_page.document_id:
    DELETE FROM documents_document WHERE id = {book}
embeddings_embedding.chunk_id embeddings_lexicalentry.chunk_id:
    DELETE FROM documents_chunk WHERE id = {chunk}
embeddings_embeddingrequest.chunk_id:
    DELETE FROM documents_chunk WHERE document_id = {waiting}
embeddings_embeddingrequest.run_id:
    DELETE FROM embeddings_embeddingrun
documents_ingestitem.job_id:
    DELETE FROM documents_ingestjob
documents_apikeycollection.collection_id documents_apikeycollection.key_id:
    INSERT INTO documents_apikeycollection (key_id, collection_id) VALUES ('{lost}', '{lost}')
documents_document.replaces_id:
    UPDATE documents_document SET replaces_id = '{lost}' WHERE replaces_id IS NOT NULL
replacements:
    UPDATE documents_ingestitem SET status = 'failed', stage = 'ended', ended_at = now() WHERE
    replaces_id IS NOT NULL
replacements:
    DELETE FROM documents_ingestitem WHERE replaces_id IS NOT NULL
status_completed words_alone:
    DELETE FROM embeddings_embedding WHERE chunk_id = {chunk}
items_with_nobody status_processing:
    DELETE FROM embeddings_embeddingrequest
status_failed:
    UPDATE documents_document SET status = 'failed' WHERE id = {book}
status_pending:
    UPDATE documents_document SET status = 'pending' WHERE id = {book}
status_pending:
    UPDATE documents_document SET status = 'pending' WHERE id = {waiting}
items_ended:
    UPDATE documents_ingestitem SET lease = '{lost}' WHERE status = 'completed'
items_leased:
    UPDATE documents_ingestitem SET leased_until = now() - interval '1 hour' WHERE status = 'processing'
items_in_no_hands:
    UPDATE documents_ingestitem SET stage = 'chunking' WHERE status = 'processing'
items_stored:
    UPDATE documents_ingestitem SET id = '{lost}' WHERE status = 'completed'
requests_leased:
    UPDATE embeddings_embeddingrequest SET lease = '{lost}', leased_until = now() - interval '1 hour'
requests_failed:
    UPDATE embeddings_embeddingrequest SET lease = '{lost}', failed_at = now()
vector_length:
    UPDATE embeddings_embedding SET vector = '[1,2]' WHERE chunk_id = {chunk}
vector_values:
    UPDATE embeddings_embedding SET vector = array_fill(0, ARRAY[32])::vector WHERE chunk_id = {chunk}
sentences_alone:
    DELETE FROM embeddings_embedding WHERE chunk_id = {chunk}; {sentences}
embeddings_sentencevectors.chunk_id:
    {sentences}; UPDATE embeddings_sentencevectors SET chunk_id = '{lost}'
sentences_places:
    {sentences}; UPDATE embeddings_sentencevectors SET bounds = '{0,4,5}'
sentences_places:
    {sentences}; UPDATE embeddings_sentencevectors SET bounds = '{0,4,3,6}'
sentences_places:
    {sentences}; UPDATE embeddings_sentencevectors SET bounds = '{0,4,5,100000}'
sentences_places:
    {sentences}; UPDATE embeddings_sentencevectors SET bounds = '{}', vectors = '{}'
sentences_values:
    {sentences}; UPDATE embeddings_sentencevectors SET vectors[2] = array_fill(0, ARRAY[32])::vector
sentences_values:
    {sentences}; UPDATE embeddings_sentencevectors SET vectors[2] = '[1,2]'
vector_collection:
    UPDATE embeddings_embedding SET collection_id = '{lost}' WHERE chunk_id = {chunk}
lexeme_counts words_collection:
    UPDATE embeddings_lexicalentry SET collection_id = '{lost}' WHERE chunk_id = {chunk}
vector_collection:
    UPDATE embeddings_embedding SET collection_id = d.collection_id FROM documents_document d,
    documents_chunk c WHERE c.document_id = d.id AND c.id = chunk_id AND d.replaces_id IS NOT NULL
lexeme_counts words_missing:
    DELETE FROM embeddings_lexicalentry WHERE chunk_id = {chunk}
lexeme_counts:
    UPDATE embeddings_lexemecount SET chunks = chunks + 1 WHERE lexeme = ''
lexeme_counts:
    DELETE FROM embeddings_lexemecount WHERE lexeme = ''
"""


@pytest.fixture
def sound(
    transactional_db: None, configure: Any, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Documents in every lawful state: embedded, waiting, being replaced; returns where their files are."""
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(embeddings.sanity, "SETTLING_S", 0)  # no worker runs that could put anything right
    book = add("book.pdf", facts_pdf(45))
    made = add("new.md", markdown("New", [("More", "There is more to be said. " * 30)]))
    services.request_embeddings(access=FULL)
    while EmbeddingRequest.objects.exists():
        services.embed_batch(new_id())
    waiting = add("waiting.md", markdown("Waiting", [("One", "Some words that nobody has read. " * 9)]))
    services.request_embeddings(access=FULL)
    plant(
        f"UPDATE documents_document SET status = CASE id WHEN '{waiting.id}' THEN 'processing' "
        "ELSE 'completed' END; "
        f"UPDATE documents_document SET replaces_id = '{book.id}' WHERE id = '{made.id}'; "
        + "; ".join(
            f"UPDATE {table} SET collection_id = '{book.id}' FROM documents_chunk c "
            f"WHERE c.id = chunk_id AND c.document_id = '{made.id}'"
            for table in ("embeddings_embedding", "embeddings_lexicalentry")
        )
        + "; TRUNCATE embeddings_lexemecount; INSERT INTO embeddings_lexemecount "
        "(collection_id, lexeme, chunks) "
        "SELECT collection_id, unnest(tsvector_to_array(lexemes) || ''::text), 1 FROM embeddings_lexicalentry"
    )
    add_items(book, made, waiting)
    return tmp_path


def add(filename: str, content: bytes) -> Document:
    with Staging(max_bytes=2**20) as staging:
        staging.write(content)
        collection = Collection.objects.get_or_create(name="default")[0]
        return documents.ingest_document(
            access=FULL, upload=staging.finish(), filename=filename, collection=collection
        )


def add_items(book: Document, made: Document, waiting: Document) -> None:
    """One that is done, one whose vectors are waited for, one that replaces, one that nobody has read."""
    job = IngestJob.objects.create(collection=book.collection)
    rows = [
        {"id": book.id, "status": "completed", "stage": "ended", "ended_at": book.created_at},
        {"id": waiting.id, "status": "processing", "stage": "embedding"},
        {"id": made.id, "status": "pending", "stage": "queued", "replaces": book},
        {"status": "pending", "stage": "queued", "file": str(book.file)},
    ]
    for position, row in enumerate(rows):
        IngestItem.objects.create(
            **{"job": job, "collection": book.collection, "position": position, "source_type": "file", **row}
        )


def damages() -> Iterator[tuple[set[str], str]]:
    for found, sql in re.findall(r"^(\S.*):\n((?: .*\n)+)", DAMAGES, re.MULTILINE):
        yield set(found.split()), " ".join(sql.split())


def plant(sql: str) -> None:
    """Past all triggers and foreign keys."""
    for name, meaning in NAMES.items():
        sql = sql.replace(name, meaning)
    execute(f"SET session_replication_role = replica; {sql}; SET session_replication_role = origin")


def broken(**options: Any) -> set[str]:
    return {finding.name for finding in check_sanity(**options) if finding.broken}


WRITABLE = """
    SELECT table_name::text, string_agg(quote_ident(column_name), ', ') FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name = ANY(%s) AND is_generated = 'NEVER' GROUP BY table_name
"""


class Copy:
    """All tables as they were, to come back to after each damage."""

    def __init__(self) -> None:
        execute("; ".join(f"CREATE TABLE copy_of_{table} AS SELECT * FROM {table}" for table in TABLES))
        ((self._index,),) = execute("SELECT indexdef FROM pg_indexes WHERE indexname = %s", [ONCE])
        self._columns = dict(execute(WRITABLE, [list(TABLES)]))

    def restore(self) -> None:
        again = self._index.replace("UNIQUE INDEX", "UNIQUE INDEX IF NOT EXISTS")
        back = (
            f"DELETE FROM {name}; INSERT INTO {name} ({columns}) SELECT {columns} FROM copy_of_{name}"
            for name, columns in self._columns.items()
        )
        plant(f"{'; '.join(back)}; {again}")

    def drop(self) -> None:
        execute("; ".join(f"DROP TABLE copy_of_{table}" for table in TABLES))


def test_a_sound_database_passes(sound: Path):
    assert [finding for finding in check_sanity(deep=True) if finding.broken] == []


def test_planted_damage_of_every_kind_is_found_and_named(sound: Path):
    missed = {}
    with ExitStack() as after:
        copy = Copy()
        after.callback(copy.drop)
        for expected, sql in damages():
            plant(sql)
            if not (found := broken()) >= expected:
                missed[sql] = (expected, found)
            copy.restore()
        assert broken() == set()
    assert missed == {}


def test_files_that_are_missing_changed_or_unknown_are_found(sound: Path):
    book = Document.objects.get(original_filename="book.pdf")
    file = sound / str(book.file)
    content = file.read_bytes()

    file.write_bytes(content[::-1])
    assert (broken(), broken(deep=True)) == (set(), {"file_changed"})
    file.write_bytes(content[:-1])
    assert broken() == {"file_changed"}
    file.unlink()
    assert broken() == {"file_missing", "file_of_item"}
    file.write_bytes(content)
    for name in ("documents/unknown.pdf", "incoming/left.part"):
        (sound / name).write_bytes(b"x")
    assert broken() == set()  # they may be on their way
    for name in ("documents/unknown.pdf", "incoming/left.part", str(book.file)):
        os.utime(sound / name, (1, 1))
    assert broken() == {"file_without_row", "file_left_over"}


def test_only_the_deep_look_sees_vectors_and_words_of_another_text(sound: Path):
    plant(
        "UPDATE embeddings_embedding SET vector = (SELECT vector FROM embeddings_embedding e "
        "WHERE e.chunk_id = {chunk}) WHERE chunk_id <> {chunk}"
    )
    assert (broken(), broken(deep=True)) == (set(), {"own_text"})


@pytest.fixture
def told(sound: Path) -> Callable[..., tuple[int, str]]:
    def run(*options: str) -> tuple[int, str]:
        out = StringIO()
        try:
            call_command("sanity", *options, stdout=out)
        except SystemExit as exc:
            return int(exc.code or 0), out.getvalue()
        return 0, out.getvalue()

    return run


def test_the_command_tells_what_is_broken_and_how_to_mend_it(told: Any):
    assert told()[0] == 0
    plant("DELETE FROM documents_document WHERE id = {making}; DELETE FROM embeddings_lexemecount")
    status, text = told()
    assert status == 1
    assert "BROKEN lexeme_counts [I3]: " in text
    assert "mend:  TRUNCATE embeddings_lexemecount" in text
    status, text = told("--json", "--deep")
    report = json.loads(text)
    assert (status, report["ok"]) == (1, False)
    chunks = next(check for check in report["checks"] if check["name"] == "documents_chunk.document_id")
    assert (chunks["broken"], len(chunks["sample"])) == (1, 1)
    assert connection.in_atomic_block is False
