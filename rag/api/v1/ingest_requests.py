"""Taking documents on as jobs, once for each Idempotency-Key; and telling the workers."""

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import BoundedSemaphore
from typing import Any
from uuid import UUID

from documents.access.scopes import Access
from documents.ingest import jobs
from documents.ingest.idempotency import Reply
from documents.ingest.requests import Brought
from documents.library import listing
from documents.library.collections import chunking_settings, find_collection, get_collection
from embeddings import tasks
from knowlex.base.errors import InvalidInput, NotFound

_hints = ThreadPoolExecutor(2, "ingest-hints")
_room = BoundedSemaphore(8)


def take_job(brought: Brought, *, access: Access) -> Reply:
    """A new job. Raises NotFound, InvalidInput (the collection, a setting), Forbidden, StorageUnavailable."""
    collection = _collection(brought.collection, access)
    job = jobs.create_job(
        access=access,
        collection=collection,
        documents=brought.documents,
        chunking=chunking_settings(collection, brought.settings),
    )
    items = listing.job_documents(job.id)
    body = {
        "job_id": job.id,
        "status": "accepted",
        "documents_queued": sum(item.status == "pending" for item in items),
        "collection_id": collection.id,
        "documents": [{"id": item.id, "filename": item.filename, "status": item.status} for item in items],
    }
    return Reply(200, body, f"/v1/ingest/{job.id}")


def take_replacement(document_id: UUID, brought: Brought, *, access: Access) -> Reply:
    """A new version of a document, or nothing for the same bytes. Raises as `take_job`, and Duplicate."""
    entry = listing.get_document(document_id, access=access)
    collection = get_collection(entry.collection_id, access=access)
    (new,) = brought.documents
    chunking = chunking_settings(collection, brought.settings)
    job = jobs.replace_document(document_id, access=access, new=new, chunking=chunking)
    if job is None:
        return Reply(200, {"document_id": document_id, "status": "unchanged"})
    body = {"job_id": job.id, "document_id": document_id, "status": "accepted"}
    return Reply(202, body, f"/v1/ingest/{job.id}")


def tell_workers(documents: int) -> None:
    """In the background: the work is on record, and a broker that hangs is no reason to wait.

    With many hints under way there is none for these; the sweep tells the workers.
    """
    if documents and _room.acquire(blocking=False):
        _hints.submit(copy_context().run, _tell, documents)


def _tell(documents: int) -> None:
    try:
        with tasks.sweep_may_do_it():
            tasks.enqueue_ingest(documents)
    finally:
        _room.release()


def _collection(name_or_id: str | None, access: Access) -> Any:
    """A name that nobody has is bad input; an id that nobody has is an unknown id."""
    try:
        return find_collection(name_or_id, access=access)
    except NotFound as exc:
        exc.details["field"] = "collection_id"
        try:
            UUID(name_or_id or "")
        except ValueError:
            raise InvalidInput(
                "collection_id is neither a collection's id nor its name.", field="collection_id"
            ) from exc
        raise
