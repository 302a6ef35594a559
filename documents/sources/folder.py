"""A folder of the server as a source: below the folders that the operator allows, and never out of it."""

import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from documents.ingest.folders import LEADS_OUT, list_files
from documents.sources.reading import (
    BLOCK,
    RACY_S,
    FileUnavailable,
    FileVanished,
    SourceFile,
    SourceUnavailable,
    storable_path,
)
from knowlex.base.errors import Forbidden, InvalidInput

NOT_ALLOWED = (
    "Folders of the server are read only where whoever runs it allows it, by KNOWLEX_SOURCE_FOLDERS."
)


def check_folder(path: str, allowed: Sequence[str]) -> str:
    """Return the folder's path without links. Raises InvalidInput (not absolute), Forbidden."""
    if not path.startswith("/"):
        raise InvalidInput("path must be absolute.", field="config.path")
    resolved = Path(os.path.realpath(path))
    if not any(resolved.is_relative_to(os.path.realpath(folder)) for folder in allowed):
        raise Forbidden(NOT_ALLOWED, details={"field": "config.path"})
    return str(resolved)


class FolderReader:
    """SourceReader of a folder. allowed: the folders that may be read; asked again with each run."""

    def __init__(self, path: str, allowed: Sequence[str]) -> None:
        self._root = Path(check_folder(path, allowed))

    def list_files(self) -> Iterator[SourceFile]:
        for file in list_files([self._root]):
            if file.path == self._root:
                raise SourceUnavailable(f"The folder is not there, or not readable. {file.problem}")
            path, problem = storable_path(file.path.relative_to(self._root).as_posix())
            if file.problem:
                is_folder = file.problem != LEADS_OUT and _is_folder(file.path)
                yield SourceFile(path, problem=file.problem, is_folder=is_folder)
                continue
            try:
                status = file.path.stat()
            except OSError:
                continue  # it went, or changes just now: the next run sees what became of it
            yield SourceFile(path, status.st_size, tell_version(status), problem)

    @contextmanager
    def open(self, path: str) -> Iterator[Iterator[bytes]]:
        try:
            descriptor = self._open_below(path)
        except FileNotFoundError as exc:
            raise FileVanished from exc
        except OSError as exc:
            raise FileUnavailable(f"It cannot be read: {exc.strerror or type(exc).__name__}.") from exc
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileUnavailable("It is not a file.")
            yield _read_blocks(descriptor)
        finally:
            os.close(descriptor)

    def _open_below(self, path: str) -> int:
        """Open the file one folder after the other, so that none of them can be made a link meanwhile."""
        target = Path(os.path.realpath(self._root / path))
        if not target.is_relative_to(self._root):
            raise FileUnavailable(LEADS_OUT)
        parts = target.relative_to(self._root).parts
        folder = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts[:-1]:
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = below
            return os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        finally:
            os.close(folder)


def _read_blocks(descriptor: int) -> Iterator[bytes]:
    try:
        while block := os.read(descriptor, BLOCK):
            yield block
    except OSError as exc:
        raise FileUnavailable(f"It cannot be read: {exc.strerror or type(exc).__name__}.") from exc


def tell_version(status: os.stat_result) -> str:
    """Return size and times; "" where the file changed so lately that its next change may keep them.

    The time of the change of the inode is among them, since tools that copy set the other one back.
    """
    if time.time() - max(status.st_mtime, status.st_ctime) < RACY_S:
        return ""
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return True  # who cannot be asked may be one: what is below it stays
