"""Runs of sources: what lies there is listed, compared, taken, and what is gone is deleted.

A run is done in turns of some seconds, each by whichever worker is free, and every step is recorded with what
it did in one transaction: a worker that dies costs the step it was at. The order of the steps saves vectors:
files that are as large as a document whose file is gone or has changed are looked at first, so that a
document moves with its file before anything is read anew; documents are deleted last.
"""

import hashlib
import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError, models, transaction
from django.utils import timezone

from documents.access import Access
from documents.extractors.job import guess_name_kind
from documents.ingest import jobs, writer
from documents.ingest.jobs import NewDocument
from documents.library.collection_settings import read_chunking
from documents.library.storage import StagedUpload, Staging
from documents.models import Document, IngestItem, Source, SourceItem
from documents.sources import queue
from documents.sources.kinds import open_source
from documents.sources.reading import (
    MAX_FILES,
    TOO_MANY,
    FileUnavailable,
    FileVanished,
    SourceFile,
    SourceReader,
    SourceUnavailable,
    find_refusal,
)
from documents.text.characters import clean_filename
from documents.webhooks import SYNC_ENDED, publish
from embeddings.ingest.documents import DeletionReceipt, delete_documents, retry_document
from embeddings.lexical.index import rename_document
from knowlex.base.errors import DependencyUnavailable, Duplicate, KnowlexError, NotFound, PayloadTooLarge
from knowlex.base.ids import new_id
from knowlex.db.leases import LeaseLost
from knowlex.db.threads import Heartbeat, release_connection, with_retries

log = logging.getLogger(__name__)

TURN_S = 5.0
ROWS_AT_ONCE = 500
FILES_AT_ONCE, BYTES_AT_ONCE = 50, 64 * 2**20
REMOVED_AT_ONCE = 10
MAX_FAILURES = 3  # files in a row that cannot be had: then the source is taken for away
FILE_COUNTS = (
    "listed", "known", "unchanged", "added", "replaced", "moved", "present", "skipped", "failed", "gone",
    "deleted",
)  # fmt: skip
DELETED_COUNTS = ("pages", "chunks", "vectors")
# What ends a document for good; what is not among them may end otherwise at the next run.
FINAL_CODES = ("UNPROCESSABLE", "PAYLOAD_TOO_LARGE", "VALIDATION_ERROR")


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """documents: that wait to be read from now on. is_more: whether a run could go on at once."""

    documents: int = 0
    is_more: bool = False

    def __bool__(self) -> bool:
        return self.is_more or self.documents > 0


def run_turn() -> TurnOutcome:
    """Do the work of some seconds on the source that has waited longest.

    Safe to call at any time and in several workers at once. Raises DatabaseUnavailable if none could be
    claimed.
    """
    lease = new_id()
    source = with_retries(lambda: _claim(lease))
    if source is None:
        return TurnOutcome()
    with Heartbeat(lambda: queue.renew(source.id, lease)):
        turn = _Turn(source, lease)
        turn.take()
    return TurnOutcome(turn.brought_in, with_retries(queue.count_due) > 0)


@transaction.atomic
def _claim(lease: UUID) -> Source | None:
    for source in Source.objects.select_related("collection").filter(id__in=queue.give_up_hopeless()):
        _publish_end(source)
    return queue.claim(lease)


def _publish_end(source: Source) -> None:
    told = ("state", "dry_run", "counts", "started_at", "ended_at")
    data = {name: getattr(source, name) for name in told}
    where = {"collection_id": source.collection_id, "collection": source.collection.name}
    error = source.error or None
    publish(SYNC_ENDED, {"source_id": source.id, "name": source.name, **where, **data, "error": error})


@transaction.atomic
def start_due() -> int:
    """Let the sources run whose time has come; return how many nobody holds."""
    queue.start_due()
    return queue.count_due()


@dataclass(slots=True)
class _Read:
    """A file that was read. upload: None where only its checksum was asked for."""

    item: SourceItem
    checksum: str
    size_bytes: int
    upload: StagedUpload | None = None


class _Turn:
    def __init__(self, source: Source, lease: UUID) -> None:
        self._source, self._lease = source, lease
        self._access = _access_of(source)
        self._ends = time.monotonic() + TURN_S
        self._failures = 0
        self.brought_in = 0

    def take(self) -> None:
        source = self._source
        try:
            while time.monotonic() < self._ends and self._step():
                pass
            if source.state == Source.State.RUNNING:
                with_retries(lambda: queue.release(source.id, self._lease))
        except LeaseLost:
            log.info("run given up: deleted or taken over", extra={"source": str(source.id)})
        except SourceUnavailable as exc:
            self._fail(exc.message)
        except DependencyUnavailable as exc:
            if source.attempts >= queue.MAX_ATTEMPTS:
                self._fail(exc.message)
            log.warning("run put off", extra={"source": str(source.id), "reason": exc.message})
        except (OperationalError, InterfaceError) as exc:
            log.warning("run put off", extra={"source": str(source.id), "reason": type(exc).__name__})
        except KnowlexError as exc:
            self._fail(exc.message)
        except Exception:
            log.exception("run failed", extra={"source": str(source.id)})
            self._fail("The run failed because of an internal error.")

    def _step(self) -> bool:
        """Do the next piece of work; return False where there is none for now."""
        stage = Source.Stage
        match self._source.stage:
            case stage.MATCHING:
                return self._match()
            case stage.TAKING:
                return self._take()
            case stage.WAITING:
                return self._settle()
            case stage.REMOVING:
                return self._remove()
        self._list()
        return True

    def _fail(self, error: str) -> None:
        with suppress(LeaseLost):
            with_retries(lambda: self._end(Source.State.FAILED, error))

    @transaction.atomic
    def _end(self, state: str, error: str = "", counts: dict[str, int] | None = None) -> None:
        source, now = self._source, timezone.now()
        again = None if source.every_minutes is None else now + timedelta(minutes=source.every_minutes)
        counted = {} if counts is None else {"counts": counts}
        self._record(
            state=state, stage="", error=error, ended_at=now, next_run_at=again, confirmed_at=None,
            lease=None, leased_until=None, **counted,
        )  # fmt: skip
        _publish_end(Source.objects.select_related("collection").get(id=source.id))

    def _record(self, **changes: Any) -> None:
        queue.record(self._source, self._lease, **changes)

    def _count(self, **more: int) -> dict[str, int]:
        """Return the counts with so much more of each."""
        counts = {**self._source.counts}
        for name, number in more.items():
            counts[name] = counts.get(name, 0) + number
        return counts

    # Listing

    def _list(self) -> None:
        """List all files, as one step: half a list would look as if the other half were gone."""
        source = self._source
        with_retries(lambda: self._begin_list(source.run + 1))
        with open_source(source) as reader:
            batch: dict[str, SourceFile] = {}
            count = 0
            for file in reader.list_files():
                count += not file.is_folder
                if count > MAX_FILES:
                    raise SourceUnavailable(TOO_MANY)
                batch[file.path] = file
                if len(batch) == ROWS_AT_ONCE:
                    with_retries(partial(self._store_list, batch, count))
                    batch = {}
            with_retries(partial(self._store_list, batch, count))
        with_retries(self._compare)

    @transaction.atomic
    def _begin_list(self, run: int) -> None:
        self._record(
            stage=Source.Stage.LISTING, run=run, counts=dict.fromkeys((*FILE_COUNTS, *DELETED_COUNTS), 0)
        )

    @transaction.atomic
    def _store_list(self, batch: dict[str, SourceFile], count: int) -> None:
        self._record(counts={**self._source.counts, "listed": count})
        limit = settings.MAX_UPLOAD_BYTES
        files = [
            (new_id(), file.path, file.size_bytes, file.version, find_refusal(file, max_bytes=limit))
            for file in batch.values()
            if not file.is_folder
        ]
        if files:
            queue.store_list(self._source, files)
        for file in batch.values():
            if file.is_folder:
                queue.keep_below(self._source, file.path)

    @transaction.atomic
    def _compare(self) -> None:
        unchanged = queue.compare_list(self._source)
        known = queue.count_items(self._source)[0]
        counts = {**self._source.counts, "unchanged": unchanged, "known": known}
        self._record(stage=Source.Stage.MATCHING, counts=counts)

    # Matching: documents move with their files

    def _match(self) -> bool:
        items = self._next_items(SourceItem.Step.CANDIDATE)
        if not items:
            with_retries(lambda: self._record(stage=Source.Stage.TAKING))
            return True
        with open_source(self._source) as reader:
            for item in items:
                read = self._read(reader, item, stage=None)
                with_retries(partial(self._store_match, item, read))
                if time.monotonic() >= self._ends:
                    break
        return True

    @transaction.atomic
    def _store_match(self, item: SourceItem, read: "_Read | str") -> None:
        self._record()
        item.refresh_from_db()  # it may be the second try
        if isinstance(read, str):
            _refuse(item, read)
        elif outcome := self._place(read):
            self._record(counts=self._count(**{outcome: 1}))
        else:
            item.step = SourceItem.Step.LISTED
            item.save(update_fields=["step"])

    # Taking: what is new or has changed

    def _take(self) -> bool:
        items = self._next_items(SourceItem.Step.LISTED)
        if not items:
            with_retries(lambda: self._record(stage=Source.Stage.WAITING))
            return True
        reads: list[_Read | tuple[SourceItem, str]] = []
        with ExitStack() as stack, open_source(self._source) as reader:
            size = 0
            for item in items:
                read = self._read(reader, item, stage=stack)
                reads.append((item, read) if isinstance(read, str) else read)
                size += 0 if isinstance(read, str) else read.size_bytes
                if size >= BYTES_AT_ONCE or time.monotonic() >= self._ends:
                    break
            # Not tried again here: the files are moved to their places, once.
            with transaction.atomic():
                self._store_taken(reads)
        return with_retries(lambda: queue.count_open(self._source)) < queue.OPEN_AT_ONCE

    def _store_taken(self, reads: Sequence["_Read | tuple[SourceItem, str]"]) -> None:
        self._record()
        tally: Counter[str] = Counter()
        new: list[_Read] = []
        for read in reads:
            if isinstance(read, tuple):
                _refuse(*read)
                continue
            read.item.refresh_from_db()  # one before it may have taken its document
            if any(other.checksum == read.checksum for other in new):
                new.append(read)
                tally["present"] += 1
            else:
                outcome = self._place(read) or self._replace(read) or "added"
                tally[outcome] += 1
                if outcome == "added":
                    new.append(read)
        if self._source.dry_run:
            for read in new:
                _done(read.item, "added")
        elif new:
            self._ingest(new)
        self._record(counts=self._count(**tally))

    def _ingest(self, new: Sequence[_Read]) -> None:
        """Bring in new documents, as a job; of equal files one."""
        firsts = {read.checksum: read for read in reversed(new)}
        source = self._source
        job = jobs.create_job(
            access=self._access,
            collection=source.collection,
            documents=[_new_document(read) for read in firsts.values()],
            chunking=read_chunking(source.collection.settings),
            origin="source",
        )
        ids = dict(IngestItem.objects.filter(job=job).values_list("checksum", "id"))
        for read in new:
            self._point(read, ids[read.checksum], owned=True, item=ids[read.checksum])
        self.brought_in += len(firsts)

    def _replace(self, read: _Read) -> str:
        """Bring in a new version of the file's document, if that is this file's alone; else return ""."""
        item = read.item
        if not item.owned or item.document is None or _others(item).exists():
            return ""
        if self._source.dry_run:
            return _done(item, "replaced")
        try:
            job = jobs.replace_document(
                item.document, access=self._access, new=_new_document(read), origin="source"
            )
        except NotFound:  # deleted by hand
            return ""
        except Duplicate as exc:  # somebody has just brought it in by hand
            known = exc.details.get("documentId")
            self._point(read, UUID(str(known)), owned=False)
            return "present"
        latest = item.item_id
        if job is not None:
            self.brought_in += 1
            replaced = IngestItem.objects.filter(job=job)
            rows = replaced.filter(replaces=item.document) | replaced.filter(id=item.document)
            latest = rows.values_list("id", flat=True).first()
        self._point(read, item.document, owned=True, item=latest)
        return "replaced"

    def _place(self, read: _Read) -> str:
        """Point the file to the document that has its bytes; return what to count it as, "" if there is none.

        A document of a file that is gone, or is to be read anew, moves; one of another file is shared.
        """
        item, source = read.item, self._source
        if item.checksum == read.checksum and _is_there(item):
            return self._touch(read)
        others = SourceItem.objects.filter(
            source__collection=source.collection_id, checksum=read.checksum, owned=True
        ).exclude(models.Q(id=item.id) | models.Q(state=SourceItem.State.FAILED))
        movable: SourceItem | None = None
        for other in others.order_by("path", "id")[:100]:
            if not _is_there(other):
                continue
            settled = other.listed_in == source.run and other.step in ("done", "")
            if other.source_id != source.id or (other.path is not None and settled):
                return self._share(read, other)
            movable = movable or other
        if movable is not None:
            return self._move(read, movable)
        present = writer.find_duplicate(source.collection_id, read.checksum)
        if present is None:
            return ""
        if not source.dry_run:
            owned = SourceItem.objects.filter(document=present.id, owned=True).exists()
            self._point(read, present.id, owned=owned)
        return _done(item, "present")

    def _touch(self, read: _Read) -> str:
        item = read.item
        if self._source.dry_run:
            pass
        elif item.state == SourceItem.State.FAILED and item.item_id:  # for good: the same bytes
            item.version = item.listed_version
            item.save(update_fields=["version"])
        else:
            if item.state == SourceItem.State.FAILED and item.document:
                with suppress(NotFound):
                    self.brought_in += retry_document(item.document, access=self._access)
            self._point(read, item.document, owned=item.owned, item=item.item_id or item.document)
        return _done(item, "unchanged")

    def _share(self, read: _Read, other: SourceItem) -> str:
        if not self._source.dry_run:
            self._point(read, other.document, owned=True, item=other.item_id)
        return _done(read.item, "present")

    def _move(self, read: _Read, other: SourceItem) -> str:
        """Give the file the document of another one; what its new name makes another format is read anew."""
        item = read.item
        if self._source.dry_run:
            other.step = SourceItem.Step.MATCHED if other.listed_in < self._source.run else other.step
            other.save(update_fields=["step"])
            return _done(item, "moved")
        document, latest = other.document, other.item_id
        assert document is not None
        is_gone = other.path is None or other.listed_in < self._source.run
        if is_gone and _tells_other_format(document, str(item.path)):
            SourceItem.objects.filter(document=document).update(document=None, owned=False, version="")
            delete_documents([document], access=self._access)
            return ""
        if is_gone:
            other.delete()
        else:
            other.document, other.owned, other.version, other.checksum = None, False, "", ""
            other.save(update_fields=["document", "owned", "version", "checksum"])
        self._point(read, document, owned=True, item=latest)
        _rename(document, str(item.path))
        return "moved"

    def _point(self, read: _Read, document: UUID | None, *, owned: bool, item: UUID | None = None) -> None:
        """Record which document has the file's bytes; the one that it had stays until the end of the run."""
        row = read.item
        if row.owned and row.document not in (None, document):
            if _others(row).exists():
                _rename_without(row)
            else:
                SourceItem.objects.create(
                    source=self._source, path=None, document=row.document, owned=True, state=row.state,
                    checksum=row.checksum, size_bytes=row.size_bytes, item_id=row.item_id,
                )  # fmt: skip
        row.document, row.owned, row.item_id = document, owned, item
        row.state = SourceItem.State.TAKEN if owned else SourceItem.State.PRESENT
        row.checksum, row.size_bytes = read.checksum, read.size_bytes
        row.version, row.reason = row.listed_version, ""
        row.step = SourceItem.Step.DONE
        row.save()

    # Waiting until all is read, and what became of it

    def _settle(self) -> bool:
        if with_retries(lambda: queue.count_open(self._source)):
            return False
        with_retries(self._record_failures)
        return True

    @transaction.atomic
    def _record_failures(self) -> None:
        self._record(stage=Source.Stage.REMOVING)
        failed = SourceItem.objects.filter(
            source=self._source, item__status="failed", path__isnull=False
        ).exclude(state=SourceItem.State.FAILED)
        for row in failed.select_related("item"):
            _record_failure(self._source, row)

    # Removing what is gone

    def _remove(self) -> bool:
        source = self._source
        _, gone, unconfirmed, refused, failed = with_retries(lambda: queue.count_items(source))
        is_too_much = unconfirmed > queue.LOST * max(source.counts.get("known", 0), 1)
        if source.dry_run:
            counts = {**source.counts, "gone": gone, "skipped": refused, "failed": failed}
            asks = SourceItem.objects.filter(source=source, gone_at__isnull=False)
            state = Source.State.ASKING if with_retries(asks.exists) else Source.State.COMPLETED
            return self._finish(state, counts)
        batch = with_retries(
            lambda: queue.find_removable(source, everything=not is_too_much, limit=REMOVED_AT_ONCE)
        )
        if batch:
            with_retries(lambda: self._remove_batch(batch))
            return True
        counts = {**source.counts, "gone": gone, "skipped": refused, "failed": failed}
        if gone:
            with_retries(lambda: queue.ask_about_gone(source))
        return self._finish(Source.State.ASKING if gone else Source.State.COMPLETED, counts)

    @transaction.atomic
    def _remove_batch(self, batch: Sequence[UUID]) -> None:
        self._record()
        rows = list(SourceItem.objects.filter(id__in=batch))
        orphaned = queue.find_orphaned(list(batch))
        receipt = delete_documents(orphaned, access=self._access) if orphaned else DeletionReceipt()
        for row in rows:
            _rename_without(row)
        SourceItem.objects.filter(id__in=batch).delete()
        more = {"deleted": receipt.documents, "pages": receipt.pages, "chunks": receipt.chunks}
        self._record(counts=self._count(**more, vectors=receipt.vectors))

    def _finish(self, state: str, counts: dict[str, int]) -> bool:
        error = ""
        if state == Source.State.ASKING and not self._source.dry_run:
            error = (
                f"{counts['gone']} of {counts['known']} files are gone, so nothing was deleted. If that is "
                "right, confirm it; if not, see whether the source is there as it should be."
            )
        with_retries(lambda: self._end(state, error, counts))
        log.info("source in sync", extra={"source": str(self._source.id), **_logged(counts)})
        return False

    # Reading

    def _next_items(self, step: str) -> list[SourceItem]:
        rows = SourceItem.objects.filter(source=self._source, step=step, listed_in=self._source.run)
        items = with_retries(lambda: list(rows.order_by("path")[:FILES_AT_ONCE]))
        release_connection()
        return items

    def _read(self, reader: SourceReader, item: SourceItem, *, stage: ExitStack | None) -> "_Read | str":
        """Read a file; return why that failed. stage: keeps the copy; None to learn the checksum only.

        Raises SourceUnavailable after several files in a row that cannot be had.
        """
        try:
            read = self._read_once(reader, item, stage)
            self._failures = 0
            return read
        except FileVanished:
            return "It went while the source was read."
        except PayloadTooLarge as exc:
            return exc.message
        except FileUnavailable as exc:
            self._failures += 1
            if self._failures >= MAX_FAILURES:
                raise SourceUnavailable(
                    f"{MAX_FAILURES} files in a row cannot be read. {exc.message}"
                ) from exc
            return exc.message

    def _read_once(self, reader: SourceReader, item: SourceItem, stage: ExitStack | None) -> "_Read":
        limit = settings.MAX_UPLOAD_BYTES
        with reader.open(str(item.path)) as blocks:
            if stage is not None:
                staging = stage.enter_context(Staging(max_bytes=limit))
                for block in blocks:
                    staging.write(block)
                upload = staging.finish()
                return _Read(item, upload.checksum, upload.size_bytes, upload)
            digest, size = hashlib.sha256(), 0
            for block in blocks:
                digest.update(block)
                size += len(block)
                if size > limit:
                    raise PayloadTooLarge(f"File exceeds {limit // 2**20} MB limit.")
            return _Read(item, digest.hexdigest(), size)


def _done(item: SourceItem, outcome: str) -> str:
    item.step = SourceItem.Step.DONE
    item.save(update_fields=["step"])
    return outcome


def _refuse(item: SourceItem, reason: str) -> None:
    """Leave a file that cannot be had now to the next run; its document stays."""
    item.state, item.reason, item.version, item.item_id = SourceItem.State.FAILED, reason, "", None
    item.step = SourceItem.Step.DONE
    item.save(update_fields=["state", "reason", "version", "item", "step"])


def describe_counts(counts: Mapping[str, int]) -> str:
    """Return the counts of a run for a person, "" if there are none."""
    told = [f"{counts[name]:,} {name}" for name in FILE_COUNTS if counts.get(name)]
    if counts.get("deleted"):
        went = " and ".join(f"{counts.get(name, 0):,} {name}" for name in DELETED_COUNTS)
        told.append(f"with {went}")
    return ", ".join(told)


def _access_of(source: Source) -> Access:
    """Return full access under which documents belong to whoever made the source."""
    kind, _, id_ = source.brought_by.partition(":")
    if kind == "account":
        return Access("admin", None, user_id=int(id_), is_superuser=True)
    return Access("admin", None, key_id=UUID(id_) if id_ else None)


def _new_document(read: _Read) -> NewDocument:
    return NewDocument("file", _filename(str(read.item.path)), upload=read.upload)


def _filename(path: str) -> str:
    return clean_filename(PurePosixPath(path).name)


def _others(item: SourceItem) -> Any:
    """Select the other files of all sources that have the same document."""
    return SourceItem.objects.filter(document=item.document).exclude(id=item.id)


def _is_there(item: SourceItem) -> bool:
    """Tell if the document that the file has is stored or on its way, with these bytes if it is not ours."""
    if item.document is None:
        return False
    stored = Document.objects.current().filter(id=item.document)
    if not item.owned:
        return stored.filter(checksum=item.checksum).exists()
    return stored.exists() or IngestItem.objects.filter(id=item.document, deleted_at__isnull=True).exists()


def _tells_other_format(document_id: UUID, path: str) -> bool:
    """Tell if a text would be read in another way by the name that it has now."""
    row: Any = (
        Document.objects.filter(id=document_id).values_list("original_filename", flat=True).first()
        or IngestItem.objects.filter(id=document_id).values_list("filename", flat=True).first()
    )
    return guess_name_kind(str(row or path)) != guess_name_kind(path)


def _rename(document_id: UUID, path: str) -> None:
    """Give a document, stored or on its way, the name that its file has now."""
    IngestItem.objects.filter(id=document_id).update(filename=_filename(path))
    rename_document(document_id, _filename(path))


def _rename_without(former: SourceItem) -> None:
    """Where a document has the name of a file that leaves it to others, give it the name of one of them."""
    if former.document is None or former.path is None or not former.owned:
        return
    named_so = Document.objects.filter(id=former.document, original_filename=_filename(former.path))
    if named_so.exists():
        other = _others(former).filter(path__isnull=False).order_by("-listed_in", "path").first()
        if other is not None:
            _rename(former.document, str(other.path))


def _record_failure(source: Source, row: SourceItem) -> None:
    """Record on the file why its document could not be read, or which document has its bytes already."""
    item: Any = row.item
    if item.error_code == "SUPERSEDED":  # by hand
        return
    if item.error_code == "DUPLICATE" and item.duplicate_of:
        former = row.document
        owner = SourceItem.objects.filter(document=item.duplicate_of, owned=True).exists()
        row.document, row.owned, row.item_id = item.duplicate_of, owner, None
        row.state = SourceItem.State.TAKEN if owner else SourceItem.State.PRESENT
        row.save()
        if former != item.id and not SourceItem.objects.filter(document=former).exists():
            SourceItem.objects.create(source=source, path=None, document=former, owned=True)
        return
    row.state, row.reason = SourceItem.State.FAILED, item.error
    if item.error_code not in FINAL_CODES:
        row.version, row.item_id = "", None  # so that the next run looks at it again
    row.save(update_fields=["state", "reason", "version", "item"])


def _logged(counts: dict[str, int]) -> dict[str, int]:
    return {f"files_{name}": number for name, number in counts.items() if number}
