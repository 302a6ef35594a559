"""Ingest jobs and documents as their users see them: with their vectors counted. No HTTP, no queue.

Reading is asynchronous and holds no thread; deleting is one transaction, for Django's connection.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.db import transaction

from documents.access import FULL, Access
from documents.ingest import jobs
from documents.ingest.worker import run_next as read_next
from documents.library import deletion
from documents.models import DEFAULT_COLLECTION, Collection, Document
from embeddings.active_model import active_model
from embeddings.ingest.job_reports import ItemReport, JobReport, job_list, job_report, wait_for_job
from embeddings.work import document_status, requests
from knowlex.base.errors import Forbidden, NotFound
from knowlex.db.threads import execute, with_retries

__all__ = [
    "DeletionReceipt",
    "ItemReport",
    "JobReport",
    "delete_collection",
    "delete_document",
    "delete_documents",
    "job_list",
    "job_report",
    "retry_document",
    "retry_job",
    "run_next",
    "wait_for_job",
]
# Ahead of the chunks, whose deletion would take them one by one: then every chunk is counted out by itself,
# and a long document leaves a row for each word of each chunk to be folded.
_DELETE_WORDS = """
    DELETE FROM embeddings_lexicalentry WHERE chunk_id IN (
        SELECT id FROM documents_chunk WHERE document_id = ANY(%(versions)s))
"""
_DELETE_VECTORS = """
    WITH gone AS (
        DELETE FROM embeddings_embedding WHERE chunk_id IN (
            SELECT id FROM documents_chunk WHERE document_id = ANY(%(versions)s))
        RETURNING 1
    )
    SELECT count(*) FROM gone
"""


@dataclass(frozen=True, slots=True)
class DeletionReceipt:
    """What was deleted. stored: of the documents, without those that waited, were read or had failed.

    views: pictures and layouts of pages that somebody had looked at.
    """

    documents: int = 0
    stored: int = 0
    pages: int = 0
    chunks: int = 0
    vectors: int = 0
    views: int = 0
    document_ids: tuple[UUID, ...] = ()

    def __add__(self, other: "DeletionReceipt") -> "DeletionReceipt":
        return DeletionReceipt(
            self.documents + other.documents,
            self.stored + other.stored,
            self.pages + other.pages,
            self.chunks + other.chunks,
            self.vectors + other.vectors,
            self.views + other.views,
            self.document_ids + other.document_ids,
        )


def run_next() -> tuple[UUID, ...]:
    """Read and store the most urgent document of all jobs; returns the batches that are to be embedded.

    () if there was nothing to do, or it failed. Raises DatabaseUnavailable.
    """
    stored = read_next()
    return document_status.request_document(stored) if stored else ()


def retry_job(job_id: UUID, *, access: Access) -> int:
    """Return how many failed documents wait again (`documents.ingest.jobs`). Raises NotFound, Forbidden."""
    return jobs.retry_job(job_id, access=access)


def retry_document(document_id: UUID, *, access: Access) -> int:
    """Return 1 if there is something to do again, be it only missing vectors. Raises NotFound, Forbidden."""
    count = jobs.retry_document(document_id, access=access)
    failed = Document.objects.current().filter(id=document_id, status=Document.Status.FAILED)
    if count == 0 and with_retries(failed.exists):
        return int(requests.request_all(active_model().pk, document_id, FULL).requested > 0)
    return count


def delete_document(document_id: UUID, *, access: Access) -> DeletionReceipt:
    """Delete it in any state: stored, waiting, being read, failed. Raises NotFound, Forbidden.

    Nothing brings it back: whoever reads or embeds it finds nowhere to put what was made.
    """
    receipt = delete_documents([document_id], access=access)
    if not receipt.documents:
        raise NotFound(f"Document not found: {document_id}")
    return receipt


def delete_documents(document_ids: Sequence[UUID], *, access: Access) -> DeletionReceipt:
    """Delete those that exist and may be used, some a transaction. Raises Forbidden."""
    access.require("write")
    receipt = DeletionReceipt()
    for batch in with_retries(lambda: deletion.split_into_batches(document_ids)):
        receipt += with_retries(partial(_delete, batch, access))
    return receipt


@transaction.atomic
def _delete(document_ids: Sequence[UUID], access: Access) -> DeletionReceipt:
    locked = deletion.lock_documents(document_ids, access=access)
    versions = {"versions": deletion.list_version_ids(locked)}
    execute(_DELETE_WORDS, versions)
    vectors = execute(_DELETE_VECTORS, versions)[0][0]
    gone = deletion.delete_locked(locked)
    return DeletionReceipt(
        len(gone.documents), gone.stored, gone.pages, gone.chunks, vectors, gone.views, gone.documents
    )


def delete_collection(collection_id: UUID, *, access: Access) -> DeletionReceipt:
    """Delete it with everything in it: documents, jobs, settings, keys' bindings.

    First its documents, some a transaction, so that workers on other collections do not wait for thousands;
    then, in one, the collection with what came meanwhile. If that breaks off, the collection is still there.
    Raises NotFound; Forbidden for `default`, for a collection that may not be used, and for lesser scopes.
    """
    access.require("admin", collection_id)
    with_retries(lambda: _check_deletable(Collection.objects.filter(id=collection_id).first()))
    receipt = delete_documents(with_retries(lambda: deletion.list_ids(collection_id)), access=FULL)
    return receipt + with_retries(lambda: _delete_collection(collection_id))


def _check_deletable(collection: Collection | None) -> Collection:
    if collection is None:
        raise NotFound("Collection not found.", details={"field": "collection"})
    if collection.name == DEFAULT_COLLECTION:
        raise Forbidden("The collection `default` cannot be deleted.")
    return collection


@transaction.atomic
def _delete_collection(collection_id: UUID) -> DeletionReceipt:
    locked = Collection.objects.select_for_update().filter(id=collection_id)
    collection = _check_deletable(locked.first())
    receipt = _delete(deletion.list_ids(collection_id), FULL)
    collection.delete()
    return receipt
