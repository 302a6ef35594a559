"""The choice of a reader by what the bytes are: bytes -> Extraction. Runs in the sandbox only."""

import re
import zipfile
from collections.abc import Set as AbstractSet
from io import BytesIO
from typing import NoReturn

from documents.extractors.decoding import decode, has_byte_order_mark, looks_binary
from documents.extractors.failures import NOT_A_DOCUMENT, PasswordNeeded, Unreadable
from documents.extractors.job import Job, NameKind, OnPages, opens_as_pdf
from documents.types import UPLOAD_SOURCES, Extraction, Source

_HEAD = 64 * 1024
_PAGE = re.compile(
    r"\s*+(?:<\?xml[^>]{0,500}\?>\s*+)?(?:(?><!--.*?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"</?[a-z][a-z0-9]*[\s>/]|<!--|<!doctype", re.IGNORECASE)
_NAMES: dict[Source, str] = {
    "PDF": "PDF",
    "MARKDOWN": "Markdown",
    "HTML": "HTML",
    "DOCX": "DOCX",
    "TEXT": "plain text",
}
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_IN_ZIP = {
    "xl/": "a spreadsheet (XLSX)",
    "ppt/": "a presentation (PPTX)",
    "visio/": "a drawing (VSDX)",
    "META-INF/container.xml": "an e-book (EPUB)",
    "content.xml": "an OpenDocument file",
    "META-INF/MANIFEST.MF": "a Java archive",
}
_BINARY = {
    b"\x89PNG": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"GIF8": "a picture (GIF)",
    b"II*\x00": "a picture (TIFF)",
    b"MM\x00*": "a picture (TIFF)",
    b"BM": "a picture (BMP)",
    b"RIFF": "a picture, a sound or a film",
    b"\x7fELF": "a program",
    b"MZ": "a program",
    b"\xcf\xfa\xed\xfe": "a program",
    b"\x1f\x8b": "a compressed file (gzip)",
    b"BZh": "a compressed file (bzip2)",
    b"\xfd7zXZ": "a compressed file (xz)",
    b"7z\xbc\xaf": "an archive (7z)",
    b"Rar!": "an archive (RAR)",
    b"SQLite format 3\x00": "a database (SQLite)",
    b"ID3": "a sound (MP3)",
    b"OggS": "a sound or a film (Ogg)",
    b"wOF": "a font",
}
_TEXTUAL = {r"{\rtf": "a rich text (RTF)", "%!PS": "a PostScript program", "<svg": "a picture (SVG)"}


def detect_source(data: bytes, name_kind: NameKind, sources: AbstractSet[Source]) -> Source:
    """Return which of `sources` the file is. Raises Unreadable, saying what the file seems to be."""
    if opens_as_pdf(data):
        return _require_source("PDF", sources)
    if data.startswith(_ZIP):
        entries = _list_entries(data)
        if "word/document.xml" in entries:
            return _require_source("DOCX", sources)
        _refuse(_describe_zip(entries), sources)
    if data.startswith(_OLE):
        _refuse_ole(data, sources)
    if not has_byte_order_mark(data) and looks_binary(data):
        _refuse(_describe_binary(data), sources)
    return _detect_text_source(data, name_kind, sources)


def _detect_text_source(data: bytes, name_kind: NameKind, sources: AbstractSet[Source]) -> Source:
    head = data[:_HEAD]
    opening = decode(head) if has_byte_order_mark(head) else head.decode("latin-1")
    if _PAGE.match(opening) or (name_kind == "html" and _TAG.search(opening)):
        return _require_source("HTML", sources)
    for magic, description in _TEXTUAL.items():
        if opening.lstrip().startswith(magic):
            _refuse(description, sources)
    if name_kind == "markdown" and "MARKDOWN" in sources:
        return "MARKDOWN"
    return _require_source("TEXT", sources)


def _require_source(source: Source, sources: AbstractSet[Source]) -> Source:
    if source not in sources:
        descriptions = {"TEXT": "a plain text", "HTML": "an HTML page"}
        _refuse(descriptions.get(source, f"a {_NAMES[source]} file"), sources)
    return source


def _refuse(description: str, sources: AbstractSet[Source]) -> NoReturn:
    if sources == UPLOAD_SOURCES:
        raise Unreadable(NOT_A_DOCUMENT)
    names = [name for source, name in _NAMES.items() if source in sources]
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    raise Unreadable(f"The file seems to be {description}; what can be read is {listed}.")


def _refuse_ole(data: bytes, sources: AbstractSet[Source]) -> NoReturn:
    """Refuse Office files from before 2007, and newer ones under a password."""
    if "EncryptedPackage".encode("utf-16-le") in data and "DOCX" in sources:
        raise PasswordNeeded
    _refuse("an Office file of the old kind (DOC, XLS, PPT)", sources)


def _list_entries(data: bytes) -> list[str]:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, OverflowError):
        return []


def _describe_zip(entries: list[str]) -> str:
    if not entries:
        return "a damaged DOCX or ZIP file"
    for start, description in _IN_ZIP.items():
        if any(name.startswith(start) for name in entries):
            return description
    return "a ZIP archive"


def _describe_binary(data: bytes) -> str:
    for magic, description in _BINARY.items():
        if data.startswith(magic):
            return description
    return "binary data"


# Each reader is imported when a file needs it: a fork server that reads nothing but PDFs stays small and
# starts at once. In the jail nothing can be imported: fork_server.py does it before.


def read_document(data: bytes, job: Job, on_pages: OnPages | None = None) -> Extraction:
    """Read a file of any type. Raises Unreadable, also for a type that is not among the job's sources."""
    source = detect_source(data, job.name_kind, job.sources)
    if source == "PDF":
        from documents.extractors.pdf.reader import read_pdf

        return read_pdf(data, reader=job.pdf_reader, on_pages=on_pages)
    extraction = _read_text_format(data, job, source)
    if on_pages:
        on_pages(1, 1)
    return extraction


def _read_text_format(data: bytes, job: Job, source: str) -> Extraction:
    if source == "MARKDOWN":
        from documents.extractors.markdown import read_markdown

        return read_markdown(data, any_encoding="TEXT" in job.sources)
    if source == "HTML":
        from documents.extractors.html import read_html

        return read_html(data)
    if source == "DOCX":
        from documents.extractors.docx import read_docx

        return read_docx(data)
    from documents.extractors.text import read_text

    return read_text(data)
