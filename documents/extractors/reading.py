"""Bytes -> Extraction, by what the bytes are. Runs in the sandbox only."""

import re

from documents.extractors.failures import NOT_A_DOCUMENT, Unreadable
from documents.extractors.frames import Report, Silent
from documents.extractors.kinds import opens_as_pdf
from documents.extractors.limits import Job
from documents.extractors.markdown import read_markdown
from documents.extractors.pdf import read_pdf
from documents.types import Extraction

# Markdown may hold HTML, but what opens as a page of its own is one, whatever it is called.
_HTML_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,1000}<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)


def read_document(data: bytes, job: Job, report: Report | None = None) -> Extraction:
    """Raises Unreadable, also for a type that is not among the job's sources."""
    report = report or Silent()
    if opens_as_pdf(data) and "PDF" in job.sources:
        return read_pdf(data, reader=job.pdf_reader, report=report)
    if job.named == "markdown" and "MARKDOWN" in job.sources and not _HTML_PAGE.match(data):
        return read_markdown(data)
    raise Unreadable(NOT_A_DOCUMENT)
