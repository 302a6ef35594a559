"""One PDF library covers for the other, page by page; the libraries are the edge and misbehave to order."""

from collections.abc import Callable, Sequence

import pytest

from documents.extractors.failures import PasswordNeeded, Unreadable
from documents.extractors.pdf.pages import OutlineEntry, RawPage, ReaderName
from documents.extractors.pdf.reader import MAX_MISSES, GuardedReader, _choose_readers, _read_pages
from documents.types import ReadBy

PROSE = "This page has been read as it was meant to be read, word for word and in order. " * 2
Page = str | type[Exception] | Callable[[], str]


class Library:
    """Serves the given pages: text, an exception to raise, or something to call."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self.page_count = len(pages)
        self.asked: list[int] = []
        self._pages = pages

    def page(self, page_index: int) -> RawPage:
        self.asked.append(page_index)
        page = self._pages[page_index]
        if isinstance(page, str):
            return RawPage(page)
        if isinstance(page, type):
            raise page
        return RawPage(page())

    def outline(self) -> list[OutlineEntry]:
        return []

    def metadata(self) -> dict[str, str]:
        return {}


def guarded(name: ReaderName, library: Library, cpu_s: float = 5.0) -> GuardedReader:
    return GuardedReader(name, lambda data: library, b"", cpu_s=cpu_s)


def refusing(name: ReaderName, failure: type[Exception]) -> GuardedReader:
    def refuse(data: bytes) -> Library:
        raise failure

    return GuardedReader(name, refuse, b"", cpu_s=5.0)


def texts_and_readers(main: GuardedReader, cover: GuardedReader) -> tuple[list[str], list[ReadBy]]:
    pages, readers = _read_pages(main, cover, main.page_count())
    return [page.text for page in pages], readers


def busy() -> str:
    while True:
        pass


@pytest.mark.parametrize("failure", [AssertionError, RecursionError, OverflowError, MemoryError, KeyError])
def test_a_page_that_fails_is_read_by_the_other(failure: type[Exception]) -> None:
    main, cover = Library([PROSE, failure, ""]), Library(["unused", PROSE, PROSE])
    texts, read_by = texts_and_readers(guarded("pdfium", main), guarded("pypdf", cover))
    assert texts == [PROSE] * 3
    assert read_by == ["pdfium", "pypdf", "pypdf"]
    assert cover.asked == [1, 2]


def test_a_glued_page_is_replaced_only_by_a_better_one() -> None:
    glued = PROSE.replace(" ", "")
    texts, read_by = texts_and_readers(
        guarded("pdfium", Library([glued, glued])), guarded("pypdf", Library([PROSE, glued]))
    )
    assert read_by == ["pypdf", "pdfium"]
    assert texts[0] == PROSE


def test_pages_that_are_pictures_do_not_cost_the_other_reader_forever() -> None:
    cover = Library([""] * 50)
    texts, _ = texts_and_readers(guarded("pdfium", Library([""] * 50)), guarded("pypdf", cover))
    assert cover.asked == list(range(MAX_MISSES))
    assert not any(texts)


def test_a_reader_without_end_is_stopped_and_not_asked_again() -> None:
    cover = Library([busy, PROSE])
    texts, _ = texts_and_readers(guarded("pdfium", Library(["", ""])), guarded("pypdf", cover, cpu_s=0.1))
    assert texts == ["", ""]
    assert cover.asked == [0]


def test_the_first_that_opens_the_file_reads_it() -> None:
    other = guarded("pypdf", Library([PROSE]))
    assert _choose_readers([refusing("pdfium", ValueError), other]) == (other, None)


def test_a_password_is_named_if_either_asks_for_one() -> None:
    with pytest.raises(PasswordNeeded):
        _choose_readers([refusing("pdfium", PasswordNeeded), refusing("pypdf", ValueError)])


def test_a_file_that_neither_opens_is_damaged() -> None:
    with pytest.raises(Unreadable, match="damaged"):
        _choose_readers([refusing("pdfium", ValueError), refusing("pypdf", AssertionError)])
