"""Stored files against rows: every row has its file, and every file a row."""

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping
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
from embeddings.sanity.types import Check, Finding, Tally

T = TypeVar("T")
GRACE_S = 900.0  # younger ones may be on their way in, or out with the next sweep
ROWS_AT_ONCE = 500
SWEEP = "Workers remove it within minutes (the sweep)."
MISSING = Check(
    "file_missing", "A document's file is there.", "", "Restore it, or delete the document.", "I2"
)
CHANGED = Check(
    "file_changed", "A document's file is as it was uploaded.", "", "Restore it from a backup.", "I2"
)
WAITING = Check(
    "file_of_item", "The file of a job's document that waits is there.", "", "Delete it, upload again.", "I2"
)
UNKNOWN = Check("file_without_row", "A stored file belongs to a document.", "", SWEEP, "I2")
INCOMING = Check("file_left_over", "No upload has left its file behind.", "", SWEEP, "I9")


@dataclass(frozen=True, slots=True)
class _Row:
    id: UUID
    file: str
    size_bytes: int
    checksum: str


def findings(*, deep: bool) -> Iterator[Finding]:
    """deep: read the files through, instead of comparing sizes only. Uses no transaction."""
    yield from _of_documents(deep=deep)
    yield _of_items()
    yield _unknown()
    yield _left_over()


def _of_documents(*, deep: bool) -> Iterator[Finding]:
    missing, changed = Tally(MISSING), Tally(CHANGED)
    columns = Document.objects.values_list("id", "file", "size_bytes", "checksum")
    for rows in _blocks(_Row(*row) for row in columns.iterator(ROWS_AT_ONCE)):
        wrong = {row: how for row in rows if (how := _wrong(row, missing, changed, deep=deep))}
        for row in _still(wrong):
            wrong[row].add(f"{row.id} {row.file}")
    yield missing.finding()
    yield changed.finding()


def _wrong(row: _Row, missing: Tally, changed: Tally, *, deep: bool) -> Tally | None:
    path = _path(row.file)
    if path is None or not path.is_file():
        return missing
    try:
        same = path.stat().st_size == row.size_bytes and (not deep or _sha256(path) == row.checksum)
    except OSError:
        return missing
    return None if same else changed


def _still(wrong: Mapping[_Row, Tally]) -> list[_Row]:
    """Without those whose document was deleted or replaced meanwhile, and its file with it."""
    if not wrong:
        return []
    ids = [row.id for row in wrong]
    now = set(Document.objects.filter(id__in=ids).values_list("id", "file", "checksum"))
    return [row for row in wrong if (row.id, row.file, row.checksum) in now]


def _of_items() -> Finding:
    tally = Tally(WAITING)
    waiting = IngestItem.objects.filter(status__in=["pending", "processing"], deleted_at=None)
    unread = waiting.exclude(file="").exclude(stage="embedding")
    for rows in _blocks(unread.values_list("id", "file").iterator(ROWS_AT_ONCE)):
        gone = [item_id for item_id, file in rows if (path := _path(file)) is None or not path.is_file()]
        for item_id in unread.filter(id__in=gone).values_list("id", flat=True):
            tally.add(item_id)
    return tally.finding()


def _unknown() -> Finding:
    tally = Tally(UNKNOWN)
    for names in _blocks(f"{storage.KEPT}/{name}" for name in _old(storage.KEPT)):
        known = set(Document.objects.filter(file__in=names).values_list("file", flat=True))
        items = IngestItem.objects.filter(file__in=names, deleted_at=None)
        known |= set(items.values_list("file", flat=True))
        for name in names:
            if name not in known:
                tally.add(name)
    return tally.finding()


def _left_over() -> Finding:
    tally = Tally(INCOMING)
    for name in _old(storage.INCOMING):
        with storage.try_lock(Path(default_storage.path(storage.INCOMING)) / name) as free:
            if free:
                tally.add(f"{storage.INCOMING}/{name}")
    return tally.finding()


def _old(folder: str) -> Iterator[str]:
    limit = time.time() - GRACE_S
    with suppress(FileNotFoundError), os.scandir(default_storage.path(folder)) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.stat(follow_symlinks=False).st_mtime < limit:
                    yield entry.name


def _path(name: str) -> Path | None:
    """None for a name that leads out of the store."""
    try:
        return Path(default_storage.path(name)) if name else None
    except (SuspiciousFileOperation, ValueError):
        return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _blocks(rows: Iterable[T]) -> Iterator[list[T]]:
    source = iter(rows)
    while block := list(islice(source, ROWS_AT_ONCE)):
        yield block
