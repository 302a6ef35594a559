"""Files on disk, in KNOWLEX_DATA_DIR/files, which several hosts may share by a network mount.

Kept files and `incoming/` (documents.library.storage) lie in the same file system, so that keeping a file is
a rename. The lock of its upload goes with it until the rows are there.
"""

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.core.files import File
from django.core.files.storage import default_storage

from documents.types import KEPT, FilesState, KeptFile
from knowlex.runtime.disk import translate_os_errors, try_lock

BLOCK = 2**20
_FAULTS: dict[int, FilesState] = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.ENOENT: "missing",
    errno.ENOTDIR: "missing",
}


class _StagedFile(File):  # type: ignore[type-arg]
    """A file that Django's file system storage moves instead of copying."""

    def temporary_file_path(self) -> str:
        return str(self.name)


class LocalFiles:
    """FileStore on this machine's disk."""

    place = "KNOWLEX_DATA_DIR/files"
    is_service = False
    unowned_after_s = 300.0

    def keep(self, name: str, staged: Path) -> str:
        with translate_os_errors(), staged.open("rb") as file:
            os.fsync(file.fileno())
            return default_storage.save(name, _StagedFile(file, str(staged)))

    def put(self, name: str, source: IO[bytes]) -> None:
        with translate_os_errors():
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_file() and path.stat().st_size == os.fstat(source.fileno()).st_size:
                return
            with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
                shutil.copyfileobj(source, file, BLOCK)
            Path(file.name).replace(path)

    def open(self, name: str) -> IO[Any]:
        return self.path(name).open("rb")

    def path(self, name: str) -> Path:
        return Path(default_storage.path(name))

    def sizes(self, names: Collection[str]) -> dict[str, int]:
        found = {}
        for name in names:
            with suppress(OSError, SuspiciousFileOperation, ValueError):  # not there; or it leads out of here
                path = self.path(name)
                if path.is_file():
                    found[name] = path.stat().st_size
        return found

    def list_files(self) -> Iterator[KeptFile]:
        now = time.time()
        with suppress(FileNotFoundError), os.scandir(default_storage.path(KEPT)) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # removed meanwhile
                    if entry.is_file(follow_symlinks=False):
                        status = entry.stat()
                        yield KeptFile(f"{KEPT}/{entry.name}", status.st_size, now - status.st_mtime)

    def remove(self, name: str) -> None:
        with translate_os_errors():
            default_storage.delete(name)

    def remove_unowned(self, name: str, is_owned: Callable[[], bool]) -> bool:
        """Check under the file's lock: its upload may have committed since somebody looked."""
        path = self.path(name)
        with try_lock(path) as free:
            if not free or is_owned():
                return False
            path.unlink(missing_ok=True)
        return True

    def check(self) -> FilesState:
        """Write a file of one byte, which goes at once; full: less room than the largest upload may take."""
        try:
            with tempfile.TemporaryFile(dir=default_storage.path("")) as file:
                file.write(b"?")
                file.flush()
                room = os.fstatvfs(file.fileno())
        except OSError as exc:
            return _FAULTS.get(exc.errno or 0, "read_only")
        return "full" if room.f_bavail * room.f_frsize < settings.MAX_UPLOAD_BYTES else "writable"
