"""Bytes -> Extraction, by what the bytes are. Runs in the sandbox only."""

import re

from documents.extractors.failures import NOT_A_DOCUMENT, Unreadable
from documents.extractors.markdown import read_markdown
from documents.extractors.pdf import read_pdf
from documents.types import Extraction

_MAGIC, _MAGIC_WITHIN = b"%PDF-", 1024
# Markdown may hold HTML, but what opens as a page of its own is one, whatever it is called.
_HTML_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,1000}<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)


def read_document(data: bytes, *, named_markdown: bool, pdf_reader: str) -> Extraction:
    """The name only tells Markdown from other text; a PDF may be called anything. Raises Unreadable."""
    if _MAGIC in data[:_MAGIC_WITHIN]:
        return read_pdf(data, reader=pdf_reader)
    if named_markdown and not _HTML_PAGE.match(data):
        return read_markdown(data)
    raise Unreadable(NOT_A_DOCUMENT)
