"""Storage of files: `incoming/` on this machine while an upload is under way, then the part FILE_STORE.

A file of an upload that is under way is locked (flock) by its process and unlocked by the kernel when that
process dies: what is old, without a row and not locked was left behind by a crash.

While a backup is made, the files of rows that go stay where they are, since its snapshot has the rows: the
sweep removes them afterwards.
"""

import fcntl
import hashlib
import logging
import os
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Any
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import OperationalError, connection, transaction

from documents.models import Document, IngestItem
from documents.models.documents import stored_name, suffix_of
from documents.protocols import FileStore
from documents.types import ALL_SOURCES, KEPT, FilesState
from knowlex.base.errors import (
    DatabaseUnavailable,
    DependencyUnavailable,
    FilesUnavailable,
    InvalidInput,
    PayloadTooLarge,
    StorageUnavailable,
)
from knowlex.base.ids import parse_id
from knowlex.db.threads import execute, with_retries
from knowlex.runtime.components import component
from knowlex.runtime.disk import translate_os_errors, try_lock

log = logging.getLogger(__name__)

INCOMING = "incoming"
STALE_AFTER_S = 300.0
NAMES_PER_QUERY = 500
BLOCK = 2**20
_BACKUP_LOCK = 0x6B780102
_BACKUP_WITHIN = "10s"
SUFFIXES = frozenset(map(suffix_of, ALL_SOURCES)) | {
    ".markdown", ".htm", ".docm", ".dotx", ".dotm", ".xlsm", ".pptm", ".ppsx"
}  # fmt: skip
# The latest files of stored documents, and of those that wait to be read.
LATEST_FILES = """
    (SELECT file FROM documents_document WHERE file <> '' ORDER BY id DESC LIMIT 20)
    UNION ALL
    (SELECT file FROM documents_ingestitem
     WHERE status IN ('pending', 'processing') AND file <> '' ORDER BY id DESC LIMIT 20)
"""


def file_store() -> FileStore:
    return component("FILE_STORE", FileStore)


def has_file(name: str) -> bool:
    """Tell if a file is here. name: as a row has it. Raises FilesUnavailable."""
    return bool(file_store().sizes([name]))


def open_file(name: str) -> IO[Any]:
    """Open a stored file to be read from its beginning. Raises FileNotFoundError, FilesUnavailable."""
    return file_store().open(name)


@contextmanager
def local_copy(name: str, *, size_bytes: int) -> Iterator[Path]:
    """Yield the path of a stored file; of one that is stored elsewhere that of a copy, for the block's time.

    size_bytes: the file's; a larger copy is given up. Raises FileNotFoundError, FilesUnavailable,
    StorageUnavailable.
    """
    if (path := file_store().path(name)) is not None:
        yield path
        return
    with open_file(name) as source, Staging(max_bytes=size_bytes) as staging:
        while block := source.read(BLOCK):
            staging.write(block)
        yield staging.finish().path


def is_other_folder(*, missing: Collection[str] = ()) -> bool:
    """Tell if this process has another place of files than the others: none of the latest on record is here.

    missing: files that are known to be. Raises DatabaseUnavailable, FilesUnavailable.
    """
    files = {row[0] for row in with_retries(lambda: execute(LATEST_FILES))} - set(missing)
    return _are_elsewhere(files, enough=1 if missing else 2)


def describe_other_folder() -> str:
    place = file_store().place
    return (
        f"the files on record are not here: {place} must be the same on every host that has a web server, or "
        "workers that read documents"
    )


def _are_elsewhere(files: Collection[str], *, enough: int = 2) -> bool:
    """Tell if none of so many is here: a single one may just be lost."""
    return len(files) >= enough and not any(map(has_file, files))


def make_folder() -> None:
    """Make the folder of files when a server starts: where it is missing later, something has happened to it.

    Raises OSError.
    """
    Path(default_storage.path(INCOMING)).mkdir(parents=True, exist_ok=True)


def check_files(latest: Collection[str]) -> FilesState:
    """Tell if an upload would find its place. latest: what LATEST_FILES selects. Raises FilesUnavailable.

    full: there is less room than the largest upload may take. missing: the folder or bucket is not there, or
    another one is in its place, as when a disk is not mounted. refused: its key is not accepted there.
    """
    state = file_store().check()
    return "missing" if state == "writable" and _are_elsewhere(latest) else state


@dataclass(frozen=True, slots=True)
class StagedUpload:
    """A whole file under `incoming/`. checksum: SHA-256 of its bytes, 64 hex digits."""

    path: Path
    size_bytes: int
    checksum: str


class Staging:
    """A file that is being written under `incoming/`: hashed and counted on the way, never in memory.

    A context manager; on leaving, the file is removed unless `keep_upload` has moved it.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes, self._size, self._hash = max_bytes, 0, hashlib.sha256()
        with translate_os_errors():
            folder = Path(default_storage.path(INCOMING))
            folder.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False)  # noqa: SIM115
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __enter__(self) -> "Staging":
        return self

    def __exit__(self, *exc_info: object) -> None:
        with suppress(OSError):  # closing a file on a full disk may complain of bytes nobody wants any more
            self._file.close()
        with suppress(OSError):  # moved already, or for the sweep to find
            os.unlink(self._file.name)

    def write(self, block: bytes) -> None:
        """Write a block. Raises PayloadTooLarge on the first byte over the limit; StorageUnavailable."""
        self._size += len(block)
        if self._size > self._max_bytes:
            raise PayloadTooLarge(f"File exceeds {self._max_bytes // 2**20} MB limit.")
        self._hash.update(block)
        with translate_os_errors():
            self._file.write(block)

    def finish(self) -> StagedUpload:
        """Finish writing. The file stays locked until this context is left."""
        with translate_os_errors():
            self._file.flush()
        return StagedUpload(Path(self._file.name), self._size, self._hash.hexdigest())


def keep_upload(document: Document, upload: StagedUpload) -> None:
    """Store the staged file under the document's id. Raises StorageUnavailable, FilesUnavailable."""
    name = stored_name(document, document.original_filename)
    document.file = file_store().keep(name, upload.path)


def keep_for_item(item_id: UUID, filename: str, upload: StagedUpload) -> str:
    """Store the staged file under the item's id; return its stored name, which does not change.

    Raises StorageUnavailable, FilesUnavailable.
    """
    suffix = PurePosixPath(filename).suffix.lower()
    name = f"{KEPT}/{item_id}{suffix if suffix in SUFFIXES else '.bin'}"
    return file_store().keep(name, upload.path)


def remove_file(name: str) -> None:
    """Delete a stored file whose row is gone; see remove_files."""
    remove_files([name])


def remove_files(names: Sequence[str]) -> None:
    """Delete stored files whose rows are gone; what cannot be deleted now, or is being backed up, is left to
    the sweep.
    """
    try:
        if not names or is_backed_up():
            return
    except DatabaseUnavailable:
        log.warning("stored files not removed", extra={"files": len(names), "error": "DatabaseUnavailable"})
        return
    for count, name in enumerate(names):
        if not discard_file(name):
            log.warning("stored files not removed", extra={"files": len(names) - count})
            return


def discard_file(name: str) -> bool:
    """Delete a stored file that never had a row; one that cannot be deleted now is left to the sweep.

    Return whether there is any use in trying others now.
    """
    try:
        file_store().remove(name)
    except DependencyUnavailable as exc:
        log.warning("stored file not removed", extra={"file": name, "error": type(exc).__name__})
        return not isinstance(exc, FilesUnavailable)
    return True


@contextmanager
def hold_files() -> Iterator[None]:
    """Let no file of a row that is there now be removed, as long as the block runs. Outside a transaction.

    Raises StorageUnavailable if a backup is being made already.
    """
    try:
        with transaction.atomic():
            execute("SELECT set_config('lock_timeout', %s, true)", [_BACKUP_WITHIN])
            execute("SELECT pg_advisory_lock(%s)", [_BACKUP_LOCK])
    except OperationalError as exc:
        raise StorageUnavailable("Another backup of this database is being made.") from exc
    try:
        yield
    finally:
        connection.close()  # and with it the lock, also of a session that is broken


def is_backed_up() -> bool:
    """Tell if a backup is being made. Ask when the row is gone: a backup that begins later misses it, too.

    Raises DatabaseUnavailable.
    """
    (is_free,) = with_retries(lambda: execute("SELECT pg_try_advisory_xact_lock_shared(%s)", [_BACKUP_LOCK]))[
        0
    ]
    return not is_free


def sweep_orphan_files() -> int:
    """Remove old files that no upload has in hand and no row names; return how many. Safe at any time."""
    return sweep_incoming() + sweep_stored_files()


def sweep_incoming() -> int:
    """Remove what crashes of this host's processes have left in `incoming`; return how many files."""
    removed = 0
    for path in list_left_over(STALE_AFTER_S):
        with try_lock(path) as free:
            if free:
                path.unlink(missing_ok=True)
                removed += 1
    return removed


def list_left_over(age_s: float) -> Iterator[Path]:
    """Yield files of `incoming` that have not been written to for so long; some may be locked."""
    limit = time.time() - age_s
    with suppress(FileNotFoundError), os.scandir(default_storage.path(INCOMING)) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # an upload that ended meanwhile
                if entry.is_file(follow_symlinks=False) and entry.stat().st_mtime < limit:
                    yield Path(entry.path)


def sweep_stored_files() -> int:
    """Remove stored files that are old enough, in no upload's hands and named by no row; return how many.

    Safe at any time. Raises DatabaseUnavailable, FilesUnavailable.
    """
    store, removed = file_store(), 0
    files = store.list_files()
    names = (file.name for file in files if file.age_s > store.unowned_after_s and _is_ours(file.name))
    while batch := list(islice(names, NAMES_PER_QUERY)):
        owned = _find_owned(batch)
        removed += sum(store.remove_unowned(n, partial(_is_wanted, n)) for n in batch if n not in owned)
    return removed


def _is_wanted(name: str) -> bool:
    """Look again: its upload may have committed since; and while a backup is made, nothing goes."""
    return bool(_find_owned([name])) or is_backed_up()


def _find_owned(names: Collection[str]) -> set[str]:
    """Return the names that a document or an item has, in one query: files pass from items to documents."""
    documents = Document.objects.filter(file__in=names).values_list("file", flat=True)
    owned = documents.union(IngestItem.objects.filter(file__in=names).values_list("file", flat=True))
    return with_retries(lambda: set(owned.all()))


def _is_ours(name: str) -> bool:
    """Tell if it is named after an id."""
    try:
        parse_id(PurePosixPath(name).name[:36], field="file")
    except InvalidInput:
        return False
    return True
