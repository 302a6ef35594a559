"""The Knowlex API's documents: /api/v1/documents.

A new document goes to the collection `default`, or to the one that `collection` (name or id; a form field
or a query parameter) names; the list shows `default`, or the one named. Ids are looked up in all collections.
"""

from uuid import UUID

from django.http import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from documents import services
from documents.access.scopes import Access, access_of
from documents.ingest.idempotency import (
    KEY_HEADER,
    REPLAYED_HEADER,
    Claim,
    Reply,
    answer_once,
    checked_key,
    fingerprint,
)
from documents.ingest.uploads import ReceivedUpload, received_upload
from documents.library.collections import find_collection
from documents.library.listing import page_report
from documents.serializers import ChunkOutput, DocumentOutput, IngestOutput, PageOutput, UploadInput, listed
from knowlex.base.errors import Duplicate, InvalidInput
from knowlex.base.ids import parse_id
from knowlex.web.fields import int_parameter

MAX_LIMIT, MAX_OFFSET = 1000, 1_000_000_000
UPLOAD_LOCK_S = 300.0  # longer than any upload is worked on
COLLECTION = OpenApiParameter("collection", str, description="Name or id; `default` unless given.")
LIMIT = OpenApiParameter("limit", int, description=f"At most so many, 1 to {MAX_LIMIT}; all unless given.")
OFFSET = OpenApiParameter("offset", int, description="Leave out so many of the newest first.")
IDEMPOTENCY_KEY = OpenApiParameter(
    KEY_HEADER, str, OpenApiParameter.HEADER, description="With it the request may be repeated for 24 hours."
)
DOCUMENT_ID = OpenApiParameter("documentId", OpenApiTypes.UUID, OpenApiParameter.PATH)

PROBLEM = {"$ref": "#/components/schemas/Problem"}
REASONS = {
    400: "Bad input",
    403: "Not within the API key's scope or collections, or asked for by a web page of another site",
    404: "Unknown document or collection",
    408: "The body arrives too slowly",
    409: "Already ingested; `details.documentId` is the first document's id",
    413: "The file exceeds 50 MB",
    415: "Not multipart/form-data",
    422: "Text cannot be extracted, or the Idempotency-Key was used for another request",
    429: "Too many requests",
    500: "Unexpected",
    503: "Database not reachable, or too busy",
    507: "No room to store the file",
}


def problems(*statuses: int) -> dict[int, OpenApiResponse]:
    return {
        status: OpenApiResponse(PROBLEM, description=REASONS[status]) for status in (*statuses, 429, 500, 503)
    }


class DocumentListView(APIView):
    @extend_schema(
        tags=["documents"],
        operation_id="uploadDocument",
        summary="Upload and ingest a document",
        parameters=[COLLECTION, IDEMPOTENCY_KEY],
        request={"multipart/form-data": UploadInput},
        responses={201: IngestOutput, **problems(400, 403, 404, 408, 409, 413, 415, 422, 507)},
    )
    def post(self, request: Request) -> Response:
        """The text is extracted and split, and stored with the file; it is not embedded."""
        access = access_of(request)
        access.require("write")
        key = checked_key(request.headers.get(KEY_HEADER))
        with received_upload(request._request) as form:
            named = _one_collection(form.fields, request.query_params)
            reply = answer_once(
                key,
                lambda claim: self._ingest(form, named, access, claim),
                access=access,
                asked=fingerprint("POST", request.path, named, form.filename, form.upload.checksum),
                lock_s=UPLOAD_LOCK_S,
                in_transaction=False,
            )
        headers = {"Location": reply.location}
        if reply.replayed:
            headers[REPLAYED_HEADER] = "true"
        return Response(reply.body, status=reply.status, headers=headers)

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
        return Reply(201, IngestOutput(document).data, f"/api/v1/documents/{document.id}")

    @extend_schema(
        tags=["documents"],
        operation_id="listDocuments",
        summary="List the documents of a collection, newest first",
        parameters=[COLLECTION, LIMIT, OFFSET],
        responses={200: DocumentOutput(many=True), **problems(400, 404)},
    )
    def get(self, request: Request) -> Response:
        parameters, access = request.query_params, access_of(request)
        documents = services.list_documents(
            find_collection(_one_collection(parameters), access=access),
            access=access,
            limit=int_parameter(parameters.get("limit"), "limit", low=1, high=MAX_LIMIT, default=0) or None,
            offset=int_parameter(parameters.get("offset"), "offset", low=0, high=MAX_OFFSET, default=0),
        )
        return Response(listed(DocumentOutput(), documents))


class DocumentView(APIView):
    @extend_schema(
        tags=["documents"],
        operation_id="getDocument",
        summary="One document's metadata",
        parameters=[DOCUMENT_ID],
        responses={200: DocumentOutput, **problems(400, 404)},
    )
    def get(self, request: Request, documentId: str) -> Response:
        document_id = parse_id(documentId, field="documentId")
        document = services.get_document(document_id, access=access_of(request))
        return Response(DocumentOutput().to_representation(document))

    @extend_schema(
        tags=["documents"],
        operation_id="deleteDocument",
        summary="Delete a document, its chunks, their vectors and its file",
        parameters=[DOCUMENT_ID],
        responses={204: None, **problems(400, 403, 404)},
    )
    def delete(self, request: Request, documentId: str) -> Response:
        services.delete_document(parse_id(documentId, field="documentId"), access=access_of(request))
        return Response(status=204)


class DocumentChunksView(APIView):
    @extend_schema(
        tags=["documents"],
        operation_id="listChunks",
        summary="A document's chunks in reading order",
        parameters=[DOCUMENT_ID],
        responses={200: ChunkOutput(many=True), **problems(400, 404)},
    )
    def get(self, request: Request, documentId: str) -> Response:
        document_id = parse_id(documentId, field="documentId")
        chunks = services.list_chunks(document_id, access=access_of(request))
        return Response(listed(ChunkOutput(), chunks))


class DocumentPagesView(APIView):
    @extend_schema(
        tags=["documents"],
        operation_id="listPages",
        summary="How each page was read: by which reader, how many characters, what is doubtful",
        parameters=[DOCUMENT_ID],
        responses={200: PageOutput(many=True), **problems(400, 404)},
    )
    def get(self, request: Request, documentId: str) -> Response:
        pages = page_report(parse_id(documentId, field="documentId"), access=access_of(request))
        return Response(listed(PageOutput(), pages))


def _one_collection(*sources: QueryDict) -> str | None:
    """What the request names, wherever; None if nothing. Raises InvalidInput if it names two."""
    names = {name for source in sources for name in source.getlist("collection")}
    if len(names) > 1:
        raise InvalidInput("collection is given more than once, differently.", field="collection")
    return names.pop() if names else None
