"""Ingest jobs: taking them on, and taking up again what failed. No HTTP and no queue in here.

A job is on record when `create_job` returns, its files in place; workers find what waits there.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from documents.access.scopes import Access
from documents.ingest.acceptance import NewDocument, insert, keep_files, new_item, new_job, refuse_known
from documents.ingest.replacement import replace_document
from documents.models import Collection, Document, IngestItem, IngestJob
from documents.types import ChunkingSettings
from knowlex.base.errors import NotFound
from knowlex.db.threads import with_retries

__all__ = [
    "NewDocument",
    "create_job",
    "forget_finished_jobs",
    "replace_document",
    "retry_document",
    "retry_job",
]
SEND_AGAIN = (
    "The document that had the same bytes is gone, and the file of a duplicate is not kept: send it again."
)
KEPT_WELL, KEPT_FAILED = timedelta(days=7), timedelta(days=30)


def create_job(
    *,
    access: Access,
    collection: Collection,
    documents: Sequence[NewDocument],
    chunking: ChunkingSettings,
    origin: str = "api",
) -> IngestJob:
    """Take all of them on, or none. Raises Forbidden, NotFound (the collection is gone), StorageUnavailable.

    Whoever calls it tells the workers (embeddings.tasks.enqueue_ingest); if nobody does, the sweep will.
    """
    access.require("write")
    access.require_collection(collection.id)
    job = new_job(collection, access, chunking, origin)
    documents = refuse_known(collection.id, documents)
    items = [new_item(job, place, new) for place, new in enumerate(documents)]
    keep_files(items, documents, write=lambda: insert(job, items))
    return job


def retry_job(job_id: UUID, *, access: Access) -> int:
    """Let the job's failed documents be tried again; returns how many. Raises NotFound, Forbidden.

    Not those that were deleted, or replaced by a newer version, nor duplicates, whose files are not kept: if
    what a duplicate equalled is gone, it says from now on that the file must be sent again.
    """
    access.require("write")
    if not with_retries(IngestJob.objects.allowed_to(access).filter(id=job_id).exists):
        raise NotFound(f"Job not found: {job_id}")
    return with_retries(lambda: _retry(IngestItem.objects.filter(job=job_id).retryable()))


def retry_document(document_id: UUID, *, access: Access) -> int:
    """The same for one document, its replacement included. Raises NotFound, Forbidden."""
    access.require("write")
    items = IngestItem.objects.allowed_to(access).of_document(document_id)
    stored = Document.objects.current().allowed_to(access).filter(id=document_id)
    if not with_retries(stored.exists) and not with_retries(items.filter(deleted_at=None).exists):
        raise NotFound(f"Document not found: {document_id}")
    return with_retries(lambda: _retry(items.retryable()))


@transaction.atomic
def _retry(items: Any) -> int:
    """What is stored needs its vectors only; what is not begins anew, if its file or address is known."""
    ids = list(items.select_for_update().order_by("id").values_list("id", flat=True))
    stored = Document.objects.existing_ids(ids)
    Document.objects.filter(id__in=stored).update(status=Document.Status.PENDING)
    again = IngestItem.objects.filter(id__in=ids)
    fresh = {"error": "", "error_code": "", "ended_at": None, "duplicate_of": None}
    count = again.filter(id__in=stored).update(status="processing", stage="embedding", **fresh)
    readable = again.exclude(id__in=stored).exclude(file="", source_url="")
    again.orphaned_duplicates().update(error_code="NOT_FOUND", error=SEND_AGAIN, duplicate_of=None)
    return count + readable.update(
        status="pending", stage="queued", attempts=0, started_at=None, lease=None, leased_until=None, **fresh
    )


def forget_finished_jobs() -> int:
    """Records are for people: jobs that ended well go after a week, those with failures after 30 days.

    The documents stay; files that only failed ones had are swept after this. Returns how many went.
    """
    now = timezone.now()
    jobs = IngestJob.objects.ended()
    well = jobs.without_failures().filter(created_at__lt=now - KEPT_WELL)
    count = with_retries(lambda: well.delete()[0])
    count += with_retries(lambda: jobs.filter(created_at__lt=now - KEPT_FAILED).delete()[0])
    with_retries(lambda: Document.objects.forgotten_versions().delete())
    return count
