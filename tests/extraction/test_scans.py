"""Pages that are pictures: read by text recognition where it is there, and else said to be unread."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from documents.extractors.pdf.reader import draw_page
from documents.extractors.sandbox import ocr
from documents.extractors.sandbox.extractor import SandboxedExtractor
from documents.extractors.sandbox.ocr import OcrBudget
from documents.types import Extraction, PagePicture, ReadingProgress
from knowlex.base.errors import UnreadableDocument
from tests.extraction import hostile
from tests.extraction.scans import BLANK, LETTER, needs_tesseract, scanned
from tests.support.typeset import Words, column, typeset

Read = Callable[..., Extraction]


@pytest.fixture(scope="module")
def extractor() -> SandboxedExtractor:
    return SandboxedExtractor(processes=2)


@pytest.fixture
def read(extractor: SandboxedExtractor, tmp_path: Path) -> Read:
    def extract(data: bytes, *, by: SandboxedExtractor | None = None, **options: object) -> Extraction:
        path = tmp_path / "scan.pdf"
        path.write_bytes(data)
        return (by or extractor).extract(path, filename="scan.pdf", **options)  # type: ignore[arg-type]

    return extract


@pytest.fixture
def no_tesseract(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


TYPED = column("This page has letters of its own.")


@needs_tesseract
def test_a_scanned_page_is_read(read: Read) -> None:
    told: list[ReadingProgress] = []
    found = read(typeset(TYPED, scanned(*LETTER), TYPED), on_progress=told.append)
    texts = [found.text[page.start_char : page.end_char] for page in found.pages]
    assert texts[0] == texts[2] == "This page has letters of its own."
    assert " ".join(texts[1].split()) == " ".join(LETTER)
    assert found.text == "\n".join(texts)
    assert [(page.read_by, page.warnings) for page in found.pages] == [
        ("pdfium", ()),
        ("ocr", ("ocr",)),
        ("pdfium", ()),
    ]
    assert found.warnings == (
        "Page 2 was read from a picture by text recognition (OCR), which makes mistakes.",
    )
    assert told[-1] == ReadingProgress(3, 3)


@needs_tesseract
def test_the_words_of_a_scanned_page_are_kept_with_their_boxes(read: Read) -> None:
    typed, scan = read(typeset(TYPED, scanned(*LETTER))).pages
    assert typed.words is None
    assert scan.words is not None
    assert [word for word, *_ in scan.words] == " ".join(LETTER).split()
    assert all(
        0 < left < right < 10_000 and 0 < top < bottom < 1_000 for _, left, top, right, bottom in scan.words
    )


@needs_tesseract
def test_the_text_is_that_of_tesseract_to_the_byte(tmp_path: Path) -> None:
    picture = tmp_path / "page.pnm"
    drawn = draw_page(typeset(scanned(*LETTER, "", "", "* a list", "* and more")), 1)
    picture.write_bytes(drawn.to_pnm())
    program = ocr.find_tesseract(["eng"])
    assert program is not None
    plain = subprocess.run(
        [program.binary, picture, "stdout", "-l", "eng", "--dpi", "300"], capture_output=True, check=True
    )
    page = program.read(drawn, timeout_s=60)
    assert page is not None
    assert page.text == plain.stdout.decode().replace("\f", "\n")


@needs_tesseract
def test_a_document_of_scans_alone_is_read(read: Read) -> None:
    assert "forty ships" in read(typeset(scanned(*LETTER)), patient=True).text


@needs_tesseract
def test_a_picture_without_letters_holds_no_text(read: Read) -> None:
    found = read(typeset(TYPED, BLANK))
    assert (found.pages[1].read_by, found.pages[1].warnings) == ("none", ("no_text",))
    assert found.warnings == ()


@needs_tesseract
def test_headings_behind_a_recognised_page_keep_their_places(read: Read) -> None:
    chapter = column(
        *["Plain words fill the line up to its end here."] * 3, Words("Second Part", 20, size=18)
    )
    first = column(Words("First Part", 20, size=18), *["Plain words fill the line up to its end here."] * 3)
    found = read(typeset(first, scanned(*LETTER), chapter))
    assert [found.text[h.start_char :].split("\n")[0] for h in found.headings] == [
        "First Part",
        "Second Part",
    ]


def test_without_tesseract_the_document_says_which_pages_are_unread(read: Read, no_tesseract: None) -> None:
    found = read(typeset(BLANK, TYPED, BLANK, BLANK))
    assert found.text.strip() == "This page has letters of its own."
    assert [page.warnings for page in found.pages] == [("image_only",), (), ("image_only",), ("image_only",)]
    assert found.warnings == (
        "Pages 1 and 3-4 are unread: they are pictures, and text recognition (Tesseract) is not installed.",
    )


def test_text_recognition_can_be_turned_off(read: Read) -> None:
    found = read(typeset(TYPED, BLANK), by=SandboxedExtractor(processes=1, ocr="off"))
    assert found.warnings == ("Page 2 is unread: it is a picture, and text recognition (OCR) is turned off.",)


def test_a_document_of_unread_pictures_alone_is_unreadable(read: Read, no_tesseract: None) -> None:
    with pytest.raises(UnreadableDocument, match="no extractable text"):
        read(typeset(BLANK, BLANK))


def test_a_blank_page_is_no_picture(read: Read) -> None:
    found = read(typeset(TYPED, []))
    assert (found.pages[1].warnings, found.warnings) == (("no_text",), ())


class FakeTesseract:
    """The program's place is taken by a script, so that the budget can be tested without the real one."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.script = folder / "tesseract"
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def does(self, commands: str) -> None:
        head = f"#!{os.path.realpath(sys.executable)} -IS\nimport os, sys\n"
        listing = "if '--list-langs' in sys.argv: sys.exit(print('Languages (2):', 'deu', 'eng', sep='\\n'))"
        self.script.write_text(f"{head}{listing}\n{commands}\n")
        self.script.chmod(0o755)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTesseract:
    return FakeTesseract(tmp_path, monkeypatch)


def test_what_the_budget_leaves_unread_is_said(
    read: Read, program: FakeTesseract, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.does("print('All recognised.')")
    monkeypatch.setattr("documents.extractors.sandbox.ocr.BRIEF", OcrBudget(600, pages=2))
    found = read(typeset(*[BLANK] * 4))
    assert [page.read_by for page in found.pages] == ["ocr", "ocr", "none", "none"]
    assert found.warnings[0].startswith("Pages 3-4 are unread: they are pictures, and an upload has no time")


@pytest.mark.parametrize(
    "commands", ["sys.exit(1)", "import ctypes; ctypes.string_at(0)", "while True: pass"]
)
def test_a_page_that_cannot_be_recognised_costs_no_other(
    read: Read, program: FakeTesseract, monkeypatch: pytest.MonkeyPatch, commands: str
) -> None:
    program.does(commands)
    monkeypatch.setattr(ocr, "PAGE_S", 1.0)
    found = read(typeset(TYPED, BLANK))
    assert found.text.strip() == "This page has letters of its own."
    assert found.warnings == ("Page 2 is unread: it is a picture, and text recognition failed.",)


def test_the_program_gets_no_secrets_and_its_languages(
    read: Read, program: FakeTesseract, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    program.does("print(sys.argv, os.environ, len(sys.argv))")
    text = read(typeset(BLANK)).text
    assert "eng+deu" in text
    assert "secret" not in text
    assert "'OMP_THREAD_LIMIT': '1'" in text


def test_pictures_of_any_size_are_bounded(read: Read, program: FakeTesseract) -> None:
    program.does("_, size = sys.stdin.buffer.readline(), sys.stdin.readline(); print('The size is', size)")
    wide = hostile.picture_page(width=14_400, height=2)
    width, height = read(wide).text.split()[-2:]
    assert int(width) * int(height) < 10_000_000
    assert int(width) <= 12_001


def _table(*rows: tuple[int, int, int, int, int, str]) -> str:
    """What Tesseract prints: a row's level, left, top, width and height, and its word."""
    return "".join(
        f"{level}\t1\t1\t1\t1\t1\t{left}\t{top}\t{width}\t{height}\t-1\t{word}\n"
        for level, left, top, width, height, word in rows
    )


HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
LINE = (4, 0, 0, 0, 0, "")
TEXT = "Tall - tall\n\n level 5\t1\n"


@pytest.mark.parametrize("output", ["{head}{table}{text}", "{head}{text}{table}", "{text}{head}{table}"])
def test_text_and_table_are_told_apart_in_any_order(output: str) -> None:
    table = _table(
        LINE,
        (5, 100, 10, 50, 20, "Tall"),
        (5, 200, 18, 8, 2, "-"),
        (5, 300, 10, 50, 20, "tall"),
        LINE,
        (5, 0, 90, 9, 9, " "),
    )
    printed = output.format(head=HEAD, table=table, text=TEXT)
    page = ocr._parse_output(printed, PagePicture(1, 1000, 100, b""))
    assert page.text == TEXT
    assert page.words == (
        ("Tall", 1000, 1000, 1500, 3000),
        ("-", 2000, 1000, 2080, 3000),
        ("tall", 3000, 1000, 3500, 3000),
    )


def test_a_rule_beside_a_word_makes_it_no_higher() -> None:
    rows = [(5, 10 * n, 50, 8, 10, "word") for n in range(4)]
    page = ocr._parse_output(_table(LINE, *rows, (5, 60, 0, 2, 99, "|")), PagePicture(1, 1000, 1000, b""))
    assert [(top, bottom) for _, _, top, _, bottom in page.words] == [(500, 600)] * 4 + [(0, 990)]


def test_words_without_end_are_bounded() -> None:
    page = ocr._parse_output(
        _table(LINE, *[(5, 1, 1, 9, 9, "x" * 5_000)] * 9_000), PagePicture(1, 10, 10, b"")
    )
    assert len(page.words) == 5_000
    assert {len(word) for word, *_ in page.words} == {100}


def test_only_pages_in_the_budget_are_drawn() -> None:
    drawn: list[int] = []

    def draw(page: int) -> None:
        drawn.append(page)

    program = ocr.Tesseract("/nowhere/tesseract", ("eng",))
    texts = dict(ocr.recognize_pages(range(1, 10_001), draw, program, OcrBudget(60, pages=500)))
    assert texts == dict.fromkeys(range(1, 501))
    assert len(drawn) == 500
