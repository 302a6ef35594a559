"""Tesseract, if it is installed: the picture of a page -> its text."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from documents.extractors.sandbox.frames import PagePicture

PAGE_S = 20.0  # by the clock; its CPU time is limited too
_LIST_S = 5.0
_MAX_CHARS = 500_000  # of a page
_MAX_LANGUAGES = 3  # each takes its time; more make it guess
_CONFINED = Path(__file__).parent.parent / "sandbox" / "confined.py"
_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_/-]{1,40}")


@dataclass(frozen=True, slots=True)
class Tesseract:
    """binary: its absolute path. languages: installed ones, the first weighs most."""

    binary: str
    languages: tuple[str, ...]

    def read(self, picture: PagePicture, *, timeout_s: float) -> str | None:
        """The text as recognised, "" if there is none; None if it failed or took too long."""
        command = [self.binary, "stdin", "stdout", "-l", "+".join(self.languages), "--dpi", "300"]
        found = _run(command, picture.to_pnm(), timeout_s=min(timeout_s, PAGE_S))
        return None if found is None else found[:_MAX_CHARS].replace("\f", "\n")


def find_tesseract(wanted: Sequence[str] = ()) -> Tesseract | None:
    """With the languages wanted that are installed; without a wish English and what else is there, at most 3.

    None if it is not installed, or with none of these languages.
    """
    binary = shutil.which("tesseract")
    if binary is None:
        return None
    installed = _installed_languages(os.path.realpath(binary))
    if wanted:
        languages = tuple(language for language in wanted if language in installed)
    else:
        languages = tuple(sorted(installed, key=lambda language: (language != "eng", language)))
    return Tesseract(binary, languages[:_MAX_LANGUAGES]) if languages else None


@lru_cache(maxsize=4)
def _installed_languages(binary: str) -> tuple[str, ...]:
    listed = _run([binary, "--list-langs"], b"", timeout_s=_LIST_S) or ""
    names = [line.strip() for line in listed.splitlines()]
    return tuple(name for name in names if _LANGUAGE.fullmatch(name) and name != "osd" and "/" not in name)


def _run(command: Sequence[str], data: bytes, *, timeout_s: float) -> str | None:
    """The program's output; None if it failed, or did not end in time and was killed."""
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "OMP_THREAD_LIMIT": "1"}
    if "TESSDATA_PREFIX" in os.environ:  # where the languages are, if they are elsewhere
        environment["TESSDATA_PREFIX"] = os.environ["TESSDATA_PREFIX"]
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(_CONFINED), *command],
            input=data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout_s,
            env=environment,
            cwd="/",
            start_new_session=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
