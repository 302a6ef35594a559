"""The Knowlex API's documents: /api/v1/documents.

A new document goes to the collection `default`, or to the one that `collection` (name or id; a form field
or a query parameter) names; the list shows `default`, or the one named. Ids are looked up in all collections.
"""

from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from pydantic import AliasPath, BeforeValidator, Field
from rest_framework.request import Request
from rest_framework.views import APIView

from documents import services
from documents.access import Access, access_of
from documents.ingest.idempotency import KEY_HEADER, Claim, Reply, answer_once, checked_key, fingerprint
from documents.ingest.requests import reply_response
from documents.ingest.uploads import MEDIA_TYPE, ReceivedUpload, receive_upload
from documents.library.collections import find_collection
from documents.library.listing import TYPES, PageReport, page_report
from documents.types import PAGE_WARNINGS
from knowlex.base.errors import Duplicate, InvalidInput
from knowlex.base.ids import parse_id
from knowlex.web.openapi import IDEMPOTENCY_KEY, answer, operation
from knowlex.web.responses import body_response, no_content
from knowlex.web.shapes import (
    CamelShape,
    ExactTime,
    FileBytes,
    InputShape,
    Omittable,
    OutputShape,
    number_text,
    read_parameters,
)

MAX_LIMIT, MAX_OFFSET = 1000, 1_000_000_000
UPLOAD_LOCK_S = 300.0  # longer than any upload is worked on
CollectionName = Annotated[str, Field(description="Name or id; `default` unless given.")]

NameOfCollection = Annotated[str, Field(validation_alias=AliasPath("collection", "name"))]
SourceKind = Annotated[str, Field(json_schema_extra={"enum": list(TYPES)})]


class UploadForm(InputShape):  # documents.ingest.uploads reads it
    file: Annotated[FileBytes, Field(description="A PDF or Markdown file of at most 50 MB.")]
    collection: CollectionName = ""


class UploadParameters(InputShape):
    collection: CollectionName = ""


class DocumentsParameters(UploadParameters):
    limit: Annotated[
        Omittable[Annotated[int, number_text(1, MAX_LIMIT)]],
        Field(description="At most so many; all unless given."),
    ] = None
    offset: Annotated[
        int, number_text(0, MAX_OFFSET), Field(description="Leave out so many of the newest first.")
    ] = 0


class IngestOutput(CamelShape):
    document_id: Annotated[UUID, Field(validation_alias="id")]
    filename: Annotated[str, Field(validation_alias="original_filename")]
    total_chunks: Annotated[int, Field(validation_alias="chunk_count")]
    # Whole when it is answered; how far its vectors are is another matter.
    status: Annotated[Literal["INGESTED"], BeforeValidator(lambda _: "INGESTED")]
    created_at: ExactTime
    source: SourceKind
    checksum: str
    collection: NameOfCollection
    warnings: list[str]


class DocumentOutput(CamelShape):
    id: UUID
    source: SourceKind
    original_filename: str
    checksum: Annotated[str, Field(description="SHA-256 of the uploaded bytes, 64 hex digits")]
    created_at: ExactTime
    title: str
    size_bytes: int
    page_count: int
    total_chunks: Annotated[int, Field(validation_alias="chunk_count")]
    collection: NameOfCollection
    warnings: list[str]


class ChunkOutput(CamelShape):
    id: UUID
    document_id: UUID
    chunk_index: int
    content: str
    page_number: int | None
    last_page: int | None
    start_char: int
    end_char: int
    token_count: int
    chapter: str
    section: str


class PageWarning(OutputShape):
    code: str
    message: str


class PageOutput(CamelShape):
    number: Annotated[int, Field(description="from 1")]
    characters: Annotated[int, Field(description="of the page's text")]
    read_by: Annotated[str, Field(description="pdfium, pypdf, ocr, text, or none")]
    warnings: list[PageWarning]


class JsonView(APIView):
    """A view that lets go of its request when it has answered.

    DRF's view and request name each other. Until the garbage was collected that held 3 MB for each list of
    2,000 documents: 1.2 GB after 260 of them.
    """

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().dispatch(request, *args, **kwargs)
        finally:
            self.request.parser_context = {}
            vars(self).clear()


class DocumentListView(JsonView):
    @operation(
        "uploadDocument",
        "Upload and ingest a document",
        answer(201, "Stored, with its chunks.", IngestOutput),
        tag="documents",
        description="The text is extracted and split, and stored with the file; it is not embedded.",
        body={MEDIA_TYPE: UploadForm},
        parameters=UploadParameters,
        headers=(IDEMPOTENCY_KEY,),
        failures={
            "404": "Unknown collection",
            "409": "Already ingested; `details.documentId` is the first document's id",
            "413": "The file exceeds 50 MB",
            "415": "Not multipart/form-data",
            "422": "Text cannot be extracted, or the Idempotency-Key was used for another request",
            "507": "No room to store the file",
        },
    )
    def post(self, request: Request) -> HttpResponse:
        access = access_of(request)
        access.require("write")
        key = checked_key(request.headers.get(KEY_HEADER))
        with receive_upload(request._request) as form:
            named = _named_once(form.fields, request.query_params)
            reply = answer_once(
                key,
                lambda claim: self._ingest(form, named, access, claim),
                access=access,
                asked=fingerprint("POST", request.path, named, form.filename, form.upload.checksum),
                lock_s=UPLOAD_LOCK_S,
                in_transaction=False,
            )
        return reply_response(reply)

    def _ingest(self, form: ReceivedUpload, named: str | None, access: Access, claim: Claim | None) -> Reply:
        collection = find_collection(named, access=access)
        try:
            document = services.ingest_document(
                access=access, upload=form.upload, filename=form.filename, collection=collection
            )
        except Duplicate as exc:
            if claim is None or not claim.taken_over:
                raise
            document = services.get_document(UUID(exc.details["documentId"]), access=access)
            if not claim.may_have_made(document.created_at):
                raise
        body = IngestOutput.model_validate(document).model_dump()
        return Reply(201, body, f"/api/v1/documents/{document.id}")

    @operation(
        "listDocuments",
        "List the documents of a collection, newest first",
        answer(200, "All of them, or as many as `limit` says.", list[DocumentOutput]),
        tag="documents",
        parameters=DocumentsParameters,
        failures="404",
    )
    def get(self, request: Request) -> HttpResponse:
        access = access_of(request)
        collection = find_collection(_named_once(request.query_params), access=access)
        given = read_parameters(request, DocumentsParameters)
        documents = services.list_documents(collection, access=access, limit=given.limit, offset=given.offset)
        return body_response([DocumentOutput.model_validate(document) for document in documents])


class DocumentView(JsonView):
    @operation(
        "getDocument",
        "One document's metadata",
        answer(200, "The document.", DocumentOutput),
        tag="documents",
    )
    def get(self, request: Request, documentId: str) -> HttpResponse:
        document_id = parse_id(documentId, field="documentId")
        document = services.get_document(document_id, access=access_of(request))
        return body_response(DocumentOutput.model_validate(document))

    @operation(
        "deleteDocument",
        "Delete a document, its chunks, their vectors and its file",
        answer(204, "It is gone."),
        tag="documents",
    )
    def delete(self, request: Request, documentId: str) -> HttpResponse:
        services.delete_document(parse_id(documentId, field="documentId"), access=access_of(request))
        return no_content()


class DocumentChunksView(JsonView):
    @operation(
        "listChunks",
        "A document's chunks in reading order",
        answer(200, "All chunks.", list[ChunkOutput]),
        tag="documents",
    )
    def get(self, request: Request, documentId: str) -> HttpResponse:
        document_id = parse_id(documentId, field="documentId")
        chunks = services.list_chunks(document_id, access=access_of(request))
        return body_response([ChunkOutput.model_validate(chunk) for chunk in chunks])


class DocumentPagesView(JsonView):
    @operation(
        "listPages",
        "How each page was read: by which reader, how many characters, what is doubtful",
        answer(200, "All pages.", list[PageOutput]),
        tag="documents",
    )
    def get(self, request: Request, documentId: str) -> HttpResponse:
        pages = page_report(parse_id(documentId, field="documentId"), access=access_of(request))
        return body_response([_page(page) for page in pages])


def _page(page: PageReport) -> PageOutput:
    warnings = [PageWarning(code=code, message=PAGE_WARNINGS.get(code, code)) for code in page.warnings]
    return PageOutput.of(page, warnings=warnings)


def _named_once(*sources: QueryDict) -> str | None:
    """Return the collection that the request names, wherever. Raises InvalidInput if it names two."""
    names = {name for source in sources for name in source.getlist("collection")}
    if len(names) > 1:
        raise InvalidInput("collection is given more than once, differently.", field="collection")
    return names.pop() if names else None
