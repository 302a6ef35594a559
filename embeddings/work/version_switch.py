"""A new version that is whole takes over in one transaction: a search sees the old or the new, never none.

The document keeps its id and the day it came; pages, chunks and vectors of the new version are moved to it.
What was not sent with the new version stays: metadata, and a title that was said and not found in the text.
"""

import logging
from uuid import UUID

from django.db import IntegrityError, transaction

from documents.ingest import writer
from documents.library import storage
from documents.models import Document, IngestItem
from knowlex.db.threads import execute, with_retries

log = logging.getLogger(__name__)

_LOCK = """
    SELECT id FROM documents_document
    WHERE id IN (%(old)s, %(new)s) ORDER BY id FOR UPDATE
"""
# Words and vectors go ahead of their chunks, whose deletion would take them one by one.
_TAKE_OVER = (
    """DELETE FROM embeddings_lexicalentry
       WHERE chunk_id IN (SELECT id FROM documents_chunk WHERE document_id = %(old)s)""",
    """DELETE FROM embeddings_embedding
       WHERE chunk_id IN (SELECT id FROM documents_chunk WHERE document_id = %(old)s)""",
    "DELETE FROM documents_chunk WHERE document_id = %(old)s",
    "DELETE FROM documents_page WHERE document_id = %(old)s",
    "UPDATE documents_page SET document_id = %(old)s WHERE document_id = %(new)s",
    "UPDATE documents_chunk SET document_id = %(old)s WHERE document_id = %(new)s",
    """UPDATE embeddings_embedding SET collection_id = %(collection)s
       WHERE chunk_id IN (SELECT id FROM documents_chunk WHERE document_id = %(old)s)""",
    """UPDATE embeddings_lexicalentry SET collection_id = %(collection)s
       WHERE chunk_id IN (SELECT id FROM documents_chunk WHERE document_id = %(old)s)""",
    """UPDATE documents_document d
       SET source = n.source, source_url = n.source_url, original_filename = n.original_filename,
           language = n.language,
           title = CASE WHEN i.metadata = '{}' AND d.metadata ? 'title' THEN d.title ELSE n.title END,
           checksum = n.checksum, size_bytes = n.size_bytes, file = n.file,
           page_count = n.page_count, chunk_count = n.chunk_count, warnings = n.warnings,
           metadata = CASE WHEN i.metadata = '{}' THEN d.metadata || n.metadata ELSE n.metadata END,
           status = 'completed', updated_at = clock_timestamp()
       FROM documents_document n LEFT JOIN documents_ingestitem i ON i.id = n.id
       WHERE d.id = %(old)s AND n.id = %(new)s""",
    "DELETE FROM documents_document WHERE id = %(new)s",
    """UPDATE documents_ingestitem SET status = 'completed', stage = 'ended', error = '', error_code = '',
           ended_at = clock_timestamp() WHERE id = %(new)s AND deleted_at IS NULL""",
)


def switch(version_id: UUID) -> None:
    """Let the version take over, unless it is gone, or its bytes are another document's by now.

    Raises DatabaseUnavailable; the next sweep tries again.
    """
    try:
        with_retries(lambda: _switch(version_id))
    except IntegrityError:
        with_retries(lambda: _refuse(version_id))


@transaction.atomic
def _switch(version_id: UUID) -> None:
    version = Document.objects.filter(id=version_id, replaces__isnull=False).first()
    if version is None or not _locked(version):
        return
    old_file = _stored_file(version.replaces_id)
    ids = {"old": version.replaces_id, "new": version_id, "collection": version.collection_id}
    for statement in _TAKE_OVER:
        execute(statement, ids)
    transaction.on_commit(lambda: storage.remove_file(old_file))
    log.info("document replaced", extra={"document": str(version.replaces_id)})


def _stored_file(document_id: UUID | None) -> str:
    rows = execute("SELECT file FROM documents_document WHERE id = %s", [document_id])
    return str(rows[0][0])


def _locked(version: Document) -> bool:
    """Whether both are still there and nobody else can change them now."""
    rows = execute(_LOCK, {"old": version.replaces_id, "new": version.id})
    return len(rows) == 2


@transaction.atomic
def _refuse(version_id: UUID) -> None:
    """The old version stays, and the item says why."""
    version = Document.objects.filter(id=version_id, replaces__isnull=False).first()
    if version is None or not _locked(version):
        return
    known = writer.find_duplicate(version.collection_id, version.checksum)
    file = str(version.file.name)
    version.delete()
    IngestItem.objects.filter(id=version_id, deleted_at__isnull=True).update(
        status="failed", stage="ended", error_code="DUPLICATE", duplicate_of=known,
        error=f"Document already ingested: {known}", ended_at=version.updated_at,
    )  # fmt: skip
    transaction.on_commit(lambda: storage.remove_file(file))
