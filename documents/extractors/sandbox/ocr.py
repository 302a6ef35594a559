"""Text recognition (OCR) by Tesseract for pages that are pictures, and warnings where it cannot be done."""

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
from statistics import median
from typing import Literal

from documents.extractors.cleaning import clean_page
from documents.extractors.failures import MAX_TEXT_BYTES
from documents.extractors.pdf.layout import join_paragraphs
from documents.extractors.sandbox.fair_semaphore import FairSemaphore
from documents.protocols import OnProgress
from documents.text.characters import clean_characters
from documents.types import (
    MAX_PAGE_WORDS,
    WORD_SCALE,
    ExtractedPage,
    Extraction,
    PagePicture,
    PlacedWord,
    ReadingProgress,
)

PAGE_S = 20.0  # by the clock; its CPU time is limited too
_LIST_S = 5.0
_MAX_CHARS = 500_000  # of a page
_MAX_LANGUAGES = 3  # each takes its time; more make it guess
_JAIL = Path(__file__).with_name("jail.py")
_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_/-]{1,40}")


# Both the text and the words' boxes from one run; the table's rows have twelve columns.
_OUTPUTS = ("-c", "tessedit_create_txt=1", "-c", "tessedit_create_tsv=1")
_TABLE_HEAD = "level\tpage_num\t"
_TABLE_ROW = re.compile(
    r"(?P<level>[1-5])\t(?:[0-9]{1,9}\t){5}(?P<left>[0-9]{1,9})\t(?P<top>[0-9]{1,9})\t"
    r"(?P<width>[0-9]{1,9})\t(?P<height>[0-9]{1,9})\t-?[0-9.]+\t(?P<word>.*)"
)
_LINE_LEVEL = "4"
_MAX_WORD_CHARS = 100
_NEIGHBOURS = 2  # words on each side
_HIGHEST_WORD = 1.6  # median heights of the line's words


@dataclass(frozen=True, slots=True)
class RecognizedPage:
    """text: "" if the picture holds none. words: in the text's order, with their boxes."""

    text: str
    words: tuple[PlacedWord, ...]


@dataclass(frozen=True, slots=True)
class _PrintedWord:
    """box: left, top, right, bottom in the picture's pixels."""

    word: str
    box: tuple[int, int, int, int]

    @property
    def height(self) -> int:
        return self.box[3] - self.box[1]


@dataclass(frozen=True, slots=True)
class Tesseract:
    """The installed program. binary: its absolute path. languages: installed ones, the first weighs most."""

    binary: str
    languages: tuple[str, ...]

    def read(self, picture: PagePicture, *, timeout_s: float) -> RecognizedPage | None:
        """Return the recognized text and words; None if it failed or took too long."""
        command = [self.binary, "stdin", "stdout", "-l", "+".join(self.languages), "--dpi", "300", *_OUTPUTS]
        output = _run_confined(command, picture.to_pnm(), timeout_s=min(timeout_s, PAGE_S))
        return None if output is None else _parse_output(output, picture)


def _parse_output(output: str, picture: PagePicture) -> RecognizedPage:
    """Separate the text from the table of words, whichever comes first."""
    text_lines: list[str] = []
    printed_lines: list[list[_PrintedWord]] = [[]]
    for line in output.split("\n"):
        row = _TABLE_ROW.fullmatch(line)
        if row is None:
            if not line.startswith(_TABLE_HEAD):
                text_lines.append(line)
        elif row["level"] == _LINE_LEVEL:
            printed_lines.append([])
        elif word := clean_characters(row["word"]).strip():
            left, top = int(row["left"]), int(row["top"])
            box = (left, top, left + int(row["width"]), top + int(row["height"]))
            printed_lines[-1].append(_PrintedWord(word[:_MAX_WORD_CHARS], box))
    words = [_place_word(word, picture) for line in printed_lines for word in _level_words(line)]
    text = "\n".join(text_lines)[:_MAX_CHARS].replace("\f", "\n")
    return RecognizedPage(text, tuple(words[:MAX_PAGE_WORDS]))


def _level_words(line: Sequence[_PrintedWord]) -> list[_PrintedWord]:
    """Make each word as high as its neighbours, so that a dash or "on" is marked like the rest of its line.

    Only neighbours count, since a line of a crooked scan climbs; none that is far too high, which is a rule.
    """
    if not line:
        return []
    highest = _HIGHEST_WORD * median(word.height for word in line)
    levelled = []
    for index, word in enumerate(line):
        near = line[max(0, index - _NEIGHBOURS) : index + _NEIGHBOURS + 1]
        boxes = [word.box, *(other.box for other in near if other.height <= highest)]
        left, _, right, _ = word.box
        box = (left, min(box[1] for box in boxes), right, max(box[3] for box in boxes))
        levelled.append(_PrintedWord(word.word, box))
    return levelled


def _place_word(word: _PrintedWord, picture: PagePicture) -> PlacedWord:
    left, top, right, bottom = word.box
    across, down = WORD_SCALE / picture.width, WORD_SCALE / picture.height
    edges = (left * across, top * down, right * across, bottom * down)
    x0, y0, x1, y1 = (min(WORD_SCALE, round(edge)) for edge in edges)
    return word.word, x0, y0, x1, y1


def find_tesseract(languages: Sequence[str] = ()) -> Tesseract | None:
    """Find Tesseract with those of `languages` that are installed; without any, English and at most 2 more.

    Return None if it is not installed, or with none of these languages.
    """
    binary = shutil.which("tesseract")
    if binary is None:
        return None
    installed = _installed_languages(os.path.realpath(binary))
    if languages:
        chosen = tuple(language for language in languages if language in installed)
    else:
        chosen = tuple(sorted(installed, key=lambda language: (language != "eng", language)))
    return Tesseract(binary, chosen[:_MAX_LANGUAGES]) if chosen else None


@lru_cache(maxsize=4)
def _installed_languages(binary: str) -> tuple[str, ...]:
    listed = _run_confined([binary, "--list-langs"], b"", timeout_s=_LIST_S) or ""
    names = [line.strip() for line in listed.splitlines()]
    return tuple(name for name in names if _LANGUAGE.fullmatch(name) and name != "osd" and "/" not in name)


def _run_confined(command: Sequence[str], data: bytes, *, timeout_s: float) -> str | None:
    """Return the program's output; None if it failed, or did not end in time and was killed."""
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
_MAX_FILE_WORDS = 500_000  # whose boxes are kept: some 100 MB until they are stored
_FEWEST_WORDS = 2  # a single one is what Tesseract sees in a drawing or a stain
UNREAD = "image_only"


@dataclass(frozen=True, slots=True)
class OcrBudget:
    """Limits of recognition for one file: seconds by the clock, and pages."""

    seconds: float
    pages: int


BRIEF = OcrBudget(20.0, 20)  # somebody waits for the answer
PATIENT = OcrBudget(600.0, 500)


def pages_to_recognize(extraction: Extraction) -> list[int]:
    return [page.number for page in extraction.pages if UNREAD in page.warnings]


def recognize_pages(
    pages: Sequence[int], draw: Draw, tesseract: Tesseract, budget: OcrBudget
) -> Iterator[tuple[int, RecognizedPage | None]]:
    """Yield (page, what it holds) for each page that the budget allows; None for one that could not be read.

    The text of a page that holds nothing but a picture is "". Of very many words the last have no boxes.
    """
    deadline = time.monotonic() + budget.seconds
    words_left = _MAX_FILE_WORDS
    for number in pages[: budget.pages]:
        if time.monotonic() >= deadline:
            return
        picture = draw(number)
        left_s = deadline - time.monotonic()
        page = tesseract.read(picture, timeout_s=left_s) if picture and left_s > 0 else None
        if page is None:
            yield number, None
            continue
        words = page.words[:words_left]
        words_left -= len(words)
        yield number, RecognizedPage(_clean_text(page.text), words)


def insert_pages(extraction: Extraction, recognized: Mapping[int, RecognizedPage]) -> Extraction:
    """Return the extraction with these pages' texts inserted; all offsets behind them move.

    recognized: by page, which had none. A blank text leaves the page without any: there is nothing to read.
    """
    pages = extraction.pages
    texts = {number: page.text for number, page in recognized.items()}
    contents = _drop_excess_pages(
        [texts.get(page.number) or extraction.text[page.start_char : page.end_char] for page in pages]
    )
    old_starts = [page.start_char for page in pages]
    starts = list(accumulate((len(text) + 1 for text in contents), initial=0))

    def move(offset: int) -> int:
        page = max(0, bisect_right(old_starts, offset) - 1)
        return offset - old_starts[page] + starts[page]

    return replace(
        extraction,
        text="\n".join(contents),
        pages=tuple(
            _update_page(page, start, text, recognized.get(page.number))
            for page, start, text in zip(pages, starts, contents, strict=False)
        ),
        headings=tuple(
            replace(heading, start_char=move(heading.start_char)) for heading in extraction.headings
        ),
        blocks=tuple(
            replace(block, start_char=move(block.start_char), end_char=move(block.end_char))
            for block in extraction.blocks
        ),
    )


def _update_page(
    page: ExtractedPage, start: int, text: str, recognized: RecognizedPage | None
) -> ExtractedPage:
    moved = replace(page, start_char=start, end_char=start + len(text))
    if recognized is None or (recognized.text and not text):
        return moved
    if not text:
        return replace(moved, read_by="none", warnings=("no_text",))
    return replace(moved, read_by="ocr", warnings=("ocr",), words=recognized.words or None)


def _drop_excess_pages(texts: list[str]) -> list[str]:
    """Blank the pages that would make the text larger than a document may be: they stay unread."""
    size, kept = 0, []
    for text in texts:
        size += len(text.encode())
        kept.append(text if size <= MAX_TEXT_BYTES else "")
    return kept


def _clean_text(text: str) -> str:
    """Join lines as on any page, within the paragraphs that Tesseract separates by blank lines."""
    parts = (join_paragraphs(clean_page(part)) for part in text.split("\n\n"))
    cleaned = "\n\n".join(part for part in parts if part)
    return cleaned if len(_WORD.findall(cleaned)) >= _FEWEST_WORDS else ""


OcrMode = Literal["auto", "on", "off"]
OCR_MODES: tuple[OcrMode, ...] = ("auto", "on", "off")

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
class PageRecognizer:
    """Completes extractions by text recognition.

    mode: "off" never does; "auto" and "on" do if Tesseract is there. languages: for Tesseract; none for
    English and what else is installed. semaphore: one file at a time in a process.
    """

    mode: OcrMode
    languages: tuple[str, ...]
    semaphore: FairSemaphore

    def complete(
        self, extraction: Extraction, draw: Draw, *, patient: bool, on_progress: OnProgress | None
    ) -> Extraction:
        """Add the text of the pictures, and warnings about what is still unread, or doubtful."""
        pages = pages_to_recognize(extraction)
        reason = ""
        if pages:
            extraction, reason = self._recognize(extraction, pages, draw, patient, on_progress)
            _report(on_progress, extraction, 0)
        warnings = (*extraction.warnings, *_warning_sentences(extraction, reason))
        return replace(extraction, warnings=warnings)

    def _recognize(
        self,
        extraction: Extraction,
        pages: list[int],
        draw: Draw,
        patient: bool,
        on_progress: OnProgress | None,
    ) -> tuple[Extraction, str]:
        """Return the extraction, and why pages are still unread."""
        if self.mode == "off":
            return extraction, _OFF
        tesseract = find_tesseract(self.languages)
        if tesseract is None:
            return extraction, _MISSING
        budget = PATIENT if patient else BRIEF
        if not self.semaphore.acquire(budget.seconds):
            return extraction, _BUSY
        recognized: dict[int, RecognizedPage] = {}
        tried = 0
        try:
            for number, page in recognize_pages(pages, draw, tesseract, budget):
                tried += 1
                if page is not None:
                    recognized[number] = page
                _report(on_progress, extraction, len(pages) - tried)
        finally:
            self.semaphore.release()
        reason = _FAILED if tried == len(pages) else _NO_TIME[patient]
        return insert_pages(extraction, recognized), reason


def _report(on_progress: OnProgress | None, extraction: Extraction, pages_left: int) -> None:
    """Report recognized pages after all others, which were read before."""
    if on_progress:
        total = len(extraction.pages)
        on_progress(ReadingProgress(total - pages_left, total))


def _warning_sentences(extraction: Extraction, reason: str) -> list[str]:
    sentences = []
    unread, garbled, read = (
        _pages_with_warning(extraction, word) for word in ("image_only", "garbled", "ocr")
    )
    if unread:
        are = "is unread: it is a picture" if len(unread) == 1 else "are unread: they are pictures"
        sentences.append(f"{_format_page_numbers(unread)} {are}, and {reason}.")
    if garbled:
        are = "is" if len(garbled) == 1 else "are"
        numbers = _format_page_numbers(garbled)
        sentences.append(f"{numbers} {are} only partly readable: the encoding of the letters gives no text.")
    if read:
        was = "was read from a picture" if len(read) == 1 else "were read from pictures"
        sentences.append(
            f"{_format_page_numbers(read)} {was} by text recognition (OCR), which makes mistakes."
        )
    return sentences


def _pages_with_warning(extraction: Extraction, word: str) -> list[int]:
    return [page.number for page in extraction.pages if word in page.warnings]


def _format_page_numbers(numbers: Sequence[int]) -> str:
    """Format [3, 4, 5, 9] as "Pages 3-5 and 9"; very many ranges are not all named."""
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
