"""How each page of a document was read. A service: no HTTP."""

from dataclasses import dataclass
from uuid import UUID

from documents.access import Access
from documents.models import DocumentEntry, Page
from knowlex.common.database import with_retries
from knowlex.common.errors import NotFound


@dataclass(frozen=True, slots=True)
class PageReport:
    """number: 1-based. characters: of the page's text. read_by: "pdfium", "pypdf", "ocr", "text" or "none".

    warnings: words of documents.types.PAGE_WARNINGS.
    """

    number: int
    characters: int
    read_by: str
    warnings: tuple[str, ...]


def page_report(document_id: UUID, *, access: Access, in_any_state: bool = False) -> list[PageReport]:
    """All pages in order, in one statement; a stored document has at least one. Raises NotFound.

    in_any_state: a document that waits, is being read or could not be read has none, and is not unknown.
    """
    pages = Page.objects.of_document(document_id).allowed_to(access).lengths()
    report = with_retries(lambda: [PageReport(n, size, by, tuple(w)) for n, size, by, w in pages.all()])
    if not report and not (in_any_state and _is_known(document_id, access)):
        raise NotFound(f"Document not found: {document_id}")
    return report


def _is_known(document_id: UUID, access: Access) -> bool:
    return with_retries(DocumentEntry.objects.allowed_to(access).filter(id=document_id).exists)
