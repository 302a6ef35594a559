"""Many files into a collection: jobs of bounded size, a few at a time, and what became of each file."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Literal
from uuid import UUID

from django.conf import settings

from documents.access import FULL
from documents.ingest.folders import ListedFile
from documents.ingest.jobs import NewDocument, create_job
from documents.library.storage import Staging
from documents.models import Collection
from documents.text.characters import clean_filename
from documents.types import ChunkingSettings
from embeddings import services
from embeddings.external import delivery
from embeddings.ingest import documents
from embeddings.ingest.job_reports import ItemReport, JobReport, job_report
from knowlex.base.errors import DatabaseUnavailable, KnowlexError, PayloadTooLarge
from knowlex.db.pool import close_pool
from knowlex.runtime import liveness

Outcome = Literal["taken", "duplicate", "failed"]


@dataclass(frozen=True, slots=True)
class FileResult:
    """document_id: of the document that holds the bytes, None for a failure. reason: of a failure."""

    path: str
    outcome: Outcome
    document_id: UUID | None = None
    reason: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestTotals:
    """ended: files, failures and duplicates included."""

    ended: int = 0
    pages: int = 0
    chunks: int = 0
    embedded: int = 0

    def plus(self, report: JobReport) -> "IngestTotals":
        return IngestTotals(
            self.ended + report.processed,
            self.pages + report.pages_done,
            self.chunks + report.chunks_made,
            self.embedded + report.chunks_embedded,
        )


def file_result(path: Path, item: ItemReport) -> FileResult:
    if item.status == "completed":
        return FileResult(printable_path(path), "taken", item.id, warnings=tuple(item.warnings))
    if item.error_code == "DUPLICATE":
        return FileResult(printable_path(path), "duplicate", item.duplicate_of)
    return FileResult(printable_path(path), "failed", reason=item.error)


def printable_path(path: Path) -> str:
    """Return the path as it can be printed: a name may hold any bytes, those that steer a terminal too."""
    text = str(path).encode(errors="surrogateescape").decode(errors="replace")
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


DOCUMENTS_PER_JOB, BYTES_PER_JOB, OPEN_JOBS = 50, 256 * 2**20, 4
BLOCK = 256 * 1024
POLL_S, MAX_POLL_S, LOOK_FOR_WORKERS_S = 0.25, 2.0, 1.0
POLL_SHARE = 1 / 20  # of the time at most is spent on looking: each look counts all vectors of the open jobs
PATIENCE_S = 60.0  # with a database that is away


@dataclass(slots=True)
class _OpenJob:
    paths: list[Path]
    report: JobReport | None = None


@dataclass(slots=True)
class BulkIngest:
    """Used as a context manager. Jobs that were taken on go on, whatever becomes of this object.

    enqueue: tells the workers of so many documents. on_alone: called once, when no worker is alive and the
    work is done here.
    """

    collection: Collection
    chunking: ChunkingSettings
    enqueue: Callable[[int], None]
    on_alone: Callable[[], None]
    numbers: IngestTotals = field(default_factory=IngestTotals)
    open: dict[UUID, _OpenJob] = field(default_factory=dict)
    _done: IngestTotals = field(default_factory=IngestTotals)
    _alone: bool = False
    _alive: int = 1
    _looked_at: float = 0.0
    _runner: asyncio.Runner = field(default_factory=asyncio.Runner)

    def __enter__(self) -> "BulkIngest":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.run(close_pool())
        self._runner.close()

    def submit(self, files: Iterable[ListedFile]) -> Iterator[FileResult | UUID]:
        """Take files on, a job at a time; yields the job's id, and the results of files that are in no job.

        Raises StorageUnavailable, DatabaseUnavailable.
        """
        waiting = iter(files)
        for first in waiting:
            paths: list[Path] = []
            with ExitStack() as stack:
                batch: list[NewDocument] = []
                for candidate in chain([first], waiting):
                    found = self._staged(candidate, stack)
                    if isinstance(found, FileResult):
                        yield found
                    else:
                        batch.append(found)
                        paths.append(candidate.path)
                    if _is_full(batch):
                        break
                if batch:
                    yield self._begin(batch, paths)

    def _begin(self, batch: list[NewDocument], paths: list[Path]) -> UUID:
        job = create_job(
            access=FULL,
            collection=self.collection,
            documents=batch,
            chunking=self.chunking,
            origin="command",
        )
        self.open[job.id] = _OpenJob(paths)
        self.enqueue(len(batch))
        return job.id

    def _staged(self, candidate: ListedFile, stack: ExitStack) -> NewDocument | FileResult:
        """A file that is too large is a failed document of its job; one that cannot be read is in no job."""
        path, name = candidate.path, clean_filename(candidate.path.name)
        if candidate.problem:
            return self._failed(path, candidate.problem)
        staging = stack.enter_context(Staging(max_bytes=settings.MAX_UPLOAD_BYTES))
        try:
            with path.open("rb") as file:
                while block := file.read(BLOCK):
                    staging.write(block)
        except PayloadTooLarge as exc:
            return NewDocument("file", name, error=exc)
        except OSError as exc:
            return self._failed(path, f"It cannot be read: {exc.strerror or type(exc).__name__}.")
        return NewDocument("file", name, upload=staging.finish())

    def _failed(self, path: Path, reason: str) -> FileResult:
        self._done = replace(self._done, ended=self._done.ended + 1)
        return FileResult(printable_path(path), "failed", reason=reason)

    def wait(self, *, for_room: bool = False) -> Iterator[list[FileResult]]:
        """Yield results of jobs that have ended, [] in between, until all have (or there is room for one)."""
        since, took = time.monotonic(), 0.0
        while len(self.open) >= (OPEN_JOBS if for_room else 1):
            looked_at = time.monotonic()
            try:
                results = self._look()
                since = time.monotonic()
                took = since - looked_at
                yield results
            except DatabaseUnavailable:
                if time.monotonic() - since > PATIENCE_S:
                    raise
            if not (self._nobody_works() and self._work_here()):
                time.sleep(min(MAX_POLL_S, max(POLL_S, took / POLL_SHARE)))

    def _look(self) -> list[FileResult]:
        results: list[FileResult] = []
        for job_id, job in list(self.open.items()):
            job.report = self._runner.run(job_report(job_id, access=FULL))
            if job.report.processed == job.report.total:
                pairs = zip(job.paths, job.report.items, strict=True)
                results += [file_result(path, item) for path, item in pairs]
                self._done = self._done.plus(job.report)
                del self.open[job_id]
        self.numbers = self._done
        for job in self.open.values():
            self.numbers = self.numbers.plus(job.report) if job.report else self.numbers
        return results

    def _nobody_works(self) -> bool:
        if time.monotonic() - self._looked_at > LOOK_FOR_WORKERS_S:
            self._alive, self._looked_at = liveness.count_alive_now(), time.monotonic()
        if not self._alive and not self._alone and self.open:
            self._alone = True
            self.on_alone()
        return not self._alive

    def _work_here(self) -> bool:
        """Do what a worker would do next; return False if there is nothing to do."""
        try:
            batches = documents.run_next()
            if not batches:
                lost, unread = services.sweep()
                batches = tuple(lost)
                if not batches:
                    return delivery.deliver_once() or bool(unread)
            for batch in batches:
                services.embed_batch(batch)
        except KnowlexError:
            return False  # recorded, or tried again at the next look
        return True


def _is_full(batch: list[NewDocument]) -> bool:
    size = sum(new.upload.size_bytes for new in batch if new.upload)
    return len(batch) >= DOCUMENTS_PER_JOB or size >= BYTES_PER_JOB
