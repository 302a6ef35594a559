"""Storage of files: `incoming/` while an upload is under way, then Django's storage under the document's id.

Both lie in the same file system, so that keeping a file is a rename. A file of an upload that is under way
is locked (flock) by its process and unlocked by the kernel when that process dies: what is old, without a row
and not locked was left behind by a crash.

While a backup is made, the files of rows that go stay where they are, since its snapshot has the rows: the
sweep removes them afterwards.
"""

import errno
import fcntl
import hashlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Literal
from uuid import UUID

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import OperationalError, connection, transaction

from documents.models import Document, IngestItem
from knowlex.base.errors import DatabaseUnavailable, InvalidInput, PayloadTooLarge, StorageUnavailable
from knowlex.base.ids import parse_id
from knowlex.db.threads import execute, with_retries

log = logging.getLogger(__name__)

INCOMING, KEPT = "incoming", "documents"
STALE_AFTER_S = 300.0
NAMES_PER_QUERY = 500
BLOCK = 2**20
_BACKUP_LOCK = 0x6B780102
_BACKUP_WITHIN = "10s"
SUFFIXES = frozenset({".pdf", ".md", ".markdown", ".html", ".htm", ".docx", ".txt"})
OS_ERRORS = {
    errno.ENOSPC: "There is no room left to store the file.",
    errno.EDQUOT: "There is no room left to store the file.",
}
OTHER_FOLDER = (
    "the files on record are not here: KNOWLEX_DATA_DIR/files must be the same folder on every host that has "
    "a web server, or workers that read documents"
)
# The latest files of stored documents, and of those that wait to be read.
LATEST_FILES = """
    (SELECT file FROM documents_document WHERE file <> '' ORDER BY id DESC LIMIT 20)
    UNION ALL
    (SELECT file FROM documents_ingestitem
     WHERE status IN ('pending', 'processing') AND file <> '' ORDER BY id DESC LIMIT 20)
"""


def has_file(name: str) -> bool:
    """Tell if a file is here. name: as a row has it."""
    return default_storage.exists(name)


def is_other_folder(*, missing: Collection[str] = ()) -> bool:
    """Tell if this process has another folder than the others: none of the latest files on record is here.

    missing: files that are known to be. Raises DatabaseUnavailable.
    """
    files = {row[0] for row in with_retries(lambda: execute(LATEST_FILES))} - set(missing)
    return _are_elsewhere(files, enough=1 if missing else 2)


def _are_elsewhere(files: Collection[str], *, enough: int = 2) -> bool:
    """Tell if none of so many is here: a single one may just be lost."""
    return len(files) >= enough and not any(map(has_file, files))


def make_folder() -> None:
    """Make the folder of files when a server starts: where it is missing later, something has happened to it.

    Raises OSError.
    """
    Path(default_storage.path(INCOMING)).mkdir(parents=True, exist_ok=True)


FolderState = Literal["writable", "full", "read_only", "missing"]
_FAULTS: dict[int, FolderState] = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.ENOENT: "missing",
    errno.ENOTDIR: "missing",
}


def check_folder(latest: Collection[str]) -> FolderState:
    """Tell if an upload would find its place, by writing a file of one byte, which goes at once.

    latest: what LATEST_FILES selects. full: there is less room than the largest upload may take.
    missing: the folder is not there, or another one is in its place, as when a disk is not mounted.
    """
    root = Path(default_storage.path(""))
    try:
        with tempfile.TemporaryFile(dir=root) as file:
            file.write(b"?")
            file.flush()
            room = os.fstatvfs(file.fileno())
    except OSError as exc:
        return _FAULTS.get(exc.errno or 0, "read_only")
    if room.f_bavail * room.f_frsize < settings.MAX_UPLOAD_BYTES:
        return "full"
    return "missing" if _are_elsewhere(latest) else "writable"


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


class _StagedFile(File):  # type: ignore[type-arg]
    """A file that Django's file system storage moves instead of copying."""

    def temporary_file_path(self) -> str:
        return str(self.name)


def keep_upload(document: Document, upload: StagedUpload) -> None:
    """Move the staged file to its place under the document's id, safe on disk. Raises StorageUnavailable."""
    with translate_os_errors(), upload.path.open("rb") as staged:
        os.fsync(staged.fileno())
        document.file.save(document.original_filename, _StagedFile(staged, str(upload.path)), save=False)


def keep_for_item(item_id: UUID, filename: str, upload: StagedUpload) -> str:
    """Move the staged file to its place under the item's id; return its stored name, which does not change.

    Raises StorageUnavailable.
    """
    suffix = PurePosixPath(filename).suffix.lower()
    name = f"{KEPT}/{item_id}{suffix if suffix in SUFFIXES else '.bin'}"
    with translate_os_errors(), upload.path.open("rb") as staged:
        os.fsync(staged.fileno())
        return default_storage.save(name, _StagedFile(staged, str(upload.path)))


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
    for name in names:
        discard_file(name)


def discard_file(name: str) -> None:
    """Delete a stored file that never had a row; one that cannot be deleted now is left to the sweep."""
    try:
        default_storage.delete(name)
    except OSError as exc:
        log.warning("stored file not removed", extra={"file": name, "error": type(exc).__name__})


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


def put_file(name: str, source: IO[bytes]) -> None:
    """Store a file of a backup under its name; one that is there already and as large is taken for the same,
    since the bytes under a name never change. Raises StorageUnavailable.
    """
    with translate_os_errors():
        path = Path(default_storage.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file() and path.stat().st_size == os.fstat(source.fileno()).st_size:
            return
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            shutil.copyfileobj(source, file, BLOCK)
        Path(file.name).replace(path)


def stale_files(folder: str) -> Iterator[Path]:
    """Yield files of `incoming` or `documents` that have not been written to for a while."""
    limit = time.time() - STALE_AFTER_S
    with suppress(FileNotFoundError), os.scandir(default_storage.path(folder)) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # an upload that ended meanwhile
                if entry.is_file(follow_symlinks=False) and entry.stat().st_mtime < limit:
                    yield Path(entry.path)


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Yield True if no upload has locked the file; in the block nobody else can lock it."""
    with suppress(FileNotFoundError), path.open("r+b") as file:  # NFS locks only what is open for writing
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
        return
    yield False


@contextmanager
def translate_os_errors() -> Iterator[None]:
    """Translate errors of the file system to StorageUnavailable, which names no path."""
    try:
        yield
    except OSError as exc:
        log.error("storage unavailable", extra={"errno": errno.errorcode.get(exc.errno or 0, "?")})
        message = OS_ERRORS.get(exc.errno or 0, "The file store cannot be written to.")
        raise StorageUnavailable(message) from exc


def sweep_orphan_files() -> int:
    """Remove old files that no upload has locked and no row names; return how many. Safe at any time."""
    removed = sum(_remove_if_orphan(path, "") for path in stale_files(INCOMING))
    suspects = [(path, name) for path in stale_files(KEPT) if (name := _stored_name(path))]
    for start in range(0, len(suspects), NAMES_PER_QUERY):
        batch = suspects[start : start + NAMES_PER_QUERY]
        owned = _find_owned([name for _, name in batch])
        removed += sum(_remove_if_orphan(path, name) for path, name in batch if name not in owned)
    return removed


def _remove_if_orphan(path: Path, name: str) -> bool:
    """Check again under the file's lock: its upload may have committed since the first check."""
    with try_lock(path) as free:
        if not free or (name and (_find_owned([name]) or is_backed_up())):
            return False
        path.unlink(missing_ok=True)
    return True


def _find_owned(names: Collection[str]) -> set[str]:
    """Return the names that a document or an item has, in one query: files pass from items to documents."""
    documents = Document.objects.filter(file__in=names).values_list("file", flat=True)
    owned = documents.union(IngestItem.objects.filter(file__in=names).values_list("file", flat=True))
    return with_retries(lambda: set(owned.all()))


def _stored_name(path: Path) -> str:
    """Return the name that rows have for the file; "" if it is not named after an id, so not ours."""
    try:
        parse_id(path.name[:36], field="file")
    except InvalidInput:
        return ""
    return f"{KEPT}/{path.name}"
