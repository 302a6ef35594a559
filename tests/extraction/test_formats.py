"""Every format in the jail, where no file can be opened and nothing imported; ill-meant files among them."""

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from documents.extractors.sandbox.extractor import SandboxedExtractor
from documents.types import ALL_SOURCES, Extraction, ReadingProgress
from knowlex.base.errors import UnreadableDocument
from tests.extraction.test_docx import paragraph, report, saved, zipped
from tests.extraction.test_html import PAGE
from tests.extraction.test_mail import letter
from tests.extraction.test_office_formats import CHAPTERS, entry, epub, odt, talk
from tests.extraction.test_sheets import workbook
from tests.support.compound_file import make_compound_file
from tests.support.pdf import make_pdf

Read = Callable[[bytes, str], Extraction]
OPEN = "<!doctype html><html><body>"
PROPERTIES, SUBJECT = "__properties_version1.0", "__substg1.0_0037001F"
ENTITIES = "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 12))
LAUGHS = f"<!DOCTYPE a [<!ENTITY l0 'ha'>{ENTITIES}]>"
SHEET = "xl/worksheets/sheet1.xml"
TABLES = "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"
LISTS = "<text:list><text:list-item>", "</text:list-item></text:list>"
WIDE = '<row r="{row}"><c r="XFD{row}"><v>1</v></c></row>'
CELL = '<row r="{row}"><c r="{cell}" t="inlineStr"><is><t>{text}</t></is></c></row>'


def sheet_of(rows: str, before: str = "") -> bytes:
    """Return a workbook whose sheet is written by hand."""
    file = io.BytesIO()
    names = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    with zipfile.ZipFile(io.BytesIO(workbook(A=[["x"]]))) as good, zipfile.ZipFile(file, "w", 8) as bad:
        for name in good.namelist():
            sheet = f"{before}<worksheet {names}><sheetData>{rows}</sheetData></worksheet>"
            bad.writestr(name, sheet if name == SHEET else good.read(name))
    return file.getvalue()


def looped_msg() -> bytes:
    """Return a mail whose directory leads from its last entry to that entry again."""
    data = bytearray(make_compound_file({PROPERTIES: b"", SUBJECT: "Hello".encode("utf-16-le")}))
    place = data.index(SUBJECT.encode("utf-16-le")) + 72  # of the right neighbour
    data[place : place + 4] = (2).to_bytes(4, "little")
    return bytes(data)


def nested_mail(depth: int) -> bytes:
    return b"Subject: a\r\nFrom: b\r\nContent-Type: message/rfc822\r\n\r\n" * depth + b"Hello"


@pytest.fixture(scope="module")
def extractor() -> SandboxedExtractor:
    return SandboxedExtractor()


@pytest.fixture
def read(extractor: SandboxedExtractor, tmp_path: Path) -> Read:
    def extract(data: bytes, filename: str) -> Extraction:
        path = tmp_path / "upload"
        path.write_bytes(data)
        return extractor.extract(path, filename=filename, sources=ALL_SOURCES)

    return extract


@pytest.mark.parametrize(
    ("data", "filename", "source", "opening"),
    [
        (make_pdf("A few words."), "a.pdf", "PDF", "A few words."),
        (b"---\ntitle: T\n---\n# A few\n\n- words", "a.md", "MARKDOWN", "# A few"),
        ("# Größe".encode("cp1252"), "a.md", "MARKDOWN", "# Größe"),
        (PAGE.encode(), "a.html", "HTML", "How cells work"),
        ("<html><p>Größe und Käufer".encode("cp1252"), "a.html", "HTML", "Größe und Käufer"),
        (saved(report()), "a.docx", "DOCX", "The year"),
        (zipped(paragraph("The least that is a DOCX.")), "a", "DOCX", "The least"),
        ("Le café est fermé.".encode("cp1252"), "a.txt", "TEXT", "Le café"),
        ("Это простой текст для проверки.".encode("koi8-r"), "a.txt", "TEXT", "Это простой"),
        ("これは日本語のテキストです。".encode("euc_jp"), "a.txt", "TEXT", "これは日本語"),
        ("這是一個中文文本，用於測試編碼。".encode("big5"), "a.txt", "TEXT", "這是一個"),
        (workbook(Towns=[["Town", "Sold"], ["Rome", 3]]), "a", "XLSX", "Town | Sold\nRome | 3"),
        ("town;sold\nKöln;3\n".encode("cp1252"), "a.csv", "CSV", "town | sold\nKöln | 3"),
        (saved(talk()), "a", "PPTX", "Results\n\n- Sales grew"),
        (odt("<text:p>A few words.</text:p>"), "a", "ODT", "A few words."),
        (rb"{\rtf1 A few \b words}", "a", "RTF", "A few words"),
        (epub(CHAPTERS, entry("The Owl", "one.xhtml")), "a", "EPUB", "I. The Owl"),
        (letter(html="<p>x").as_bytes(), "a.eml", "EML", "The lamp\n\nFrom: Ann Lee"),
        (make_compound_file({PROPERTIES: b"", SUBJECT: "A lamp".encode("utf-16-le")}), "a", "MSG", "A lamp"),
    ],
)
def test_each_format_is_read(read: Read, data: bytes, filename: str, source: str, opening: str) -> None:
    found = read(data, filename)
    assert found.source == source
    assert found.text.startswith(opening)


def test_the_files_of_a_mail_come_out_of_the_jail(read: Read) -> None:
    mail = letter()
    mail.add_attachment(bytes(range(256)) * 9000, "application", "pdf", filename="a.pdf")
    mail.add_attachment("two\nlines\n", filename="b.txt")
    found = read(mail.as_bytes(), "a.eml")
    assert [file.filename for file in found.attachments] == ["a.pdf", "b.txt"]
    assert [file.data for file in found.attachments] == [bytes(range(256)) * 9000, b"two\nlines\n"]


def test_what_a_page_says_of_itself_comes_out_of_the_jail(read: Read) -> None:
    found = read(PAGE.encode(), "a.html")
    assert (found.title, found.metadata["author"], found.metadata["date"]) == (
        "How cells work",
        "Ann Lee",
        "2024-03-02",
    )
    assert [block.kind for block in found.blocks] == ["list", "list", "code", "table"]


def test_a_file_without_pages_counts_as_one(extractor: SandboxedExtractor, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(b"Just text.")
    told: list[ReadingProgress] = []
    extractor.extract(path, filename="a.txt", sources=ALL_SOURCES, on_progress=told.append)
    assert told == [ReadingProgress(1, 1)]


@pytest.mark.parametrize(
    ("make", "filename"),
    [
        (lambda: (OPEN + "<div>" * 200_000 + "Hello").encode(), "deep.html"),
        (lambda: (OPEN + "<p " + "a" * 20_000_000 + ">Hello").encode(), "one-tag.html"),
        (lambda: (OPEN + "<table><tr><td>" * 900 + "Hello").encode(), "tables.html"),
        (lambda: (OPEN + "<!--" * 500_000 + "--><p>Hello").encode(), "comments.html"),
        (lambda: b"Hello <!-- " * 200_000, "comments"),
        (lambda: b"Hello\n\n" + b">" * 200_000, "quotes.md"),
        (lambda: b"---\ntitle: " + b"[" * 19_000 + b"\n---\nHello", "brackets.md"),
        (lambda: b"---\na: &a [x]\nb: [*a, *a]\n---\nHello", "aliases.md"),
        (lambda: zipped(paragraph("A" * 90_000_000)), "bomb.docx"),
        (lambda: zipped(TABLES[0] * 60 + paragraph("Hello") + TABLES[1] * 60), "a.docx"),
        (lambda: zipped(paragraph("Hello"), more={"word/media/x": b"\x00" * 450_000_000}), "media.docx"),
    ],
)  # fmt: skip
def test_ill_meant_files_end_and_the_next_one_is_read(
    read: Read, make: Callable[[], bytes], filename: str
) -> None:
    try:
        assert "Hello" in read(make(), filename).text
    except UnreadableDocument as exc:
        assert exc.message.startswith(("The document ", "The DOCX is damaged"))  # noqa: PT017
    assert read(b"Still here.", "next.txt").text == "Still here."


@pytest.mark.parametrize(
    ("make", "filename"),
    [
        (lambda: sheet_of(CELL.format(row=1, cell="A1", text="A" * 90_000_000)), "cell.xlsx"),
        (lambda: sheet_of(CELL.format(row=10**9, cell="A1000000000", text="Hello")), "rows.xlsx"),
        (lambda: sheet_of(CELL.format(row=2**20, cell=f"XFD{2**20}", text="Hello")), "last-cell.xlsx"),
        pytest.param(
            lambda: sheet_of("".join(WIDE.format(row=row) for row in range(1, 30_000))),
            "wide.xlsx",
            marks=pytest.mark.slow,
        ),
        (lambda: sheet_of(CELL.format(row=1, cell="A1", text="&l11;"), LAUGHS), "entities.xlsx"),
        (lambda: sheet_of("<row>" * 500_000), "deep.xlsx"),
        (lambda: odt("<text:p>&l11;</text:p>", before=LAUGHS), "entities.odt"),
        (lambda: odt("<text:span>" * 500_000), "deep.odt"),
        (lambda: odt(LISTS[0] * 60 + "<text:p>Hello</text:p>" + LISTS[1] * 60), "lists.odt"),
        (lambda: epub({"a.xhtml": "<div>" * 200_000 + "Hello"}), "deep.epub"),
        (lambda: epub({"a.xhtml": f"{LAUGHS}&l11;Hello"}), "entities.epub"),
        (lambda: epub({f"{n}.xhtml": "A" * 1_200_000 for n in range(90)}), "bomb.epub"),
        (lambda: b"{\\rtf1 " + b"{" * 2_000_000 + b"Hello", "deep.rtf"),
        (lambda: b"{\\rtf1 {\\field{\\*\\fldinst{HYPERLINK " + b'"' * 60_000 + b"Hello", "quotes.rtf"),
        (lambda: b'a,b\n"' + b"A" * 25_000_000, "field.csv"),
        (lambda: b"," * 3_000_000 + b"Hello", "columns.csv"),
        (lambda: nested_mail(1_000), "nested.eml"),
        (lambda: b"Subject: a\r\nFrom: b\r\nTo: " + b"<a@b>," * 500_000 + b"\r\n\r\nHello", "header.eml"),
        (looped_msg, "loop.msg"),
    ],
)
def test_ill_meant_office_files_end_and_the_next_one_is_read(
    read: Read, make: Callable[[], bytes], filename: str
) -> None:
    try:
        assert "Hello" in read(make(), filename).text
    except UnreadableDocument as exc:
        assert re.match(r"The document |The (XLSX|ODT|EPUB|RTF|mail) is damaged", exc.message)  # noqa: PT017
    assert read(b"Still here.", "next.txt").text == "Still here."
