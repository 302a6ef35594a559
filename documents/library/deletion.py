"""Deletion of documents in any state: statements for one transaction of the caller's.

A document that is stored goes with its pages, chunks, vectors and the new version in the making; one that
waits or is being read is an item, which ends here: its worker finds that the lease is gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from documents.access import Access, condition_on_readers
from documents.library import page_cache, storage
from knowlex.db.threads import execute

COST_AT_ONCE, COST_OF_DOCUMENT = 2000, 10  # in chunks: about 0.1 s of PostgreSQL's time

# Whoever stores a document locks its item last, so a second look at the documents follows the items' lock.
_LOCK_DOCUMENTS = f"""
    SELECT d.id, d.collection_id FROM documents_document d
    WHERE d.id = ANY(%(ids)s) AND d.replaces_id IS NULL
      AND (%(allowed)s::uuid[] IS NULL OR d.collection_id = ANY(%(allowed)s))
      AND {condition_on_readers("d.readers")}
    ORDER BY d.id FOR UPDATE
"""  # noqa: S608 - constants only
_LOCK_ITEMS = f"""
    SELECT i.id, i.collection_id FROM documents_ingestitem i
    WHERE i.id = ANY(%(ids)s) AND i.replaces_id IS NULL AND i.deleted_at IS NULL AND i.status <> 'completed'
      AND (%(allowed)s::uuid[] IS NULL OR i.collection_id = ANY(%(allowed)s))
      AND {condition_on_readers("i.readers")}
    ORDER BY i.id FOR UPDATE
"""  # noqa: S608 - constants only
_VERSIONS = (
    "SELECT id, file, checksum FROM documents_document WHERE id = ANY(%(ids)s) OR replaces_id = ANY(%(ids)s)"
)
_COUNT = """
    SELECT (SELECT count(*) FROM documents_page WHERE document_id = ANY(%(versions)s)),
        (SELECT count(*) FROM documents_chunk WHERE document_id = ANY(%(versions)s))
"""
# `replaces` is cleared, since the job's record stays when the document goes.
_END_ITEMS = """
    WITH gone AS (
        SELECT id, file, status IN ('pending', 'processing') AS open FROM documents_ingestitem
        WHERE id = ANY(%(ids)s) OR replaces_id = ANY(%(ids)s) ORDER BY id FOR UPDATE
    )
    UPDATE documents_ingestitem i
    SET deleted_at = coalesce(deleted_at, clock_timestamp()), replaces_id = NULL, file = '',
        lease = NULL, leased_until = NULL, stage = 'ended',
        status = CASE WHEN gone.open THEN 'failed' ELSE status END,
        error_code = CASE WHEN gone.open THEN 'DELETED' ELSE error_code END,
        error = CASE WHEN gone.open THEN 'The document was deleted.' ELSE error END,
        ended_at = coalesce(ended_at, clock_timestamp())
    FROM gone WHERE i.id = gone.id RETURNING gone.file
"""
_IN_COLLECTION = """
    SELECT id FROM documents_document WHERE collection_id = %(collection)s AND replaces_id IS NULL
    UNION SELECT id FROM documents_ingestitem
    WHERE collection_id = %(collection)s AND replaces_id IS NULL AND deleted_at IS NULL
"""
_SIZES = """
    SELECT coalesce(replaces_id, id), sum(chunk_count) FROM documents_document
    WHERE id = ANY(%(ids)s) OR replaces_id = ANY(%(ids)s) GROUP BY 1
"""
_DELETE = "DELETE FROM documents_document WHERE id = ANY(%(ids)s)"


@dataclass(frozen=True, slots=True)
class DeletedCounts:
    """Counts of a deletion. documents: those that existed. stored: how many of them were stored.

    views: pictures and layouts of pages that somebody had looked at.
    """

    documents: tuple[UUID, ...] = ()
    stored: int = 0
    pages: int = 0
    chunks: int = 0
    views: int = 0


def split_into_batches(document_ids: Sequence[UUID]) -> list[list[UUID]]:
    """Split the documents, in order, into batches that are deleted without blocking others for long."""
    chunks_of = dict(execute(_SIZES, {"ids": list(document_ids)}))
    parts: list[list[UUID]] = []
    room = 0
    for document_id in document_ids:
        cost = int(chunks_of.get(document_id, 0)) + COST_OF_DOCUMENT
        if cost > room:
            parts.append([])
            room = COST_AT_ONCE
        parts[-1].append(document_id)
        room -= cost
    return parts


def lock_documents(document_ids: Sequence[UUID], *, access: Access) -> list[UUID]:
    """Lock the documents that exist and that the caller may use; return their ids, in order.

    Raises Forbidden for one that the caller may only read.
    """
    scope = {"ids": sorted(set(document_ids)), "allowed": access.allowed, "principals": access.reads_as}
    collection_of: dict[UUID, UUID] = {}
    for statement in (_LOCK_DOCUMENTS, _LOCK_ITEMS, _LOCK_DOCUMENTS):
        collection_of.update(dict(execute(statement, scope)))
    for collection_id in set(collection_of.values()):
        access.require("write", collection_id)
    return sorted(collection_of)


def list_ids(collection_id: UUID) -> list[UUID]:
    """Return the ids of all documents of a locked collection, those of jobs included."""
    return [row[0] for row in execute(_IN_COLLECTION, {"collection": collection_id})]


def list_version_ids(document_ids: Sequence[UUID]) -> list[UUID]:
    """Return the ids of the documents' rows, and of their pending new versions."""
    return [row[0] for row in execute(_VERSIONS, {"ids": list(document_ids)})]


def delete_locked(document_ids: Sequence[UUID]) -> DeletedCounts:
    """Delete locked documents; their files, and pictures of their pages, are removed after the commit."""
    ids = {"ids": list(document_ids)}
    rows = execute(_VERSIONS, ids)
    pages, chunks = execute(_COUNT, {"versions": [row[0] for row in rows]})[0]
    files = [file for _, file, _ in rows] + [file for (file,) in execute(_END_ITEMS, ids) if file]
    execute(_DELETE, ids)
    unused = page_cache.find_unused(checksum for _, _, checksum in rows) if rows else set()
    views = page_cache.count_files(unused)
    transaction.on_commit(lambda: storage.remove_files(files))
    transaction.on_commit(lambda: page_cache.remove(unused))
    stored = len({row[0] for row in rows} & set(document_ids))
    return DeletedCounts(tuple(document_ids), stored, pages, chunks, views)
