"""The choice of a reader by what the bytes are: bytes -> Extraction. Runs in the sandbox only."""

import re
import zipfile
import zlib
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from importlib import import_module
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
    "XLSX": "XLSX",
    "CSV": "CSV",
    "PPTX": "PPTX",
    "ODT": "ODT",
    "RTF": "RTF",
    "EPUB": "EPUB",
    "EML": "mail (EML, MSG)",
    "TEXT": "plain text",
}
ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PACKAGES: dict[str, Source] = {  # by an entry that each has
    "word/document.xml": "DOCX",
    "xl/workbook.xml": "XLSX",
    "ppt/presentation.xml": "PPTX",
    "META-INF/container.xml": "EPUB",
}
_ODT = b"application/vnd.oasis.opendocument.text"
_IN_ZIP = {
    "xl/": "a spreadsheet in another format than XLSX",
    "ppt/": "a presentation in another format than PPTX",
    "visio/": "a drawing (VSDX)",
    "content.xml": "an OpenDocument file that is no text",
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
_TEXTUAL = {"%!PS": "a PostScript program", "<svg": "a picture (SVG)"}
_RTF = rb"{\rtf"
_OUTLOOK = "__properties_version1.0".encode("utf-16-le")
_HEADER = re.compile(r"(?:[!-9;-~]+:[^\n]*\r?\n(?:[ \t]+[^\n]*\r?\n)*)+", re.ASCII)
_MAIL = re.compile(r"^(?:from|to|subject|date|received|message-id|mime-version|return-path):", re.I | re.M)


def detect_source(data: bytes, name_kind: NameKind, sources: AbstractSet[Source]) -> Source:
    """Return which of `sources` the file is. Raises Unreadable, saying what the file seems to be."""
    if opens_as_pdf(data, name_kind):
        return _require_source("PDF", sources)
    if data.startswith(ZIP):
        return _detect_package(data, sources)
    if data.startswith(OLE):
        if _OUTLOOK in data:
            return _require_source("MSG", sources)
        _refuse_ole(data, sources)
    if data[:_HEAD].lstrip().startswith(_RTF):  # pictures in it may be binary
        return _require_source("RTF", sources)
    if not has_byte_order_mark(data) and looks_binary(data):
        _refuse(_describe_binary(data), sources)
    return _detect_text_source(data, name_kind, sources)


def _detect_package(data: bytes, sources: AbstractSet[Source]) -> Source:
    entries = _list_entries(data)
    for entry, source in _PACKAGES.items():
        if entry in entries:
            return _require_source(source, sources)
    if "content.xml" in entries and _read_media_type(data).startswith(_ODT):
        return _require_source("ODT", sources)
    _refuse(_describe_zip(entries), sources)


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
    if name_kind == "mail" and "EML" in sources and _is_mail(opening):
        return "EML"
    if name_kind == "csv" and "CSV" in sources:
        return "CSV"
    return _require_source("TEXT", sources)


def _is_mail(opening: str) -> bool:
    """Tell if a text begins with the headers of a mail, or with "From " as a mailbox has it before them."""
    line, _, rest = opening.partition("\n")
    headers = _HEADER.match(rest if line.startswith("From ") else opening)
    return headers is not None and len(_MAIL.findall(headers.group())) > 1


def _require_source(source: Source, sources: AbstractSet[Source]) -> Source:
    if source not in sources:
        descriptions = {"TEXT": "a plain text", "HTML": "an HTML page", "MSG": "a mail of Outlook (MSG)"}
        _refuse(descriptions.get(source) or f"a {_NAMES[source]} file", sources)
    return source


def _refuse(description: str, sources: AbstractSet[Source]) -> NoReturn:
    if sources == UPLOAD_SOURCES:
        raise Unreadable(NOT_A_DOCUMENT)
    names = [name for source, name in _NAMES.items() if source in sources]
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    raise Unreadable(f"The file seems to be {description}; what can be read is {listed}.")


def _refuse_ole(data: bytes, sources: AbstractSet[Source]) -> NoReturn:
    """Refuse Office files from before 2007, and newer ones under a password."""
    if "EncryptedPackage".encode("utf-16-le") in data and sources & {"DOCX", "XLSX", "PPTX"}:
        raise PasswordNeeded
    _refuse("an Office file of the old kind (DOC, XLS, PPT)", sources)


def _list_entries(data: bytes) -> list[str]:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, OverflowError):
        return []


def _read_media_type(data: bytes) -> bytes:
    """Return what an OpenDocument file says it is, in an entry of its own; b"" where that is not there."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive, archive.open("mimetype") as entry:
            return entry.read(100)
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, NotImplementedError, OSError, EOFError):
        return b""


def _describe_zip(entries: list[str]) -> str:
    if not entries:
        return "a damaged DOCX, XLSX, PPTX, ODT, EPUB or ZIP file"
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


_READERS: dict[Source, tuple[str, str]] = {
    "HTML": ("html", "read_html"),
    "TEXT": ("text", "read_text"),
    "DOCX": ("docx", "read_docx"),
    "XLSX": ("office.xlsx", "read_xlsx"),
    "CSV": ("office.csv_table", "read_csv"),
    "PPTX": ("office.pptx", "read_pptx"),
    "ODT": ("office.odt", "read_odt"),
    "RTF": ("office.rtf", "read_rtf"),
    "EPUB": ("office.epub", "read_epub"),
    "EML": ("office.mail", "read_eml"),
    "MSG": ("office.msg", "read_msg"),
}


def read_document(data: bytes, job: Job, on_pages: OnPages | None = None) -> Extraction:
    """Read a file of any type. Raises Unreadable, also for a type that is not among the job's sources."""
    source = detect_source(data, job.name_kind, job.sources)
    if source == "PDF":
        from documents.extractors.pdf.reader import read_pdf

        return read_pdf(data, reader=job.pdf_reader, on_pages=on_pages)
    extraction = _read_text_format(data, job, source)
    if on_pages:
        on_pages(len(extraction.pages), len(extraction.pages))
    return extraction


def _read_text_format(data: bytes, job: Job, source: Source) -> Extraction:
    if source == "MARKDOWN":
        from documents.extractors.markdown import read_markdown

        return read_markdown(data, any_encoding="TEXT" in job.sources)
    module, name = _READERS[source]
    reader: Callable[[bytes], Extraction] = getattr(import_module(f"documents.extractors.{module}"), name)
    return reader(data)
