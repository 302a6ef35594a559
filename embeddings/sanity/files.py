"""Checks of stored files against rows: every row has its file, and every file a row."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar
from uuid import UUID

from django.db.models.functions import Collate

from documents.library import storage
from documents.models import Document, IngestItem
from embeddings.sanity.types import FindingTally, SanityCheck, SanityFinding
from knowlex.runtime.disk import try_lock

T = TypeVar("T")
GRACE_S = 600.0  # what is not much older than it has to be may be on its way out with the next sweep
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
    # By name, as stores list them: then a block's files lie together.
    columns = columns.order_by(Collate("file", "C"))
    for rows in _split_blocks(_FileRow(*row) for row in columns.iterator(ROWS_AT_ONCE)):
        sizes = storage.file_store().sizes([row.file for row in rows])
        gone = [row for row in rows if row.file not in sizes]
        different = [row for row in rows if row.file in sizes and sizes[row.file] != row.size_bytes]
        if deep:
            damaged, lost = _read_files([row for row in rows if sizes.get(row.file) == row.size_bytes])
            different, gone = different + damaged, gone + lost
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
    for rows in _split_blocks(
        unread.order_by(Collate("file", "C")).values_list("id", "file").iterator(ROWS_AT_ONCE)
    ):
        there = storage.file_store().sizes([file for _, file in rows])
        gone = [item_id for item_id, file in rows if file not in there]
        for item_id in unread.filter(id__in=gone).values_list("id", flat=True):
            tally.add(item_id)
    return tally.finding()


def _find_unknown_files() -> SanityFinding:
    tally = FindingTally(UNKNOWN)
    store = storage.file_store()
    grace_s = store.unowned_after_s + GRACE_S
    for names in _split_blocks(file.name for file in store.list_files() if file.age_s > grace_s):
        documents = Document.objects.filter(file__in=names).values_list("file", flat=True)
        items = IngestItem.objects.filter(file__in=names, deleted_at=None).values_list("file", flat=True)
        used = {*documents, *items}
        for name in names:
            if name not in used:
                tally.add(name)
    return tally.finding()


def _find_left_over_uploads() -> SanityFinding:
    tally = FindingTally(INCOMING)
    for path in storage.list_left_over(storage.STALE_AFTER_S + GRACE_S):
        with try_lock(path) as free:
            if free:
                tally.add(f"{storage.INCOMING}/{path.name}")
    return tally.finding()


def _read_files(rows: Iterable[_FileRow]) -> tuple[list[_FileRow], list[_FileRow]]:
    """Read files through; return those that are not what was uploaded, and those that cannot be read."""
    damaged, lost = [], []
    for row in rows:
        try:
            digest = hashlib.sha256()
            with storage.open_file(row.file) as file:
                while block := file.read(storage.BLOCK):
                    digest.update(block)
            if digest.hexdigest() != row.checksum:
                damaged.append(row)
        except OSError:
            lost.append(row)
    return damaged, lost


def _split_blocks(rows: Iterable[T]) -> Iterator[list[T]]:
    source = iter(rows)
    while block := list(islice(source, ROWS_AT_ONCE)):
        yield block
