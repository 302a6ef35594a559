"""Bytes -> Extraction, by what the bytes are. Runs in the sandbox only."""

from documents.extractors.failures import NOT_A_DOCUMENT, Unreadable
from documents.extractors.markdown import read_markdown
from documents.extractors.pdf import read_pdf
from documents.types import Extraction

_MAGIC, _MAGIC_WITHIN = b"%PDF-", 1024


def read_document(data: bytes, *, named_markdown: bool, pdf_reader: str) -> Extraction:
    """The name only tells Markdown from other text; a PDF may be called anything. Raises Unreadable."""
    if _MAGIC in data[:_MAGIC_WITHIN]:
        return read_pdf(data, reader=pdf_reader)
    if named_markdown:
        return read_markdown(data)
    raise Unreadable(NOT_A_DOCUMENT)
