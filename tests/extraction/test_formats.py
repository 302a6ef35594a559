"""Every format in the jail, where no file can be opened and nothing imported; ill-meant files among them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from documents.extractors.sandbox.extractor import SandboxedExtractor
from documents.types import ALL_SOURCES, Extraction, ReadingProgress
from knowlex.base.errors import UnreadableDocument
from tests.extraction.test_docx import paragraph, report, saved, zipped
from tests.extraction.test_html import PAGE
from tests.support.pdf import make_pdf

Read = Callable[[bytes, str], Extraction]
OPEN = "<!doctype html><html><body>"


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
    ],
)
def test_each_format_is_read(read: Read, data: bytes, filename: str, source: str, opening: str) -> None:
    found = read(data, filename)
    assert found.source == source
    assert found.text.startswith(opening)


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
    ("data", "filename"),
    [
        ((OPEN + "<div>" * 200_000 + "Hello").encode(), "deep.html"),
        ((OPEN + "<p " + "a" * 20_000_000 + ">Hello").encode(), "one-tag.html"),
        ((OPEN + "<table><tr><td>" * 900 + "Hello").encode(), "tables.html"),
        ((OPEN + "<!--" * 500_000 + "--><p>Hello").encode(), "comments.html"),
        (b"Hello <!-- " * 200_000, "comments"),
        (b"Hello\n\n" + b">" * 200_000, "quotes.md"),
        (b"---\ntitle: " + b"[" * 19_000 + b"\n---\nHello", "brackets.md"),
        (b"---\na: &a [x]\nb: [*a, *a]\n---\nHello", "aliases.md"),
        (zipped(paragraph("A" * 90_000_000)), "bomb.docx"),
        (zipped("<w:tbl><w:tr><w:tc>" * 60 + paragraph("Hello") + "</w:tc></w:tr></w:tbl>" * 60), "a.docx"),
        (zipped(paragraph("Hello"), more={"word/media/x": b"\x00" * 450_000_000}), "media.docx"),
    ],
)  # fmt: skip
def test_ill_meant_files_end_and_the_next_one_is_read(read: Read, data: bytes, filename: str) -> None:
    try:
        assert "Hello" in read(data, filename).text
    except UnreadableDocument as exc:
        assert exc.message.startswith(("The document ", "The DOCX is damaged"))  # noqa: PT017
    assert read(b"Still here.", "next.txt").text == "Still here."
