"""Looking at a document: a page's picture and text, where a quote stands, the original file."""

from typing import Annotated
from urllib.parse import quote
from uuid import UUID

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from pydantic import Field

from documents.access import access_of
from documents.viewing import service
from documents.viewing.service import Highlights, PageText
from knowlex.base.errors import InvalidInput, NotFound
from knowlex.web.openapi import answer, operation
from knowlex.web.responses import body_response
from knowlex.web.shapes import Count, InputShape, Omittable, OutputShape, choice, number_text, read_parameters

WIDTHS = ("400", "800", "1200", "1600")
MAX_OFFSET = 2**31 - 1
BINARY = {"schema": {"type": "string", "format": "binary"}}
FILE_POLICY = "sandbox; default-src 'none'"
Rectangle = Annotated[
    tuple[float, float, float, float],
    Field(description="Left, top, right, bottom: shares of the page as it is shown, from the top left."),
]
Method = Annotated[
    str,
    Field(
        json_schema_extra={"enum": ["exact", "aligned", "none"]},
        description="exact: the stored text is the page's, letter by letter. aligned: the two differ, and the"
        " quote was found all the same. none: the place is not known for sure, so nothing is marked.",
    ),
]
Checksum = Annotated[
    Omittable[str],
    Field(description="SHA-256 of the version that is meant, as `content_hash` and citations have it."),
]


class ImageParameters(InputShape):
    width: Annotated[str, choice(*WIDTHS), Field(description="In pixels.")] = "1200"
    checksum: Checksum = None


class HighlightParameters(InputShape):
    start: Annotated[
        Omittable[Annotated[int, number_text(0, MAX_OFFSET)]],
        Field(description="Of the quote, as a citation's `start_char`."),
    ] = None
    end: Annotated[
        Omittable[Annotated[int, number_text(1, MAX_OFFSET)]],
        Field(description="Its `end_char`; at most 20,000 characters and 5 pages."),
    ] = None
    checksum: Checksum = None


class TextLineShape(OutputShape):
    start_char: Annotated[Count, Field(description="In the document's text.")]
    end_char: Count
    text: str
    box: Rectangle


class PageShape(OutputShape):
    document_id: UUID
    number: int
    start_char: Annotated[Count, Field(description="Of the page in the document's text.")]
    text: str
    width: Annotated[float | None, Field(description="In points; null where the page cannot be shown.")]
    height: float | None
    method: Method
    lines: list[TextLineShape]


class ViewedDocument(OutputShape):
    id: UUID
    filename: str
    title: str
    content_hash: str
    page_count: Count
    has_pages: Annotated[bool, Field(description="It is a PDF: its pages can be drawn.")]


class MarkedPageShape(OutputShape):
    number: int
    width: float | None
    height: float | None
    rects: Annotated[list[Rectangle], Field(description="One a line of the quote.")]
    method: Method


class QuoteContextShape(OutputShape):
    before: str
    quote: str
    after: str


class HighlightsShape(OutputShape):
    document: ViewedDocument
    replaced: Annotated[bool, Field(description="`checksum` is of another version: nothing is marked.")]
    quoted_text: str
    pages: list[MarkedPageShape]
    text: Annotated[
        QuoteContextShape | None,
        Field(description="The quote and what stands around it, where there are no pages."),
    ]


@operation(
    "getPageImage",
    "A page of a PDF as a picture",
    answer(
        200,
        "Drawn in the sandbox; kept until the document goes.",
        {"image/png": BINARY, "image/jpeg": BINARY},
    ),
    answer(304, "The client has it."),
    parameters=ImageParameters,
    failures={
        "409": "The document is another version than `checksum`",
        "422": "It is no PDF, or the page cannot be drawn",
    },
)
def image(request: HttpRequest, document_id: UUID, number: str) -> HttpResponse:
    given = read_parameters(request, ImageParameters)
    drawn = service.draw_page(
        document_id,
        _number(number),
        width=int(given.width),
        checksum=given.checksum,
        access=access_of(request),
    )
    if request.headers.get("If-None-Match") == drawn.etag:
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(drawn.data, content_type=drawn.media_type)
    response["ETag"] = drawn.etag
    response["Cache-Control"] = (
        "private, max-age=31536000, immutable" if given.checksum else "private, no-cache"
    )
    return response


@operation("getPage", "The text of a page, with the place of each line", answer(200, "The page.", PageShape))
def show(request: HttpRequest, document_id: UUID, number: str) -> HttpResponse:
    return _private(_page(service.read_page(document_id, _number(number), access=access_of(request))))


@operation(
    "getHighlights",
    "Where a quote stands on the pages of its document",
    answer(200, "The pages that hold it, each with its rectangles.", HighlightsShape),
    parameters=HighlightParameters,
)
def highlights(request: HttpRequest, document_id: UUID) -> HttpResponse:
    given = read_parameters(request, HighlightParameters)
    if (given.start is None) != (given.end is None):
        raise InvalidInput("start and end belong together.", field="end" if given.end is None else "start")
    if given.start is not None and given.end is not None and given.start >= given.end:
        raise InvalidInput("end must be greater than start.", field="end")
    found = service.find_highlights(
        document_id, start=given.start, end=given.end, checksum=given.checksum, access=access_of(request)
    )
    return _private(_highlights(found))


@operation(
    "getFile",
    "The original file of a document, to be saved",
    answer(200, "The bytes as they were uploaded.", {"application/octet-stream": BINARY}),
)
def file(request: HttpRequest, document_id: UUID) -> HttpResponseBase:
    stored = service.open_file(document_id, access=access_of(request))
    response = FileResponse(stored.source, content_type="application/octet-stream")
    response["Content-Length"] = str(stored.size_bytes)
    plain = "".join(
        c if c.isascii() and c.isprintable() and c not in '"\\%' else "_" for c in stored.filename
    )
    response["Content-Disposition"] = (
        f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(stored.filename, safe='')}"
    )
    response["Content-Security-Policy"] = FILE_POLICY
    response["Cache-Control"] = "private, no-cache"
    return response


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise NotFound(f"The document has no page {text[:20]}.")
    return int(text)


def _page(page: PageText) -> PageShape:
    lines = [
        TextLineShape(
            start_char=page.start_char + line.start,
            end_char=page.start_char + line.end,
            text=line.text,
            box=line.box,
        )
        for line in page.lines
    ]
    fields = {
        name: getattr(page, name) for name in ("number", "start_char", "text", "width", "height", "method")
    }
    return PageShape(document_id=page.document.id, lines=lines, **fields)


def _highlights(found: Highlights) -> HighlightsShape:
    document = found.document
    return HighlightsShape(
        document=ViewedDocument(
            id=document.id,
            filename=document.original_filename,
            title=document.title,
            content_hash=document.checksum,
            page_count=document.page_count,
            has_pages=document.source == "PDF",
        ),
        replaced=found.replaced,
        quoted_text=found.quoted_text,
        pages=[MarkedPageShape.of(page) for page in found.pages],
        text=QuoteContextShape.of(found.context) if found.context else None,
    )


def _private(body: OutputShape) -> HttpResponse:
    response = body_response(body)
    response["Cache-Control"] = "no-store"
    return response
