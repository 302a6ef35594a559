"""What all kinds of sources have in common: a list of files, and the bytes of each, a block at a time."""

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from documents.extractors.job import guess_name_kind
from documents.library.storage import SUFFIXES
from knowlex.base.errors import KnowlexError

MAX_FILES = 100_000
MAX_PATH_BYTES = 2000  # what PostgreSQL's index takes, with room to spare
LIST_WITHIN_S = 600.0
READ_WITHIN_S = 120.0  # a file
BLOCK = 256 * 1024
RACY_S = 2.0  # a file that changed so lately may change again without its time telling it
NO_FORMAT = "Its name tells no format that is read here."
EMPTY = "It is empty."
TOO_MANY = f"The source has more than {MAX_FILES:,} files."


class SourceUnavailable(KnowlexError):
    """The source as a whole cannot be read now: not there, not mounted, not reachable, refused."""

    status = 503
    code = "SOURCE_UNAVAILABLE"


class FileUnavailable(KnowlexError):
    """One file cannot be read now; the others may."""

    status = 503
    code = "FILE_UNAVAILABLE"


class FileVanished(Exception):
    """The file went after it was listed."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as the source lists it.

    path: below the source, with `/` between its parts. version: changes whenever the bytes do; "" where that
    cannot be told. problem: why it is not read, "" if it is. is_folder: a folder that cannot be listed: what
    is below it is not known.
    """

    path: str
    size_bytes: int = 0
    version: str = ""
    problem: str = ""
    is_folder: bool = False


class SourceReader(Protocol):
    """One source. Blocking, for workers. Every method raises SourceUnavailable."""

    def list_files(self) -> Iterator[SourceFile]:
        """Yield all files, hidden ones left out, within LIST_WITHIN_S."""
        ...

    def open(self, path: str) -> AbstractContextManager[Iterator[bytes]]:
        """Yield the bytes of a file, within READ_WITHIN_S. Raises FileVanished, FileUnavailable.

        They may be newer than the list: then the next list tells another version.
        """
        ...


def find_refusal(file: SourceFile, *, max_bytes: int) -> str:
    """Return why a file is not taken, as far as its name and size tell it; "" if it is."""
    if file.problem:
        return file.problem
    known = PurePosixPath(file.path).suffix.lower() in SUFFIXES or guess_name_kind(file.path) != "other"
    if not known:
        return NO_FORMAT
    if file.size_bytes == 0:
        return EMPTY
    return f"File exceeds {max_bytes // 2**20} MB limit." if file.size_bytes > max_bytes else ""


def storable_path(path: str) -> tuple[str, str]:
    """Return the path as it can be stored, and why it cannot be read by it, "" if it can."""
    stored = path.encode(errors="surrogateescape").decode(errors="replace").replace("\0", "\ufffd")
    if stored != path:
        return stored, "Its name is no valid UTF-8."
    if len(path.encode()) > MAX_PATH_BYTES:
        digest = hashlib.sha256(path.encode()).hexdigest()[:16]
        return f"{path[:400]}… ({digest})", "Its path is too long."
    return path, ""


def is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))
