"""Pictures and layouts of pages on disk: by checksum, within a size limit; what is not looked at goes first.

They lie beside the files, so that web processes share them. A name holds the checksum of the bytes, so what
is kept can never be of another version. They go with the document.
"""

import logging
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock

from django.conf import settings
from django.core.files.storage import default_storage

from knowlex.db.threads import execute, with_retries

FOLDER, ORIGINAL = "views", "original"
_USED = """
    SELECT DISTINCT d.checksum FROM documents_collection c JOIN documents_document d ON d.collection_id = c.id
    WHERE d.checksum = ANY(%(checksums)s)
"""
TRIM_TO = 0.9  # of the limit
log = logging.getLogger(__name__)
_lock = Lock()
_written_bytes = 0


def read(checksum: str, name: str) -> bytes | None:
    """Return what is kept under this name; None if nothing is. It counts as used now."""
    path = _folder(checksum) / name
    try:
        data = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    return data


def write(checksum: str, name: str, data: bytes) -> None:
    """Keep it, if there is room; a picture that cannot be kept is drawn again."""
    folder = _folder(checksum)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as file:
            file.write(data)
        Path(file.name).replace(folder / name)
    except OSError as exc:
        log.warning("page not cached", extra={"error": type(exc).__name__})
        return
    if _is_trimming_due(len(data)):
        trim(settings.PAGE_CACHE_BYTES)


def find_original(checksum: str) -> Path | None:
    """Return the copy of a document's file that is kept here, if there is one. It counts as used now."""
    path = _folder(checksum) / ORIGINAL
    try:
        os.utime(path)
    except OSError:
        return None
    return path


def keep_original(checksum: str, path: Path) -> None:
    """Keep a copy of a document's file, which is moved from beside this folder."""
    size, folder = path.stat().st_size, _folder(checksum)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.replace(folder / ORIGINAL)
    except OSError as exc:
        log.warning("file not cached", extra={"error": type(exc).__name__})
        return
    if _is_trimming_due(size):
        trim(settings.PAGE_CACHE_BYTES)


def count_files(checksums: Iterable[str]) -> int:
    """Count the pictures and layouts that are kept of these documents."""
    files = (path for checksum in checksums for path in _files(_folder(checksum)))
    return sum(path.name != ORIGINAL for path in files)


def remove(checksums: Iterable[str]) -> None:
    """Forget all pages of these documents."""
    for checksum in checksums:
        shutil.rmtree(_folder(checksum), ignore_errors=True)


def sweep() -> int:
    """Remove what is kept of documents that are gone, or were replaced; return of how many."""
    kept = [folder.name for folder in _root().glob("??/*")]
    gone = list(with_retries(lambda: find_unused(kept))) if kept else []
    remove(gone)
    return len(gone)


def find_unused(checksums: Iterable[str]) -> set[str]:
    """Return those of the checksums that no document has."""
    asked = set(checksums)
    return asked - {row[0] for row in execute(_USED, {"checksums": list(asked)})}


def trim(limit_bytes: int) -> None:
    """Remove what was not used for longest, until the rest is well within the limit."""
    files = []
    for path in _files(_root()):
        with suppress(FileNotFoundError):
            status = path.stat()
            files.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in files)
    if total <= limit_bytes:
        return
    for _, size, path in sorted(files):
        path.unlink(missing_ok=True)
        total -= size
        if total <= TRIM_TO * limit_bytes:
            return


def _is_trimming_due(size_bytes: int) -> bool:
    """Whether so much was written by this process that the folder may have grown over its limit."""
    global _written_bytes
    with _lock:
        _written_bytes += size_bytes
        if _written_bytes < (1 - TRIM_TO) * settings.PAGE_CACHE_BYTES / 2:
            return False
        _written_bytes = 0
        return True


def _root() -> Path:
    return Path(default_storage.path(FOLDER))


def _folder(checksum: str) -> Path:
    return _root() / checksum[:2] / checksum


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())
