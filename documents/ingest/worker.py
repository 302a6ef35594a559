"""The worker of ingest jobs: a document from its bytes to stored chunks. Every outcome is recorded."""

import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction

from documents.extractors.failures import ATTACHMENTS_LEFT_OUT
from documents.ingest import jobs, queue, writer
from documents.ingest.jobs import NewDocument
from documents.library import storage
from documents.library.storage import Staging
from documents.models import Document, IngestItem
from documents.text.characters import clean_filename
from documents.types import ALL_SOURCES, Attachment, ChunkDraft, ChunkingSettings, Extraction, ReadingProgress
from knowlex.base.errors import (
    DatabaseUnavailable,
    DependencyUnavailable,
    FilesUnavailable,
    Forbidden,
    KnowlexError,
    NotFound,
)
from knowlex.base.ids import new_id
from knowlex.db.leases import LeaseLost
from knowlex.db.threads import Heartbeat, with_retries

PROGRESS_EVERY_S = 1.0
FILE_WITHIN = timedelta(minutes=2)  # of the first claim, a worker that has the file has claimed it
FILE_GONE = (
    "The document's file is not where the workers look for it ({place}, which web servers and workers must "
    "share)."
)
log = logging.getLogger(__name__)


def run_next() -> UUID | None:
    """Read and store the most urgent document; return its id if it is stored and so needs vectors.

    None if there is nothing to do, or the document failed, which its item records. Keeps its database
    connection, since a new one costs 10 ms of CPU. Raises DatabaseUnavailable if none could be claimed.
    """
    lease = new_id()
    item = with_retries(lambda: _claim(lease))
    if item is None:
        return None
    with Heartbeat(lambda: queue.renew(item, lease)):
        return _DocumentRun(item, lease).run()


@transaction.atomic
def _claim(lease: UUID) -> IngestItem | None:
    return queue.claim(lease)


class _FileNotFound(Exception):
    """The file came to a web server with another folder, was deleted in this moment, or is lost."""


class _DocumentRun:
    """One attempt at a document that a worker has claimed."""

    def __init__(self, item: IngestItem, lease: UUID) -> None:
        self.item, self.lease = item, lease
        self._written_at = time.monotonic()

    def run(self) -> UUID | None:
        try:
            self._store()
        except LeaseLost:
            log.info("document given up: it was deleted or taken over", extra={"item": str(self.item.id)})
        except _FileNotFound:
            self._leave()
        except FilesUnavailable as exc:
            log.warning("document put back", extra={"item": str(self.item.id), "reason": exc.message})
            self._end(lambda: queue.hand_over(self.item, self.lease))  # however long it takes
        except DependencyUnavailable as exc:
            self._try_later(exc)
        except KnowlexError as exc:
            self._fail(exc.code, exc.message, duplicate_of=exc.details.get("documentId"))
        except Exception:
            log.exception("document failed", extra={"item": str(self.item.id)})
            self._fail("INTERNAL_ERROR", "The document could not be processed because of an internal error.")
        else:
            return self.item.id
        return None

    def _store(self) -> None:
        if not self.item.file:
            self._fetch()
        self._refuse_duplicate()
        if not storage.has_file(self.item.file):
            raise _FileNotFound
        size = self.item.size_bytes or settings.MAX_UPLOAD_BYTES
        try:
            with storage.local_copy(self.item.file, size_bytes=size) as path:
                extraction = writer.read_file(
                    path,
                    filename=self.item.filename,
                    sources=ALL_SOURCES,
                    on_progress=self._on_progress,
                    patient=True,
                )
        except FileNotFoundError as exc:
            raise _FileNotFound from exc
        chunking = ChunkingSettings(**self.item.job.settings)
        if chunking.strategy == "semantic":  # takes as long as embedding
            self._written_at = 0.0
        self._on_progress(ReadingProgress(len(extraction.pages), len(extraction.pages)), stage="chunking")
        drafts = writer.split_text(extraction, chunking)
        self._write(extraction, drafts)

    def _refuse_duplicate(self) -> None:
        item = self.item
        duplicate = with_retries(lambda: writer.find_duplicate(item.collection_id, item.checksum))
        if duplicate is not None:
            raise writer.duplicate_error(duplicate, writer.reads_as_bringer(item.job.brought_by))

    def _fetch(self) -> None:
        """Fetch a document from the web, once: it is the item's file from then on, also for a retry."""
        from documents.ingest.fetching import fetch  # not before the first address: it brings an HTTP client

        item = self.item
        if not item.source_url:
            raise NotFound("The document's file is gone.")
        if not settings.URL_INGEST:
            raise Forbidden("Documents are not fetched from the web here: KNOWLEX_URL_INGEST is off.")
        with Staging(max_bytes=settings.MAX_UPLOAD_BYTES) as staging:
            fetched = fetch(item.source_url, staging, allowed_hosts=settings.URL_ALLOWED_HOSTS)
            upload = staging.finish()
            item.filename = item.filename or clean_filename(fetched.filename)
            item.checksum, item.size_bytes = upload.checksum, upload.size_bytes
            item.file = storage.keep_for_item(item.id, item.filename, upload)
            with_retries(lambda: queue.record_fetched(item, self.lease))

    def _on_progress(self, progress: ReadingProgress, stage: str = "extracting") -> None:
        """Record progress about once a second; a short absence of the database does not end the reading."""
        if time.monotonic() - self._written_at < PROGRESS_EVERY_S:
            return
        self._written_at = time.monotonic()
        with suppress(DatabaseUnavailable):
            with_retries(lambda: self._record_progress(stage, progress.pages_done, progress.pages_total))

    def _record_progress(self, stage: str, done: int, total: int) -> None:
        queue.record_progress(self.item, self.lease, stage=stage, done=done, total=total)

    def _write(self, extraction: Extraction, drafts: list[ChunkDraft]) -> None:
        item = self.item
        document = writer.build_document(
            extraction,
            drafts,
            id=item.id,
            collection=item.collection,
            brought_by=item.job.brought_by,
            replaces_id=item.replaces_id,
            source_url=item.source_url,
            original_filename=item.filename,
            title=item.title,
            metadata=item.metadata,
            checksum=item.checksum,
            size_bytes=item.size_bytes,
            file=item.file,
            created_at=item.created_at,  # so that no list is reordered when the document is there
        )
        with self._stage_attachments(document, extraction.attachments) as attached:
            items = jobs.build_attachments(item, attached)
            jobs.keep_files(
                items,
                attached,
                write=lambda: writer.write_document(
                    document, extraction, drafts, last=lambda: self._hand_over(document, items)
                ),
            )

    @contextmanager
    def _stage_attachments(
        self, document: Document, attachments: Sequence[Attachment]
    ) -> Iterator[list[NewDocument]]:
        """Yield what becomes documents of the files of a mail; the mail says if some are left out."""
        room = jobs.count_room(self.item.job_id) if attachments else 0
        if jobs.mail_depth(self.item) >= jobs.MAX_MAIL_DEPTH:
            room = 0
        if len(attachments) > room and ATTACHMENTS_LEFT_OUT not in document.warnings:
            document.warnings.append(ATTACHMENTS_LEFT_OUT)
        with ExitStack() as stack:
            documents = []
            for attachment in attachments[:room]:
                staging = stack.enter_context(Staging(max_bytes=settings.MAX_UPLOAD_BYTES))
                staging.write(attachment.data)
                documents.append(NewDocument("file", attachment.filename, staging.finish()))
            yield documents

    def _hand_over(self, document: Document, attached: Sequence[IngestItem]) -> None:
        """Record in the transaction that stores the document that no worker holds the item any more."""
        if attached:
            jobs.insert_attachments(self.item.job_id, attached)
        queue.record_stored(
            self.item,
            self.lease,
            title=document.title,
            pages=document.page_count,
            chunks=document.chunk_count,
            warnings=json.dumps(document.warnings),
        )

    def _try_later(self, exc: DependencyUnavailable) -> None:
        if self.item.attempts >= queue.MAX_ATTEMPTS:
            self._fail(exc.code, exc.message)
        else:
            self._end(lambda: queue.postpone(self.item, self.lease))

    def _leave(self) -> None:
        """Leave the item to workers that have its file; fail it if none came in time."""
        log.error(
            "document left to other workers",
            extra={"item": str(self.item.id), "reason": storage.describe_other_folder()},
        )
        waited = queue.waited_before_claim(self.item)
        if waited > FILE_WITHIN and not storage.is_other_folder(missing=[self.item.file]):
            self._fail(NotFound.code, FILE_GONE.format(place=storage.file_store().place))
        else:
            self._end(lambda: queue.hand_over(self.item, self.lease))

    def _fail(self, code: str, error: str, duplicate_of: object = None) -> None:
        duplicate = UUID(str(duplicate_of)) if duplicate_of else None
        ended = self._end(
            lambda: queue.fail(self.item, self.lease, code=code, error=error, duplicate_of=duplicate)
        )
        if ended and duplicate and self.item.file:
            storage.remove_file(self.item.file)

    def _end(self, record: Callable[[], None]) -> bool:
        """Record an outcome; if that fails now, the lease ends, and the document is read again."""
        try:
            with_retries(record)
            return True
        except LeaseLost:
            log.info("outcome of no interest: deleted or taken over", extra={"item": str(self.item.id)})
        except DatabaseUnavailable as exc:
            log.warning("outcome not recorded", extra={"item": str(self.item.id), "reason": exc.message})
        return False
