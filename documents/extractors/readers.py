"""Bytes -> Extraction, by what the bytes are. Runs in the sandbox only."""

from documents.extractors.sandbox.frames import Report, Silent
from documents.extractors.sandbox.limits import Job
from documents.extractors.sniffing import source_of
from documents.types import Extraction

# Each reader is imported when a file needs it: a nursery that is given nothing but PDFs stays small and
# starts at once. In the jail nothing can be imported: warming.py does it before.


def read_document(data: bytes, job: Job, report: Report | None = None) -> Extraction:
    """Raises Unreadable, also for a type that is not among the job's sources."""
    report = report or Silent()
    source = source_of(data, job.named, job.sources)
    if source == "PDF":
        from documents.extractors.pdf.reader import draw_page, read_pdf

        if job.draw:
            report.picture(draw_page(data, job.draw))
            return Extraction("PDF", "", ())
        return read_pdf(data, reader=job.pdf_reader, report=report)
    extraction = _read_other(data, job, source)
    report.progress(1, 1)
    return extraction


def _read_other(data: bytes, job: Job, source: str) -> Extraction:
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
