"""Jobs made of ingest requests, once for each Idempotency-Key, and their workers notified."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from threading import BoundedSemaphore
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from pydantic import Field

from documents.access import Access, access_of
from documents.ingest import jobs
from documents.ingest.idempotency import KEY_HEADER, Reply, answer_once, checked_key
from documents.ingest.requests import ReceivedDocuments, reply_response
from documents.library import listing
from documents.library.collections import chunking_settings, find_collection, get_collection
from embeddings import tasks
from knowlex.base.errors import InvalidInput, NotFound
from knowlex.web.shapes import Count, OutputShape
from rag.api.v1.parameters import Status

LOCK_S = 120.0
_hints = ThreadPoolExecutor(2, "ingest-hints")
_room = BoundedSemaphore(8)


class AcceptedDocument(OutputShape):
    id: UUID
    filename: str
    status: Status


class AcceptedJob(OutputShape):
    job_id: UUID
    status: str
    documents_queued: Count
    collection_id: UUID
    documents: list[AcceptedDocument]


class ReplacementReceipt(OutputShape):
    job_id: Annotated[UUID | None, Field(exclude_if=lambda value: value is None)] = None
    document_id: UUID
    status: Literal["accepted", "unchanged"]


def answer_ingest(
    request: HttpRequest,
    receiving: AbstractContextManager[ReceivedDocuments],
    make_job: Callable[[ReceivedDocuments, Access], Reply],
    *identity: str,
) -> HttpResponse:
    """Make a job of what the request brings, once for its key, and notify the workers.

    identity: what tells this request from others that bring the same documents.
    """
    access = access_of(request)
    access.require("write")
    key = checked_key(request.headers.get(KEY_HEADER))
    with receiving as received:
        reply = answer_once(
            key,
            lambda _: make_job(received, access),
            access=access,
            asked=received.fingerprint(*identity),
            lock_s=LOCK_S,
            in_transaction=True,
        )
    if not reply.replayed:
        notify_workers(reply.body.get("documents_queued", int(reply.status == 202)))
    return reply_response(reply)


def make_job(received: ReceivedDocuments, access: Access) -> Reply:
    """Make a new job. Raises NotFound, InvalidInput, Forbidden, StorageUnavailable."""
    collection = _find_collection(received.collection, access)
    job = jobs.create_job(
        access=access,
        collection=collection,
        documents=received.documents,
        chunking=chunking_settings(collection, received.settings),
    )
    items = listing.job_documents(job.id)
    body = AcceptedJob(
        job_id=job.id,
        status="accepted",
        documents_queued=sum(item.status == "pending" for item in items),
        collection_id=collection.id,
        documents=[AcceptedDocument.model_validate(item) for item in items],
    )
    return Reply(200, body.model_dump(), f"/v1/ingest/{job.id}")


def make_replacement(document_id: UUID, received: ReceivedDocuments, access: Access) -> Reply:
    """Make a new version of a document, unless it is the same. Raises as `make_job`, and Duplicate."""
    entry = listing.get_document(document_id, access=access)
    collection = get_collection(entry.collection_id, access=access)
    (new,) = received.documents
    chunking = chunking_settings(collection, received.settings)
    job = jobs.replace_document(document_id, access=access, new=new, chunking=chunking)
    if job is None:
        return Reply(200, ReplacementReceipt(document_id=document_id, status="unchanged").model_dump())
    body = ReplacementReceipt(job_id=job.id, document_id=document_id, status="accepted")
    return Reply(202, body.model_dump(), f"/v1/ingest/{job.id}")


def notify_workers(documents: int) -> None:
    """Notify them in the background: the work is on record, and a broker that hangs is no reason to wait.

    With many hints under way there is none for these; the sweep notifies the workers.
    """
    if documents and _room.acquire(blocking=False):
        _hints.submit(copy_context().run, _notify, documents)


def _notify(documents: int) -> None:
    try:
        with tasks.tolerate_lost_hint():
            tasks.enqueue_ingest(documents)
    finally:
        _room.release()


def _find_collection(name_or_id: str | None, access: Access) -> Any:
    """Return the collection: a name that nobody has is bad input, an id that nobody has is unknown."""
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
