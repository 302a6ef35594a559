"""Many files into a collection: jobs of bounded size, a few at a time, and what became of each file."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
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
from embeddings.ingest import documents
from embeddings.ingest.job_reports import ItemReport, JobReport, job_report
from embeddings.local_worker import LocalWorker
from knowlex.base.errors import DatabaseUnavailable, PayloadTooLarge
from knowlex.db.pool import close_pool

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


def printable_path(path: Path | str) -> str:
    """Return the path as it can be printed: a name may hold any bytes, those that steer a terminal too."""
    text = str(path).encode(errors="surrogateescape").decode(errors="replace")
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


DOCUMENTS_PER_JOB, BYTES_PER_JOB, OPEN_JOBS = 50, 256 * 2**20, 4
BLOCK = 256 * 1024
POLL_S, MAX_POLL_S = 0.25, 2.0
POLL_SHARE = 1 / 50  # of the time at most is spent on looking: each look counts all vectors of the open jobs
LATE_SHARE = 1 / 20  # of the time so far at most is waited longer than needed
PATIENCE_S = 60.0  # with a database that is away


@dataclass(slots=True)
class _OpenJob:
    paths: list[Path]
    report: JobReport | None = None


class BulkIngest:
    """Used as a context manager. Jobs that were taken on go on, whatever becomes of this object.

    enqueue: tells the workers of so many documents. on_alone: called once, when no worker is alive and the
    work is done here. totals: of all jobs, as they were last looked at; open_jobs: those that go on.
    """

    def __init__(
        self,
        collection: Collection,
        chunking: ChunkingSettings,
        enqueue: Callable[[int], None],
        on_alone: Callable[[], None],
    ) -> None:
        self._collection, self._chunking, self._enqueue = collection, chunking, enqueue
        self.totals, self._ended = IngestTotals(), IngestTotals()
        self.open_jobs: dict[UUID, _OpenJob] = {}
        self._worker = LocalWorker(on_alone, documents.run_next)
        self._runner = asyncio.Runner()

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
                for file in chain([first], waiting):
                    document = self._stage(file, stack)
                    if isinstance(document, FileResult):
                        yield document
                    else:
                        batch.append(document)
                        paths.append(file.path)
                    if _is_full(batch):
                        break
                if batch:
                    yield self._begin_job(batch, paths)

    def wait(self, *, for_room: bool = False) -> Iterator[list[FileResult]]:
        """Yield results of jobs that have ended, [] in between, until all have (or there is room for one)."""
        began = since = time.monotonic()
        took = 0.0
        while len(self.open_jobs) >= (OPEN_JOBS if for_room else 1):
            looked_at = time.monotonic()
            try:
                results = self._look()
                since = time.monotonic()
                took = since - looked_at
                yield results
            except DatabaseUnavailable:
                if time.monotonic() - since > PATIENCE_S:
                    raise
            if self.open_jobs:
                pause = max(POLL_S, took / POLL_SHARE, LATE_SHARE * (time.monotonic() - began))
                self._worker.work_or_wait(min(MAX_POLL_S, pause))

    def _stage(self, file: ListedFile, stack: ExitStack) -> NewDocument | FileResult:
        """A file that is too large is a failed document of its job; one that cannot be read is in no job."""
        name = clean_filename(file.path.name)
        if file.problem:
            return self._refuse(file.path, file.problem)
        staging = stack.enter_context(Staging(max_bytes=settings.MAX_UPLOAD_BYTES))
        try:
            with file.path.open("rb") as source:
                while block := source.read(BLOCK):
                    staging.write(block)
        except PayloadTooLarge as exc:
            return NewDocument("file", name, error=exc)
        except OSError as exc:
            return self._refuse(file.path, f"It cannot be read: {exc.strerror or type(exc).__name__}.")
        return NewDocument("file", name, upload=staging.finish())

    def _refuse(self, path: Path, reason: str) -> FileResult:
        self._ended = replace(self._ended, ended=self._ended.ended + 1)
        self.totals = replace(self.totals, ended=self.totals.ended + 1)
        return FileResult(printable_path(path), "failed", reason=reason)

    def _begin_job(self, batch: list[NewDocument], paths: list[Path]) -> UUID:
        job = create_job(
            access=FULL,
            collection=self._collection,
            documents=batch,
            chunking=self._chunking,
            origin="command",
        )
        self.open_jobs[job.id] = _OpenJob(paths)
        self._enqueue(len(batch))
        return job.id

    def _look(self) -> list[FileResult]:
        """Return the results of the jobs that have ended since the last look."""
        results: list[FileResult] = []
        for job_id, job in list(self.open_jobs.items()):
            job.report = self._runner.run(job_report(job_id, access=FULL))
            if job.report.processed == job.report.total:
                pairs = zip(job.paths, job.report.items, strict=True)
                results += [file_result(path, item) for path, item in pairs]
                self._ended = self._ended.plus(job.report)
                del self.open_jobs[job_id]
        self.totals = self._ended
        for job in self.open_jobs.values():
            if job.report:
                self.totals = self.totals.plus(job.report)
        return results


def _is_full(batch: list[NewDocument]) -> bool:
    size = sum(new.upload.size_bytes for new in batch if new.upload)
    return len(batch) >= DOCUMENTS_PER_JOB or size >= BYTES_PER_JOB
