"""Listing of files below folders, in order, without hidden ones, pipes and loops of links."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

LEADS_OUT = "It is a link that leads out of the folder; name the file itself to take it."


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file to be ingested. problem: why it cannot be, "" if it can."""

    path: Path
    problem: str = ""


def list_files(paths: Iterable[Path], *, include: Sequence[str] = ()) -> Iterator[ListedFile]:
    """Yield files that are named, and of folders all files below, by name, without hidden ones.

    include: only names, or paths below the folder, that match one of these (`*.pdf`, `2024/*`); files that
    are named themselves are always taken. A folder that is reached twice, by links, is read once.
    """
    seen: set[tuple[int, int]] = set()
    for path in paths:
        try:
            mode = path.stat().st_mode
        except OSError as exc:
            yield ListedFile(path, _explain(exc))
            continue
        if stat.S_ISDIR(mode):
            yield from _list_folder(path, path, include, seen)
        else:
            yield ListedFile(path, "" if stat.S_ISREG(mode) else "It is not a file.")


def _list_folder(
    folder: Path, root: Path, include: Sequence[str], seen: set[tuple[int, int]]
) -> Iterator[ListedFile]:
    try:
        status = folder.stat()
        if (status.st_dev, status.st_ino) in seen:
            return
        seen.add((status.st_dev, status.st_ino))
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
    except OSError as exc:
        yield ListedFile(folder, _explain(exc))
        return
    for name in names:
        yield from _list_entry(folder / name, root, include, seen)


def _list_entry(
    path: Path, root: Path, include: Sequence[str], seen: set[tuple[int, int]]
) -> Iterator[ListedFile]:
    try:
        mode = path.stat().st_mode
    except OSError as exc:  # a link to nowhere, or to itself
        if _matches(path, root, include):
            yield ListedFile(path, _explain(exc))
        return
    if stat.S_ISDIR(mode):
        if _leads_out(path, root):
            yield ListedFile(path, LEADS_OUT)
        else:
            yield from _list_folder(path, root, include, seen)
    elif stat.S_ISREG(mode) and _matches(path, root, include):
        yield ListedFile(path, LEADS_OUT if _leads_out(path, root) else "")


def _leads_out(path: Path, root: Path) -> bool:
    """Tell if a link leads out: where others can write, it must not bring in what only we can read."""
    return path.is_symlink() and not path.resolve().is_relative_to(root.resolve())


def _matches(path: Path, root: Path, include: Sequence[str]) -> bool:
    below = str(path.relative_to(root))
    return not include or any(fnmatch(path.name, glob) or fnmatch(below, glob) for glob in include)


def _explain(exc: OSError) -> str:
    return f"It cannot be read: {exc.strerror or type(exc).__name__}."
