"""What becomes of pages that are pictures: they are read by OCR where it can be done, and else it is said."""

import os
import re
import shutil
import subprocess
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Literal

from documents.extractors.cleaning import clean_page
from documents.extractors.failures import MAX_TEXT_BYTES
from documents.extractors.job import PagePicture
from documents.extractors.pdf.layout import paragraphs
from documents.extractors.sandbox.fair_semaphore import Turns
from documents.types import ExtractedPage, Extraction

PAGE_S = 20.0  # by the clock; its CPU time is limited too
_LIST_S = 5.0
_MAX_CHARS = 500_000  # of a page
_MAX_LANGUAGES = 3  # each takes its time; more make it guess
_JAIL = Path(__file__).with_name("jail.py")
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
            [sys.executable, "-I", "-S", str(_JAIL), *command],
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


Draw = Callable[[int], PagePicture | None]  # a 1-based page -> its picture, None if it cannot be drawn
_WORD = re.compile(r"\w{2,}|[\u2e80-\u9fff]")
_FEWEST_WORDS = 2  # a single one is what Tesseract sees in a drawing or a stain
UNREAD = "image_only"


@dataclass(frozen=True, slots=True)
class Budget:
    """What recognition may take of a file: seconds by the clock, and pages."""

    seconds: float
    pages: int


BRIEF = Budget(20.0, 20)  # somebody waits for the answer
PATIENT = Budget(600.0, 500)


def pages_to_recognise(extraction: Extraction) -> list[int]:
    return [page.number for page in extraction.pages if UNREAD in page.warnings]


def recognise(
    pages: Sequence[int], draw: Draw, tesseract: Tesseract, budget: Budget, done: Callable[[], None]
) -> Iterator[tuple[int, str]]:
    """(page, its text) for each page that could be read; `done` is called after every page.

    A page where nothing was found is told too, with "": it holds a picture, but no text.
    """
    deadline = time.monotonic() + budget.seconds
    for number in pages[: budget.pages]:
        if time.monotonic() >= deadline:
            return
        picture = draw(number)
        left_s = deadline - time.monotonic()
        text = tesseract.read(picture, timeout_s=left_s) if picture and left_s > 0 else None
        if text is not None:
            yield number, _cleaned(text)
        done()


def with_texts(extraction: Extraction, texts: Mapping[int, str]) -> Extraction:
    """The extraction with these pages' texts in their places; all offsets behind them move.

    texts: by page, which had none. A blank one leaves the page without text: there is nothing on it to read.
    """
    contents = _bounded(
        [texts.get(p.number) or extraction.text[p.start_char : p.end_char] for p in extraction.pages]
    )
    starts = list(accumulate((len(text) + 1 for text in contents), initial=0))
    shift = _Shift(extraction.pages, starts)
    return replace(
        extraction,
        text="\n".join(contents),
        pages=tuple(
            _page(page, start, text, texts)
            for page, start, text in zip(extraction.pages, starts, contents, strict=False)
        ),
        headings=tuple(replace(h, start_char=shift(h.start_char)) for h in extraction.headings),
        blocks=tuple(
            replace(b, start_char=shift(b.start_char), end_char=shift(b.end_char)) for b in extraction.blocks
        ),
    )


def _page(page: ExtractedPage, start: int, text: str, texts: Mapping[int, str]) -> ExtractedPage:
    moved = replace(page, start_char=start, end_char=start + len(text))
    if page.number not in texts or (texts[page.number] and not text):
        return moved
    return replace(moved, read_by="ocr" if text else "none", warnings=("ocr",) if text else ("no_text",))


def _bounded(texts: list[str]) -> list[str]:
    """Pages that would make the text larger than a document may be stay unread."""
    size, kept = 0, []
    for text in texts:
        size += len(text.encode())
        kept.append(text if size <= MAX_TEXT_BYTES else "")
    return kept


class _Shift:
    """Offsets in the old text -> in the new one. Places lie in pages that have kept their text."""

    def __init__(self, pages: Sequence[ExtractedPage], starts: Sequence[int]) -> None:
        self._old = [page.start_char for page in pages]
        self._new = starts

    def __call__(self, place: int) -> int:
        page = max(0, bisect_right(self._old, place) - 1)
        return place - self._old[page] + self._new[page]


def _cleaned(text: str) -> str:
    """Tesseract parts paragraphs by blank lines; their lines are joined as those of any page."""
    parts = (paragraphs(clean_page(part)) for part in text.split("\n\n"))
    cleaned = "\n\n".join(part for part in parts if part)
    return cleaned if len(_WORD.findall(cleaned)) >= _FEWEST_WORDS else ""


OcrMode = Literal["auto", "on", "off"]
OCR_MODES: tuple[OcrMode, ...] = ("auto", "on", "off")
OnPage = Callable[[int], None]  # how many pages that are pictures are done

_OFF = "text recognition (OCR) is turned off"
_MISSING = "text recognition (Tesseract) is not installed"
_BUSY = "text recognition was busy with other documents"
_FAILED = "text recognition failed"
_NO_TIME = {
    True: "recognising more of them would take too long",
    False: "an upload has no time to recognise more of them (a job has)",
}
_MOST_RANGES = 20


@dataclass(frozen=True, slots=True)
class Scans:
    """mode: "off" never recognises; "auto" and "on" do where Tesseract is there.

    languages: of Tesseract; none for English and what else is installed. One file at a time in a process.
    """

    mode: OcrMode
    languages: tuple[str, ...]
    lane: Turns

    def complete(self, extraction: Extraction, draw: Draw, *, patient: bool, on_page: OnPage) -> Extraction:
        """With the text of the pictures, and sentences about what is still unread, or doubtful."""
        pages = pages_to_recognise(extraction)
        budget = PATIENT if patient else BRIEF
        why = ""
        if pages:
            extraction, why = self._recognised(extraction, pages, draw, budget, on_page)
            on_page(len(pages))
        return replace(extraction, warnings=(*extraction.warnings, *_sentences(extraction, why)))

    def _recognised(
        self, extraction: Extraction, pages: list[int], draw: Draw, budget: Budget, on_page: OnPage
    ) -> tuple[Extraction, str]:
        """(the extraction, why pages are still unread)"""
        tesseract = None if self.mode == "off" else find_tesseract(self.languages)
        if tesseract is None:
            return extraction, _OFF if self.mode == "off" else _MISSING
        if not self.lane.acquire(budget.seconds):
            return extraction, _BUSY
        tried = 0

        def done() -> None:
            nonlocal tried
            tried += 1
            on_page(tried)

        try:
            texts = dict(recognise(pages, draw, tesseract, budget, done))
        finally:
            self.lane.release()
        why = _FAILED if tried == len(pages) else _NO_TIME[budget is PATIENT]
        return with_texts(extraction, texts), why


def _sentences(extraction: Extraction, why: str) -> list[str]:
    found = []
    unread, garbled, read = (_with(extraction, word) for word in ("image_only", "garbled", "ocr"))
    if unread:
        are = "is unread: it is a picture" if len(unread) == 1 else "are unread: they are pictures"
        found.append(f"{_pages(unread)} {are}, and {why}.")
    if garbled:
        are = "is" if len(garbled) == 1 else "are"
        found.append(
            f"{_pages(garbled)} {are} only partly readable: the encoding of the letters gives no text."
        )
    if read:
        was = "was read from a picture" if len(read) == 1 else "were read from pictures"
        found.append(f"{_pages(read)} {was} by text recognition (OCR), which makes mistakes.")
    return found


def _with(extraction: Extraction, word: str) -> list[int]:
    return [page.number for page in extraction.pages if word in page.warnings]


def _pages(numbers: Sequence[int]) -> str:
    """[3, 4, 5, 9] -> "Pages 3-5 and 9"; very many places are not all named."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    words = [str(first) if first == last else f"{first}-{last}" for first, last in ranges]
    if len(words) > _MOST_RANGES:
        words = [*words[:_MOST_RANGES], "others"]
    listed = " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
    return f"{'Page' if len(numbers) == 1 else 'Pages'} {listed}"
