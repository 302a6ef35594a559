"""What a file is shows in its bytes; the name only tells kinds of text apart."""

import io
import zipfile

import pytest

from documents.extractors.failures import Unreadable
from documents.extractors.job import guess_name_kind
from documents.extractors.readers import OLE, detect_source
from documents.types import ALL_SOURCES, UPLOAD_SOURCES, Source
from tests.extraction.test_office_formats import odt


def archive(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        for name in names:
            zipped.writestr(name, "x")
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "filename", "source"),
    [
        (b"\n" * 1000 + b"%PDF-1.4", "notes.txt", "PDF"),
        (b"A PDF begins with %PDF-1.7.", "notes.txt", "TEXT"),
        (b"| Type | Bytes |\n|-|-|\n| PDF | %PDF- |", "notes.md", "MARKDOWN"),
        (b"HTTP/1.1 200 OK\r\n\r\n%PDF-1.7", "saved", "PDF"),
        (archive("word/document.xml"), "report.pdf", "DOCX"),
        (b"<!DOCTYPE html><p>Hi", "page.txt", "HTML"),
        (b"\xef\xbb\xbf \n<HTML lang=de><p>Hi", "page.md", "HTML"),
        (b"<!-- saved --><!-- twice -->\n<html><p>Hi", "page", "HTML"),
        (b"<?xml version='1.0'?>\n<!-- x -->\n<!DOCTYPE html PUBLIC 'x'><html>", "page", "HTML"),
        ("<html><body>Hi".encode("utf-16"), "page", "HTML"),
        (b"<body class='x'>Hi", "page", "HTML"),
        (b"<p>A piece of a page.</p>", "piece.htm", "HTML"),
        (b"no tags at all", "page.html", "TEXT"),
        (b"a < b and b > c", "page.html", "TEXT"),
        (b"# Title", "notes.md", "MARKDOWN"),
        (b"# Title", "NOTES.MKD", "MARKDOWN"),
        (b"<div align=center>\n\n# Title", "readme.md", "MARKDOWN"),
        (b"# Title", "notes.txt", "TEXT"),
        (b"a,b\n1,2\n", "table.csv", "CSV"),
        (b"a,b\n1,2\n", "table.txt", "TEXT"),
        (archive("xl/workbook.xml"), "report.pdf", "XLSX"),
        (archive("ppt/presentation.xml"), "talk", "PPTX"),
        (archive("META-INF/container.xml"), "book", "EPUB"),
        (odt("<text:p>Hi</text:p>"), "letter", "ODT"),
        (b"{\\rtf1 Hello}", "letter.txt", "RTF"),
        (b"{\\rtf1 \\bin2 \x00\x00}", "letter.doc", "RTF"),
        (b"Received: x\r\n y\r\nSubject: Hi\r\n\r\nHello", "a.eml", "EML"),
        (b"Subject: Hi\r\nFrom: me\r\n\r\nHello", "a.txt", "TEXT"),
        (b"Dear Ann,\n\nHello", "a.eml", "TEXT"),
        (OLE + "__properties_version1.0".encode("utf-16-le"), "a", "MSG"),
        (b"{\"a\": 1}", "data.json", "TEXT"),
        (b"MZ is how programs begin.", "notes", "TEXT"),
        ("Grüße".encode("utf-16"), "notes.txt", "TEXT"),
        (b"", "empty.txt", "TEXT"),
    ],
)  # fmt: skip
def test_the_content_decides(data: bytes, filename: str, source: Source) -> None:
    assert detect_source(data, guess_name_kind(filename), ALL_SOURCES) == source


@pytest.mark.parametrize(
    ("data", "seems"),
    [
        (archive("xl/workbook.bin"), "a spreadsheet in another format than XLSX"),
        (archive("ppt/presentation.bin"), "a presentation in another format than PPTX"),
        (archive("mimetype", "content.xml"), "an OpenDocument file that is no text"),
        (archive("a.txt"), "a ZIP archive"),
        (b"PK\x03\x04 and nothing more", "a damaged DOCX, XLSX, PPTX, ODT, EPUB or ZIP file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 99, "an Office file of the old kind"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a picture (PNG)"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "a picture (JPEG)"),
        (b"MZ\x90\x00\x03\x00", "a program"),
        (b"\x7fELF\x02\x01\x01\x00", "a program"),
        (b"<svg xmlns='x'>", "a picture (SVG)"),
        (b"\x00\x01\x02\x03" * 9, "binary data"),
    ],
)
def test_what_cannot_be_read_is_named(data: bytes, seems: str) -> None:
    with pytest.raises(Unreadable) as refused:
        detect_source(data, "other", ALL_SOURCES)
    assert seems in str(refused.value)
    assert "PDF, Markdown, HTML, DOCX, XLSX, CSV, PPTX, ODT, RTF, EPUB, mail (EML, MSG) and plain" in str(
        refused.value
    )


def test_a_word_file_under_a_password_is_told_from_an_old_one() -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 99 + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(Unreadable, match="password protected"):
        detect_source(data, "other", ALL_SOURCES)


@pytest.mark.parametrize(
    "data",
    [archive("word/document.xml"), b"<html><body>x", b"plain", b"", b"\x89PNG\r\n\x1a\n\x00", b"PK\x03\x04"]
)  # fmt: skip
def test_the_first_api_takes_pdf_and_markdown_only(data: bytes) -> None:
    with pytest.raises(Unreadable, match="neither a PDF nor a Markdown text"):
        detect_source(data, "text", UPLOAD_SOURCES)


def test_another_choice_is_named_in_the_refusal() -> None:
    with pytest.raises(Unreadable, match="an HTML page; what can be read is PDF"):
        detect_source(b"<html>", "other", frozenset({"PDF"}))


def test_many_comments_do_not_make_it_slow() -> None:
    assert detect_source(b"<!-- x -->" * 6_000 + b"<p>", "other", ALL_SOURCES) == "TEXT"
