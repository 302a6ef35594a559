"""Ingest jobs: creating them, replacing documents, and retrying what failed. No HTTP and no queue in here.

A job and its files are stored when `create_job` returns; workers find its items in the table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from documents.access import Access
from documents.ingest import writer
from documents.library import storage
from documents.library.collection_settings import read_chunking
from documents.library.storage import StagedUpload
from documents.models import Collection, Document, IngestItem, IngestJob
from documents.types import ChunkingSettings
from knowlex.base.errors import InvalidInput, KnowlexError, NotFound
from knowlex.db.threads import execute, with_retries

ROWS_PER_INSERT = 500
MAX_ITEMS = 1000  # of a job with what is attached to its mails
MAX_MAIL_DEPTH = 3  # a file of a mail in a mail in a mail is the last that becomes a document
DEPTH = "attachment_depth"


@dataclass(frozen=True, slots=True)
class NewDocument:
    """One document to be ingested.

    filename: cleaned; "" only for a url. upload: of a file or a text, staged; it is moved to its place.
    error: why it was refused on arrival; it is recorded as failed with this reason.
    """

    source_type: Literal["file", "url", "text"]
    filename: str
    upload: StagedUpload | None = None
    url: str = ""
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    error: KnowlexError | None = None


def build_job(collection: Collection, access: Access, chunking: ChunkingSettings, origin: str) -> IngestJob:
    return IngestJob(
        collection=collection,
        settings=asdict(chunking),
        origin=origin,
        key_id=access.key_id,
        brought_by=access.brings_as,
    )


def build_item(job: IngestJob, position: int, new: NewDocument) -> IngestItem:
    """Build the row of an item, without its file yet."""
    item = IngestItem(
        job=job,
        collection_id=job.collection_id,
        position=position,
        source_type=new.source_type,
        source_url=new.url,
        filename=new.filename,
        title=new.title[:512],
        metadata=dict(new.metadata),
        checksum=new.upload.checksum if new.upload else "",
        size_bytes=new.upload.size_bytes if new.upload else None,
    )
    refused = find_refusal(new)
    if refused:
        item.status, item.stage, item.ended_at = item.Status.FAILED, item.Stage.ENDED, timezone.now()
        item.error_code, item.error = refused.code, refused.message
        item.duplicate_of = refused.details.get("documentId")
    return item


def keep_files(
    items: Sequence[IngestItem], documents: Sequence[NewDocument], *, write: Callable[[], None]
) -> None:
    """Move files to their places, then write the rows; if these are certainly not there, remove the files."""
    try:
        for item, new in zip(items, documents, strict=True):
            if new.upload and item.status != item.Status.FAILED:
                item.file = storage.keep_for_item(item.id, new.filename, new.upload)
        write()
    except KnowlexError:
        # After a lost COMMIT the rows may be there all the same: with_retries has looked, the sweep will.
        if not with_retries(IngestItem.objects.filter(id__in=[item.id for item in items]).exists):
            for item in items:
                if item.file:
                    storage.discard_file(item.file)
        raise


def refuse_duplicates(
    collection_id: UUID, documents: Sequence[NewDocument], access: Access
) -> list[NewDocument]:
    """Return the documents, with an error where the collection has the bytes already: no file is kept."""
    sums = {new.upload.checksum for new in documents if new.upload and not new.error}
    if not sums:
        return list(documents)
    rows = Document.objects.current().filter(collection_id=collection_id, checksum__in=sums)
    stored = with_retries(lambda: {row.checksum: row for row in rows.only("id", "checksum", "readers")})
    checked = []
    for new in documents:
        if new.upload and not new.error and new.upload.checksum in stored:
            new = replace(new, error=writer.duplicate_error(stored[new.upload.checksum], access.reads_as))
        checked.append(new)
    return checked


def build_attachments(mail: IngestItem, documents: Sequence[NewDocument]) -> list[IngestItem]:
    """Build items of the mail's own job for what is attached to it; insert_attachments gives their places."""
    tie = {"attachment_of": str(mail.id), "attachment_of_name": mail.filename, DEPTH: mail_depth(mail) + 1}
    inherited = {name: value for name, value in mail.metadata.items() if name != "title"}
    return [build_item(mail.job, 0, replace(new, metadata={**inherited, **tie})) for new in documents]


def mail_depth(item: IngestItem) -> int:
    """Return how many mails are around a document; whoever sends a number can only be given less."""
    depth = item.metadata.get(DEPTH)
    return max(0, depth) if isinstance(depth, int) else 0


def count_room(job_id: UUID) -> int:
    """Return how many attachments a job has room for."""
    return max(0, MAX_ITEMS - with_retries(IngestItem.objects.filter(job=job_id).count))


def insert_attachments(job_id: UUID, items: Sequence[IngestItem]) -> None:
    """Insert them behind the job's last item, in the caller's transaction."""
    execute("SELECT id FROM documents_ingestjob WHERE id = %s FOR NO KEY UPDATE", [job_id])
    last = IngestItem.objects.filter(job=job_id).aggregate(last=Max("position"))["last"] or 0
    for position, item in enumerate(items, start=last + 1):
        item.position = position
    IngestItem.objects.bulk_create(items, batch_size=ROWS_PER_INSERT)


def find_refusal(new: NewDocument) -> KnowlexError | None:
    """Return why a document is refused; None if it is not."""
    if new.error:
        return new.error
    if new.upload and new.upload.size_bytes == 0:
        return InvalidInput("File is empty.", field="content")
    return None


def insert_job(job: IngestJob, items: Sequence[IngestItem]) -> None:
    def attempt() -> None:
        try:
            with transaction.atomic():
                job.save(force_insert=True)
                IngestItem.objects.bulk_create(items, batch_size=ROWS_PER_INSERT)
        except IntegrityError as exc:
            if not IngestJob.objects.filter(id=job.id).exists():  # else our own COMMIT arrived before
                raise NotFound("Collection not found.", details={"field": "collection"}) from exc

    with_retries(attempt)


_LOCK = "SELECT id FROM documents_document WHERE id = %s AND replaces_id IS NULL FOR NO KEY UPDATE"
# Failed ones too: a retry would let them take over from what is newer. Why they failed stays on record.
_SUPERSEDE = """
    WITH gone AS (
        SELECT id, file FROM documents_ingestitem
        WHERE replaces_id = %s AND status <> 'completed' AND error_code <> 'SUPERSEDED' ORDER BY id FOR UPDATE
    )
    UPDATE documents_ingestitem i
    SET status = 'failed', stage = 'ended', ended_at = coalesce(i.ended_at, clock_timestamp()), lease = NULL,
        leased_until = NULL, file = '', error_code = 'SUPERSEDED',
        error = concat_ws(' ', 'A newer version of the document took its place.', nullif(i.error, ''))
    FROM gone WHERE i.id = gone.id RETURNING gone.file
"""


def replace_document(
    document_id: UUID,
    *,
    access: Access,
    new: NewDocument,
    chunking: ChunkingSettings | None = None,
    origin: str = "api",
) -> IngestJob | None:
    """Create a job for a new version of a document, whose present version is searched until that is embedded.

    What is not sent with it, title and metadata, stays the document's (embeddings.work.version_switch).
    None: these are the bytes that it has already, or is to have; nothing is done. A version under way is
    superseded by a newer one. What is not stored (yet) is read anew from these bytes, in its own job.
    Raises NotFound, Forbidden, Duplicate (another document's bytes), StorageUnavailable, `new.error`.
    """
    access.require("write")
    if refused := find_refusal(new):
        raise refused
    rows = Document.objects.current().allowed_to(access).select_related("collection")
    document = with_retries(rows.filter(id=document_id).first)
    if document is None:
        return _restart_item(document_id, access, new)
    access.require("write", document.collection_id)
    checksum = new.upload.checksum if new.upload else ""
    if _is_current_version(document, checksum, access):
        return None
    job = build_job(
        document.collection, access, chunking or read_chunking(document.collection.settings), origin
    )
    item = build_item(job, 0, new)
    item.replaces = document
    keep_files([item], [new], write=lambda: with_retries(lambda: _insert_replacement(document, job, item)))
    return job


def _is_current_version(document: Document, checksum: str, access: Access) -> bool:
    """Tell if the bytes are those of the latest version. Raises Duplicate for another document's."""
    under_way = with_retries(IngestItem.objects.open().filter(replaces=document.id).first)
    if checksum == (under_way or document).checksum:
        return True
    if checksum == document.checksum:
        with_retries(lambda: _supersede(document.id))  # back to what is there: the newer one is not wanted
        return True
    duplicate = with_retries(lambda: writer.find_duplicate(document.collection_id, checksum))
    if duplicate is not None:
        raise writer.duplicate_error(duplicate, access.reads_as)
    return False


@transaction.atomic
def _insert_replacement(document: Document, job: IngestJob, item: IngestItem) -> None:
    if not execute(_LOCK, [document.id]):
        raise NotFound(f"Document not found: {document.id}")
    _supersede(document.id)
    insert_job(job, [item])


@transaction.atomic
def _supersede(document_id: UUID) -> None:
    execute(_LOCK, [document_id])
    versions = Document.objects.filter(replaces=document_id)
    files = [str(name) for name in versions.values_list("file", flat=True)]
    versions.delete()
    files += [row[0] for row in execute(_SUPERSEDE, [document_id]) if row[0]]
    transaction.on_commit(lambda: storage.remove_files(files))


def _restart_item(document_id: UUID, access: Access, new: NewDocument) -> IngestJob:
    """Restart the item of a document that waits, is being read, or has failed, with these bytes."""
    rows = IngestItem.objects.unstored().allowed_to(access).select_related("job")
    item = with_retries(rows.filter(id=document_id).first)
    if item is None:
        raise NotFound(f"Document not found: {document_id}")
    access.require("write", item.collection_id)
    fresh = build_item(item.job, item.position, new)
    fresh.id = item.id
    keep_files([fresh], [new], write=lambda: with_retries(lambda: _save_restarted(fresh)))
    return item.job


@transaction.atomic
def _save_restarted(fresh: IngestItem) -> None:
    item = IngestItem.objects.unstored().select_for_update().filter(id=fresh.id).first()
    if item is None or Document.objects.filter(id=fresh.id).exists():
        raise NotFound(f"Document not found: {fresh.id}")  # deleted or stored in this very moment
    former = item.file
    fresh.title, fresh.metadata = fresh.title or item.title, fresh.metadata or item.metadata
    fresh.created_at = item.created_at
    fresh.save(force_update=True)
    IngestJob.objects.filter(id=fresh.job_id).update(told_at=None)
    if former and former != fresh.file:
        transaction.on_commit(lambda: storage.remove_file(former))


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
    """Create a job with all documents, or none. Raises Forbidden, NotFound (collection), StorageUnavailable.

    The caller notifies the workers (embeddings.tasks.enqueue_ingest); otherwise the sweep will.
    """
    access.require("write", collection.id)
    job = build_job(collection, access, chunking, origin)
    documents = refuse_duplicates(collection.id, documents, access)
    items = [build_item(job, position, new) for position, new in enumerate(documents)]
    keep_files(items, documents, write=lambda: insert_job(job, items))
    return job


def retry_job(job_id: UUID, *, access: Access) -> int:
    """Retry the job's failed documents; return how many. Raises NotFound, Forbidden.

    Not those that were deleted, or replaced by a newer version, nor duplicates, whose files are not kept: if
    what a duplicate equalled is gone, it says from now on that the file must be sent again.
    """
    access.require("write")
    job = with_retries(IngestJob.objects.allowed_to(access).filter(id=job_id).first)
    if job is None:
        raise NotFound(f"Job not found: {job_id}")
    access.require("write", job.collection_id)
    return with_retries(lambda: _retry(IngestItem.objects.allowed_to(access).filter(job=job_id).retryable()))


def retry_document(document_id: UUID, *, access: Access) -> int:
    """Retry one document, its replacement included; return how many. Raises NotFound, Forbidden."""
    access.require("write")
    items = IngestItem.objects.allowed_to(access).of_document(document_id)
    stored = Document.objects.current().allowed_to(access).filter(id=document_id)
    known = with_retries(stored.first) or with_retries(items.filter(deleted_at=None).first)
    if known is None:
        raise NotFound(f"Document not found: {document_id}")
    access.require("write", known.collection_id)
    return with_retries(lambda: _retry(items.retryable()))


@transaction.atomic
def _retry(items: Any) -> int:
    """Reset items: a stored document needs only vectors, others restart if they have a file or address."""
    ids = list(items.select_for_update().order_by("id").values_list("id", flat=True))
    stored = Document.objects.existing_ids(ids)
    Document.objects.filter(id__in=stored).update(status=Document.Status.PENDING)
    again = IngestItem.objects.filter(id__in=ids)
    fresh = {"error": "", "error_code": "", "ended_at": None, "duplicate_of": None}
    count = again.filter(id__in=stored).update(status="processing", stage="embedding", **fresh)
    readable = again.exclude(id__in=stored).exclude(file="", source_url="")
    again.orphaned_duplicates().update(error_code="NOT_FOUND", error=SEND_AGAIN, duplicate_of=None)
    count += readable.update(
        status="pending", stage="queued", attempts=0, started_at=None, lease=None, leased_until=None, **fresh
    )
    if count:
        IngestJob.objects.filter(id__in=again.open().values("job")).update(told_at=None)
    return count


def forget_finished_jobs() -> int:
    """Delete records of jobs: those that ended well after a week, those with failures after 30 days.

    The documents stay; files that only failed ones had are swept after this. Return how many went.
    """
    now = timezone.now()
    jobs = IngestJob.objects.ended()
    well = jobs.without_failures().filter(created_at__lt=now - KEPT_WELL)
    count = with_retries(lambda: well.delete()[0])
    count += with_retries(lambda: jobs.filter(created_at__lt=now - KEPT_FAILED).delete()[0])
    with_retries(lambda: Document.objects.forgotten_versions().delete())
    return count
