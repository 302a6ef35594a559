"""What jobs and replacements are taken on with: their rows, and their files at their places."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from documents.access.scopes import Access
from documents.ingest import writer
from documents.library import storage
from documents.library.storage import StagedUpload
from documents.models import Collection, Document, IngestItem, IngestJob
from documents.types import ChunkingSettings
from knowlex.base.errors import InvalidInput, KnowlexError, NotFound
from knowlex.db.threads import with_retries

ROWS_PER_INSERT = 500


@dataclass(frozen=True, slots=True)
class NewDocument:
    """One document to be ingested.

    filename: cleaned; "" only for a url. upload: of a file or a text, staged; it is moved to its place.
    error: why it was refused at the door; it is recorded as failed with this reason.
    """

    source_type: Literal["file", "url", "text"]
    filename: str
    upload: StagedUpload | None = None
    url: str = ""
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    error: KnowlexError | None = None


def new_job(collection: Collection, access: Access, chunking: ChunkingSettings, origin: str) -> IngestJob:
    return IngestJob(collection=collection, settings=asdict(chunking), origin=origin, key_id=access.key_id)


def new_item(job: IngestJob, position: int, new: NewDocument) -> IngestItem:
    """The row, without its file yet."""
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
    refused = refusal(new)
    if refused:
        item.status, item.stage, item.ended_at = item.Status.FAILED, item.Stage.ENDED, timezone.now()
        item.error_code, item.error = refused.code, refused.message
        item.duplicate_of = refused.details.get("documentId")
    return item


def keep_files(
    items: Sequence[IngestItem], documents: Sequence[NewDocument], *, write: Callable[[], None]
) -> None:
    """Files to their places, then the rows; of rows that are certainly not there the files go again."""
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
                    storage.remove(item.file)
        raise


def refuse_known(collection_id: UUID, documents: Sequence[NewDocument]) -> list[NewDocument]:
    """The same, those refused whose bytes the collection has already: their files are not even kept."""
    sums = {new.upload.checksum for new in documents if new.upload and not new.error}
    rows = Document.objects.current().filter(collection_id=collection_id, checksum__in=sums)
    known = with_retries(lambda: dict(rows.values_list("checksum", "id"))) if sums else {}
    return [
        replace(new, error=writer.duplicate(known[new.upload.checksum]))
        if new.upload and not new.error and new.upload.checksum in known
        else new
        for new in documents
    ]


def refusal(new: NewDocument) -> KnowlexError | None:
    """Why it is not taken on; None if it is."""
    if new.error:
        return new.error
    if new.upload and new.upload.size_bytes == 0:
        return InvalidInput("File is empty.", field="content")
    return None


def insert(job: IngestJob, items: Sequence[IngestItem]) -> None:
    def attempt() -> None:
        try:
            with transaction.atomic():
                job.save(force_insert=True)
                IngestItem.objects.bulk_create(items, batch_size=ROWS_PER_INSERT)
        except IntegrityError as exc:
            if not IngestJob.objects.filter(id=job.id).exists():  # else our own COMMIT arrived before
                raise NotFound("Collection not found.", details={"field": "collection"}) from exc

    with_retries(attempt)
