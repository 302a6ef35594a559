"""Checks of stored files against rows: every row has its file, and every file a row."""

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from django.core.exceptions import SuspiciousFileOperation
from django.core.files.storage import default_storage

from documents.library import storage
from documents.models import Document, IngestItem
from embeddings.sanity.types import FindingTally, SanityCheck, SanityFinding

T = TypeVar("T")
GRACE_S = 900.0  # younger ones may be on their way in, or out with the next sweep
ROWS_AT_ONCE = 500
SWEEP = "Workers remove it within minutes (the sweep)."
MISSING = SanityCheck(
    "file_missing", "A document's file is there.", "", "Restore it, or delete the document.", "I2"
)
CHANGED = SanityCheck(
    "file_changed", "A document's file is as it was uploaded.", "", "Restore it from a backup.", "I2"
)
WAITING = SanityCheck(
    "file_of_item", "The file of a job's document that waits is there.", "", "Delete it, upload again.", "I2"
)
UNKNOWN = SanityCheck("file_without_row", "A stored file belongs to a document.", "", SWEEP, "I2")
INCOMING = SanityCheck("file_left_over", "No upload has left its file behind.", "", SWEEP, "I9")


@dataclass(frozen=True, slots=True)
class _FileRow:
    id: UUID
    file: str
    size_bytes: int
    checksum: str


def check_files(*, deep: bool) -> Iterator[SanityFinding]:
    """deep: read the files through, instead of comparing sizes only. Uses no transaction."""
    yield from _check_documents(deep=deep)
    yield _check_items()
    yield _find_unknown_files()
    yield _find_left_over_uploads()


def _check_documents(*, deep: bool) -> Iterator[SanityFinding]:
    missing, changed = FindingTally(MISSING), FindingTally(CHANGED)
    columns = Document.objects.values_list("id", "file", "size_bytes", "checksum")
    for rows in _split_blocks(_FileRow(*row) for row in columns.iterator(ROWS_AT_ONCE)):
        gone, different = [], []
        for row in rows:
            path = _stored_path(row.file)
            try:
                if path is None or not path.is_file():
                    gone.append(row)
                elif path.stat().st_size != row.size_bytes or (deep and _sha256(path) != row.checksum):
                    different.append(row)
            except OSError:
                gone.append(row)
        # Without those whose document was deleted or replaced meanwhile, and its file with it.
        ids = [row.id for row in (*gone, *different)]
        current = set(Document.objects.filter(id__in=ids).values_list("id", "file", "checksum"))
        for tally, broken in ((missing, gone), (changed, different)):
            for row in broken:
                if (row.id, row.file, row.checksum) in current:
                    tally.add(f"{row.id} {row.file}")
    yield missing.finding()
    yield changed.finding()


def _check_items() -> SanityFinding:
    tally = FindingTally(WAITING)
    waiting = IngestItem.objects.filter(status__in=["pending", "processing"], deleted_at=None)
    unread = waiting.exclude(file="").exclude(stage="embedding")
    for rows in _split_blocks(unread.values_list("id", "file").iterator(ROWS_AT_ONCE)):
        gone = [
            item_id for item_id, file in rows if (path := _stored_path(file)) is None or not path.is_file()
        ]
        for item_id in unread.filter(id__in=gone).values_list("id", flat=True):
            tally.add(item_id)
    return tally.finding()


def _find_unknown_files() -> SanityFinding:
    tally = FindingTally(UNKNOWN)
    for names in _split_blocks(f"{storage.KEPT}/{name}" for name in _list_old(storage.KEPT)):
        documents = Document.objects.filter(file__in=names).values_list("file", flat=True)
        items = IngestItem.objects.filter(file__in=names, deleted_at=None).values_list("file", flat=True)
        used = {*documents, *items}
        for name in names:
            if name not in used:
                tally.add(name)
    return tally.finding()


def _find_left_over_uploads() -> SanityFinding:
    tally = FindingTally(INCOMING)
    for name in _list_old(storage.INCOMING):
        with storage.try_lock(Path(default_storage.path(storage.INCOMING)) / name) as free:
            if free:
                tally.add(f"{storage.INCOMING}/{name}")
    return tally.finding()


def _list_old(folder: str) -> Iterator[str]:
    limit = time.time() - GRACE_S
    with suppress(FileNotFoundError), os.scandir(default_storage.path(folder)) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.stat(follow_symlinks=False).st_mtime < limit:
                    yield entry.name


def _stored_path(name: str) -> Path | None:
    """Return None for a name that leads out of the store."""
    try:
        return Path(default_storage.path(name)) if name else None
    except (SuspiciousFileOperation, ValueError):
        return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _split_blocks(rows: Iterable[T]) -> Iterator[list[T]]:
    source = iter(rows)
    while block := list(islice(source, ROWS_AT_ONCE)):
        yield block
