"""Small disks of memory, which a test may fill or set read-only. For root with the right to mount."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def try_mount(folder: Path, megabytes: int) -> bool:
    """Mount an empty disk there; False where that is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    options = f"size={megabytes}m,mode=755"
    command = ["mount", "-t", "tmpfs", "-o", options, "knowlex-test", str(folder)]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def unmount(folder: Path) -> None:
    """At once, also if somebody still has a file open there."""
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[None]:
    """Skip the test where nothing may be mounted."""
    if not try_mount(folder, megabytes):
        pytest.skip("needs the right to mount a disk of memory (root with CAP_SYS_ADMIN)")
    try:
        yield
    finally:
        unmount(folder)


def set_read_only(folder: Path, *, on: bool) -> None:
    subprocess.run(["mount", "-o", f"remount,{'ro' if on else 'rw'}", str(folder)], check=True)


@contextmanager
def filled(folder: Path) -> Iterator[None]:
    """No byte is free on its disk."""
    filler = folder / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            for block in (bytes(1 << 20), bytes(4096), b"."):
                _write_until_full(file, block)
        yield
    finally:
        filler.unlink()


def _write_until_full(file: object, block: bytes) -> None:
    try:
        while file.write(block) == len(block):  # type: ignore[attr-defined]
            pass
    except OSError:
        return
