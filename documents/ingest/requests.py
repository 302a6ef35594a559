"""The requests that bring documents: as JSON, as a form with files, or as bare bytes; staged on disk."""

import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from threading import BoundedSemaphore
from typing import Any

from django.conf import settings
from django.http import HttpRequest, QueryDict

from documents.ingest.fetching import check_url
from documents.ingest.idempotency import fingerprint
from documents.ingest.jobs import NewDocument
from documents.ingest.uploads import MEDIA_TYPE, receive_uploads
from documents.library.storage import StagedUpload, Staging
from documents.text.characters import clean_filename
from knowlex.base.errors import (
    DependencyUnavailable,
    Forbidden,
    InvalidInput,
    PayloadTooLarge,
    UnsupportedMediaType,
)
from knowlex.web.fields import check_storable, is_blank
from knowlex.web.json_body import parse_json
from knowlex.web.large_json import LongString, large_json_object

SOURCE_TYPES = ("file", "url", "text")
MAX_FILENAME_CHARS, MAX_TITLE_CHARS, MAX_METADATA_CHARS = 1024, 512, 16_000
BLOCK_BYTES = 256 * 1024
_WHITE_SPACE = str.maketrans("", "", " \t\r\n")


def read_document(given: Any, place: str, stack: ExitStack) -> NewDocument:
    """Read `{"source": {...}, "metadata": {...}}`; its staged file lives as long as the stack.

    place: as errors name it, for example `documents[2].`. A document over the size limit is no error of the
    request: it is refused in the job. Raises InvalidInput naming the field, Forbidden (URLs are off).
    """
    source = _object(_object({"": given}, "", place.rstrip(".") or "body"), "source", f"{place}source")
    metadata, title = read_metadata(given, f"{place}metadata")
    kind = source.get("type")
    if kind not in SOURCE_TYPES:
        raise _wrong(f"{place}source.type", f"must be one of {', '.join(SOURCE_TYPES)}")
    if kind == "url":
        return NewDocument("url", "", url=_url(source, place), title=title, metadata=metadata)
    content = _content(source, f"{place}source.content")
    filename = _filename(source, f"{place}source.filename", "document" if kind == "file" else "document.txt")
    blocks = decode_base64(content, f"{place}source.content") if kind == "file" else _encoded(content)
    try:
        upload = stage_blocks(blocks, stack)
    except PayloadTooLarge as exc:
        return NewDocument(kind, filename, title=title, metadata=metadata, error=exc)
    return NewDocument(kind, filename, upload, title=title, metadata=metadata)


def read_metadata(given: Mapping[str, Any], field: str) -> tuple[dict[str, Any], str]:
    """Return (metadata, its title or ""). Raises InvalidInput."""
    metadata = _object(given, "metadata", field) if "metadata" in given else {}
    try:
        size = len(json.dumps(metadata, ensure_ascii=False))
    except TypeError:  # it holds a LongString
        size = MAX_METADATA_CHARS + 1
    if size > MAX_METADATA_CHARS:
        raise _wrong(field, f"must be at most {MAX_METADATA_CHARS} characters of JSON")
    title = metadata.get("title", "")
    if not isinstance(title, str) or len(title) > MAX_TITLE_CHARS:
        raise _wrong(f"{field}.title", f"must be a string of at most {MAX_TITLE_CHARS} characters")
    return metadata, "" if is_blank(title) else title.strip()


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


def _encoded(pieces: Iterable[str]) -> Iterator[bytes]:
    return (piece.encode() for piece in pieces)


def _content(source: Mapping[str, Any], field: str) -> Iterable[str]:
    content = source.get("content")
    if isinstance(content, LongString):
        return content.pieces(field)
    if not isinstance(content, str) or not content.strip():
        raise _wrong(field, "must be a string that is not empty" if "content" in source else "is required")
    return [check_storable(content, field)]


def _url(source: Mapping[str, Any], place: str) -> str:
    name = "url" if "url" in source and "content" not in source else "content"
    field = f"{place}source.{name}"
    if not settings.URL_INGEST:
        raise Forbidden(
            "This server fetches no URLs; whoever runs it can allow that by KNOWLEX_URL_INGEST=on.",
            details={"field": f"{place}source.type"},
        )
    address = source.get(name)
    if not isinstance(address, str):
        raise _wrong(field, "must be a URL" if name in source else "is required")
    try:
        return check_url(address)
    except InvalidInput as exc:
        raise InvalidInput(exc.message, field=field) from exc


def _filename(source: Mapping[str, Any], field: str, default: str) -> str:
    name = source.get("filename", default)
    if not isinstance(name, str) or len(name) > MAX_FILENAME_CHARS:
        raise _wrong(field, f"must be a string of at most {MAX_FILENAME_CHARS} characters")
    return clean_filename(name) if name else default


def _object(given: Any, name: str, field: str) -> dict[str, Any]:
    value = given.get(name)
    if not isinstance(value, dict):
        raise _wrong(field, "must be an object" if name in given else "is required")
    return value


def _not_base64(field: str) -> InvalidInput:
    return _wrong(field, "is not valid base64")


def _wrong(field: str, rule: str) -> InvalidInput:
    return InvalidInput(f"{field} {rule}.", field=field)


MAX_DOCUMENTS = 100
AT_ONCE = 4  # requests whose documents are being taken out; each may have 100 files open
WAIT_S = 20.0
RAW_TYPES = {  # "" keeps the name that the document has
    "application/octet-stream": "",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
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
        given = body.get("documents")
        if not isinstance(given, list) or not 1 <= len(given) <= MAX_DOCUMENTS:
            raise InvalidInput(f"documents must be a list of 1 to {MAX_DOCUMENTS}.", field="documents")
        collection = body.get("collection_id")
        if not isinstance(collection, str) or not collection:
            rule = "must be a string" if collection is not None else "is required"
            raise InvalidInput(f"collection_id {rule}: a collection's id or name.", field="collection_id")
        documents = [read_document(one, f"documents[{place}].", stack) for place, one in enumerate(given)]
        yield ReceivedDocuments(documents, _settings(body), collection)


@contextmanager
def receive_replacement(request: HttpRequest, filename: str) -> Iterator[ReceivedDocuments]:
    """Read `PUT /v1/documents/{id}`: one document, in any of the three forms.

    filename: for bytes that come without one. Raises as `ingest_request`.
    """
    with _turn(), ExitStack() as stack:
        media_type = _media_type(request)
        if media_type == MEDIA_TYPE:
            files, fields = stack.enter_context(receive_uploads(request, max_files=1))
            yield _from_form(files, fields)
        elif media_type == "application/json":
            body = stack.enter_context(large_json_object(request))
            yield ReceivedDocuments([read_document(body, "", stack)], _settings(body))
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


def _from_form(files: list[tuple[str, Any]], fields: QueryDict) -> ReceivedDocuments:
    if not files:
        raise InvalidInput("The form must have a file, in the part 'file'.", field="file")
    for name, upload in files:
        if upload.size_bytes == 0:
            raise InvalidInput(f"The file {name} is empty.", field="file")
    metadata, title = read_metadata(_json_field(fields, "metadata"), "metadata")
    documents = [NewDocument("file", name, upload, title=title, metadata=metadata) for name, upload in files]
    return ReceivedDocuments(
        documents, _settings(_json_field(fields, "settings")), fields.get("collection_id")
    )


def _json_field(fields: QueryDict, name: str) -> dict[str, Any]:
    """Return {name: the object that the form's field spells}, {} without it."""
    if name not in fields:
        return {}
    try:
        return {name: parse_json(str(fields[name]).encode())}
    except (InvalidInput, UnicodeEncodeError) as exc:
        raise InvalidInput(f"{name} must be an object, as JSON.", field=name) from exc


def _settings(body: Mapping[str, Any]) -> Mapping[str, Any]:
    settings = body.get("settings", {})
    if not isinstance(settings, dict):
        raise InvalidInput("settings must be an object.", field="settings")
    try:
        json.dumps(settings)
    except TypeError:  # it holds a LongString
        raise InvalidInput("settings holds a string that is too long.", field="settings") from None
    return settings


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
    if not _turns.acquire(timeout=WAIT_S):
        raise DependencyUnavailable("The server is busy with other uploads.", retry_after_s=10)
    try:
        yield
    finally:
        _turns.release()
