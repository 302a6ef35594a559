"""The requests that bring documents: as JSON, as a form with files, or as bare bytes; staged on disk."""

import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from threading import BoundedSemaphore
from time import monotonic
from typing import Annotated, Any, Literal, get_args

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from documents.ingest.fetching import check_url
from documents.ingest.idempotency import REPLAYED_HEADER, Reply, fingerprint
from documents.ingest.jobs import NewDocument
from documents.ingest.uploads import MEDIA_TYPE, receive_uploads
from documents.library.collection_settings import (
    ChunkingFields,
    WithoutPermissions,
    refuse_permissions,
    settings_schema,
)
from documents.library.storage import StagedUpload, Staging
from documents.text.characters import clean_filename
from knowlex.base.errors import (
    DependencyUnavailable,
    Forbidden,
    InvalidInput,
    PayloadTooLarge,
    UnsupportedMediaType,
)
from knowlex.db.threads import note_wait
from knowlex.web.fields import is_blank
from knowlex.web.json_body import parse_json
from knowlex.web.large_json import LongString, large_json_object
from knowlex.web.responses import json_response
from knowlex.web.shapes import InputShape, Omittable, Rule, check_characters, choice, parse

SourceType = Literal["file", "url", "text"]
MAX_DOCUMENTS = 100
MAX_FILENAME_CHARS, MAX_TITLE_CHARS, MAX_METADATA_CHARS = 1024, 512, 16_000
BLOCK_BYTES = 256 * 1024
_WHITE_SPACE = str.maketrans("", "", " \t\r\n")


def _check_content(value: Any, info: ValidationInfo) -> Any:
    """Return text, or what stands for a long one; a URL as it is: whether there may be any is asked later."""
    if info.data.get("type") == "url" or isinstance(value, LongString):
        return value
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a string that is not empty")
    return check_characters(value)


def _check_length(most: int) -> Rule:
    def check(value: Any) -> str:
        if not isinstance(value, str) or len(value) > most:
            raise ValueError(f"must be a string of at most {most} characters")
        return value

    return Rule(check, {"type": "string"})


def _check_metadata(value: Any) -> Any:
    if _json_length(value) > MAX_METADATA_CHARS:
        raise ValueError(f"must be at most {MAX_METADATA_CHARS} characters of JSON")
    return value


def _check_settings(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("must be an object")
    if _json_length(value) == float("inf"):
        raise ValueError("holds a string that is too long")
    return value


def _json_length(value: Any) -> float:
    try:
        return len(json.dumps(value, ensure_ascii=False))
    except TypeError:  # it holds a LongString
        return float("inf")


def _parse_object(value: str) -> Any:
    try:
        return parse_json(value.encode())
    except (InvalidInput, UnicodeEncodeError):
        raise ValueError("must be an object, as JSON") from None


def _check_collection(value: Any) -> str:
    if not isinstance(value, str) or not value:
        rule = "is required" if value is None else "must be a string"
        raise ValueError(f"{rule}: a collection's id or name")
    return value


class DocumentMetadata(InputShape):
    model_config = ConfigDict(extra="allow")

    title: Annotated[str, _check_length(MAX_TITLE_CHARS)] = ""

    @property
    def shown_title(self) -> str:
        return "" if is_blank(self.title) else self.title.strip()

    def stored(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)


Metadata = Annotated[
    DocumentMetadata,
    BeforeValidator(_check_metadata),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": True,
            "description": "Up to 16,000 characters of JSON; `title` becomes the title.",
        }
    ),
]
JobSettings = Annotated[dict[str, Any], Rule(_check_settings, settings_schema(ChunkingFields))]
InForm = BeforeValidator(_parse_object), WithJsonSchema({"type": "string"})


class SourceOfDocument(InputShape):
    type: Annotated[SourceType, choice(*get_args(SourceType))]
    content: Annotated[
        Any,
        PlainValidator(_check_content),
        WithJsonSchema({"type": "string"}),
        Field(description="Base64 of a file, a URL, or the text."),
    ]
    filename: Annotated[
        str,
        _check_length(MAX_FILENAME_CHARS),
        Field(description="Of a file; tells Markdown, HTML, CSV and mail from plain text."),
    ] = ""
    url: SkipJsonSchema[Any] = None  # another name for the content

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        content = {"content": given["url"]} if given.get("type") == "url" and "url" in given else {}
        return {"type": None, **content, **given}


class NewDocumentShape(InputShape):
    source: SourceOfDocument
    metadata: Metadata = DocumentMetadata()


class IngestRequest(WithoutPermissions):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "collection_id": "default",
                "documents": [
                    {
                        "source": {
                            "type": "text",
                            "content": "# Citations\n\nAnswers are cited passage by passage.",
                            "filename": "citations.md",
                        },
                        "metadata": {"title": "How answers are cited"},
                    }
                ],
            }
        }
    )

    collection_id: Annotated[
        str, Rule(_check_collection, {"type": "string"}), Field(description="A collection's id or name.")
    ]
    documents: Annotated[list[NewDocumentShape], Field(min_length=1, max_length=MAX_DOCUMENTS)]
    settings: JobSettings = {}

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, given: dict[str, Any]) -> dict[str, Any]:
        documents = given.get("documents")
        if not isinstance(documents, list) or not 1 <= len(documents) <= MAX_DOCUMENTS:
            raise InvalidInput(f"documents must be a list of 1 to {MAX_DOCUMENTS}.", field="documents")
        for number, document in enumerate(documents):
            refuse_permissions(document, f"documents[{number}].")
        return {"collection_id": None, **given}


class IngestForm(WithoutPermissions):
    file: list[Annotated[Any, WithJsonSchema({"type": "string", "format": "binary"})]]
    collection_id: Omittable[str] = None
    settings: Annotated[JobSettings, *InForm, Field(description="An object, as JSON.")] = {}
    metadata: Annotated[Metadata, *InForm, Field(description="An object, as JSON; of all the files.")] = (
        DocumentMetadata()
    )


class ReplaceRequest(WithoutPermissions, NewDocumentShape):
    settings: JobSettings = {}


def read_document(given: NewDocumentShape, place: str, stack: ExitStack) -> NewDocument:
    """Stage the document's file, which lives as long as the stack.

    place: as errors name it, for example `documents[2].`. A document over the size limit is no error of the
    request: it is refused in the job. Raises InvalidInput naming the field, Forbidden (URLs are off).
    """
    source, metadata, title = given.source, given.metadata.stored(), given.metadata.shown_title
    kind, field = source.type, f"{place}source.content"
    if kind == "url":
        return NewDocument("url", "", url=_check_address(source, place), title=title, metadata=metadata)
    long = isinstance(source.content, LongString)
    content: Iterable[str] = source.content.pieces(field) if long else [source.content]
    if kind == "file":
        filename, blocks = "document", decode_base64(content, field)
    else:
        filename, blocks = "document.txt", (piece.encode() for piece in content)
    if source.filename:
        filename = clean_filename(source.filename)
    try:
        upload = stage_blocks(blocks, stack)
    except PayloadTooLarge as exc:
        return NewDocument(kind, filename, title=title, metadata=metadata, error=exc)
    return NewDocument(kind, filename, upload, title=title, metadata=metadata)


def _check_address(source: SourceOfDocument, place: str) -> str:
    """Return the URL. Raises Forbidden, InvalidInput."""
    if not settings.URL_INGEST:
        raise Forbidden(
            "This server fetches no URLs; whoever runs it can allow that by KNOWLEX_URL_INGEST=on.",
            details={"field": f"{place}source.type"},
        )
    name = "url" if source.url is not None and source.url == source.content else "content"
    field = f"{place}source.{name}"
    if not isinstance(source.content, str):
        raise InvalidInput(f"{field} must be a URL.", field=field)
    try:
        return check_url(source.content)
    except InvalidInput as exc:
        raise InvalidInput(exc.message, field=field) from exc


def stage_blocks(blocks: Iterable[bytes], stack: ExitStack) -> StagedUpload:
    """Write the blocks to disk. Raises PayloadTooLarge, StorageUnavailable."""
    staging = stack.enter_context(Staging(max_bytes=settings.MAX_UPLOAD_BYTES))
    for block in blocks:
        staging.write(block)
    return staging.finish()


def read_blocks(request: HttpRequest) -> Iterator[bytes]:
    """Yield the request's body as it is."""
    while block := request.read(BLOCK_BYTES):
        yield block


def decode_base64(pieces: Iterable[str], field: str) -> Iterator[bytes]:
    """Yield the bytes of base64 with or without line breaks, in blocks. Raises InvalidInput."""
    rest, ended = "", False
    for piece in pieces:
        text = rest + piece.translate(_WHITE_SPACE)
        whole = len(text) // 4 * 4
        block, rest = text[:whole], text[whole:]
        if ended and text:
            raise _not_base64(field)
        ended = block.endswith("=")
        try:
            yield binascii.a2b_base64(block, strict_mode=True)
        except ValueError as exc:
            raise _not_base64(field) from exc
    if rest:
        raise _not_base64(field)


def _not_base64(field: str) -> InvalidInput:
    return InvalidInput(f"{field} is not valid base64.", field=field)


AT_ONCE = 4  # requests whose documents are being taken out; each may have 100 files open
WAIT_S = 20.0
RAW_TYPES = {  # "" keeps the name that the document has
    "application/octet-stream": "",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.oasis.opendocument.text": ".odt",
    "application/epub+zip": ".epub",
    "application/vnd.ms-outlook": ".msg",
    "application/rtf": ".rtf",
    "message/rfc822": ".eml",
    "text/csv": ".csv",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/html": ".html",
}
_turns = BoundedSemaphore(AT_ONCE)


@dataclass(frozen=True, slots=True)
class ReceivedDocuments:
    """What a request brings. collection: as it is named, None if it is not. settings: not checked yet."""

    documents: list[NewDocument]
    settings: Mapping[str, Any]
    collection: str | None = None

    def fingerprint(self, *parts: Any) -> str:
        """Return the fingerprint of the request, whatever form it came in."""
        documents = [
            [
                new.source_type,
                new.filename,
                new.upload.checksum if new.upload else "",
                new.url,
                new.title,
                new.metadata,
                new.error.code if new.error else "",
            ]
            for new in self.documents
        ]
        return fingerprint(*parts, self.collection, self.settings, documents)


@contextmanager
def receive_documents(request: HttpRequest) -> Iterator[ReceivedDocuments]:
    """Read `POST /v1/ingest`: 1 to 100 documents. Their files are gone on leaving, unless they were moved.

    Raises InvalidInput, Forbidden, UnsupportedMediaType, PayloadTooLarge, StorageUnavailable;
    DependencyUnavailable if too many are at it.
    """
    with _turn(), ExitStack() as stack:
        if _media_type(request) == MEDIA_TYPE:
            yield _from_form(*stack.enter_context(receive_uploads(request, max_files=MAX_DOCUMENTS)))
            return
        body = stack.enter_context(large_json_object(request))
        asked = parse(IngestRequest, body)
        documents = [read_document(one, f"documents[{n}].", stack) for n, one in enumerate(asked.documents)]
        yield ReceivedDocuments(documents, asked.settings, asked.collection_id)


@contextmanager
def receive_replacement(request: HttpRequest, filename: str) -> Iterator[ReceivedDocuments]:
    """Read `PUT /v1/documents/{id}`: one document, in any of the three forms.

    filename: for bytes that come without one. Raises as `ingest_request`.
    """
    with _turn(), ExitStack() as stack:
        media_type = _media_type(request)
        if media_type == MEDIA_TYPE:
            yield _from_form(*stack.enter_context(receive_uploads(request, max_files=1)))
        elif media_type == "application/json":
            asked = parse(ReplaceRequest, stack.enter_context(large_json_object(request)))
            yield ReceivedDocuments([read_document(asked, "", stack)], asked.settings)
        elif media_type in RAW_TYPES:
            name = request.GET.get("filename", "") or _with_suffix(filename, media_type)
            upload = stage_blocks(read_blocks(request), stack)
            if upload.size_bytes == 0:
                raise InvalidInput("Request body is empty; the document's bytes are required.")
            yield ReceivedDocuments([NewDocument("file", clean_filename(name), upload)], {})
        else:
            raise UnsupportedMediaType(
                f"The request must be application/json, {MEDIA_TYPE}, or a document with its own media type."
            )


def _from_form(files: list[tuple[str, StagedUpload]], fields: Mapping[str, Any]) -> ReceivedDocuments:
    if not files:
        raise InvalidInput("The form must have a file, in the part 'file'.", field="file")
    for name, upload in files:
        if upload.size_bytes == 0:
            raise InvalidInput(f"The file {name} is empty.", field="file")
    form = parse(IngestForm, {**dict(fields.items()), "file": files})
    title, metadata = form.metadata.shown_title, form.metadata.stored()
    documents = [NewDocument("file", name, upload, title=title, metadata=metadata) for name, upload in files]
    return ReceivedDocuments(documents, form.settings, form.collection_id)


def _with_suffix(filename: str, media_type: str) -> str:
    """Return the document's name with the ending of its new kind: texts are told apart by it alone."""
    suffix = RAW_TYPES[media_type]
    if media_type == "text/html" and filename.lower().endswith(".htm"):
        return filename
    if media_type == "text/markdown" and filename.lower().endswith(".markdown"):
        return filename
    return str(PurePosixPath(filename).with_suffix(suffix)) if suffix else filename


def _media_type(request: HttpRequest) -> str:
    return (request.content_type or "").lower()


@contextmanager
def _turn() -> Iterator[None]:
    came = monotonic()
    if not _turns.acquire(timeout=WAIT_S):
        raise DependencyUnavailable("The server is busy with other uploads.", retry_after_s=10)
    note_wait(came)
    try:
        yield
    finally:
        _turns.release()


def reply_response(reply: Reply) -> HttpResponse:
    """Return it with the headers that tell where to look, and whether it was given before."""
    response = json_response(reply.body, reply.status)
    if reply.location:
        response["Location"] = reply.location
    if reply.replayed:
        response[REPLAYED_HEADER] = "true"
    return response
