"""What becomes of pages that are pictures: they are read by OCR where it can be done, and else it is said."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from documents.extractors.ocr import BRIEF, PATIENT, Budget, Draw, pages_to_recognise, recognise, with_texts
from documents.extractors.tesseract import find_tesseract
from documents.extractors.turns import Turns
from documents.types import Extraction

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
