"""The requests that bring documents: as JSON, as a form with files, or as bare bytes; staged on disk."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from threading import BoundedSemaphore
from typing import Any

from django.http import HttpRequest, QueryDict

from documents.ingest.idempotency import fingerprint
from documents.ingest.jobs import NewDocument
from documents.ingest.request_documents import body_blocks, read_document, read_metadata, staged
from documents.ingest.uploads import MEDIA_TYPE, clean_filename, received_uploads
from knowlex.base.errors import DependencyUnavailable, InvalidInput, UnsupportedMediaType
from knowlex.web.json_body import parse_json
from knowlex.web.large_json import large_json_object

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
class Brought:
    """collection: as it is named, None if it is not. settings: not checked yet."""

    documents: list[NewDocument]
    settings: Mapping[str, Any]
    collection: str | None = None

    def fingerprint(self, *parts: Any) -> str:
        """Of what was asked, whatever form it came in."""
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
def ingest_request(request: HttpRequest) -> Iterator[Brought]:
    """`POST /v1/ingest`: 1 to 100 documents. Their files are gone on leaving, unless they were moved.

    Raises InvalidInput, Forbidden, UnsupportedMediaType, PayloadTooLarge, StorageUnavailable;
    DependencyUnavailable if too many are at it.
    """
    with _turn(), ExitStack() as stack:
        if _media_type(request) == MEDIA_TYPE:
            yield _from_form(*stack.enter_context(received_uploads(request, max_files=MAX_DOCUMENTS)))
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
        yield Brought(documents, _settings(body), collection)


@contextmanager
def replace_request(request: HttpRequest, filename: str) -> Iterator[Brought]:
    """`PUT /v1/documents/{id}`: one document, in any of the three forms.

    filename: for bytes that come without one. Raises as `ingest_request`.
    """
    with _turn(), ExitStack() as stack:
        media_type = _media_type(request)
        if media_type == MEDIA_TYPE:
            files, fields = stack.enter_context(received_uploads(request, max_files=1))
            yield _from_form(files, fields)
        elif media_type == "application/json":
            body = stack.enter_context(large_json_object(request))
            yield Brought([read_document(body, "", stack)], _settings(body))
        elif media_type in RAW_TYPES:
            name = request.GET.get("filename", "") or _with_suffix(filename, media_type)
            upload = staged(body_blocks(request), stack)
            if upload.size_bytes == 0:
                raise InvalidInput("Request body is empty; the document's bytes are required.")
            yield Brought([NewDocument("file", clean_filename(name), upload)], {})
        else:
            raise UnsupportedMediaType(
                f"The request must be application/json, {MEDIA_TYPE}, or a document with its own media type."
            )


def _from_form(files: list[tuple[str, Any]], fields: QueryDict) -> Brought:
    if not files:
        raise InvalidInput("The form must have a file, in the part 'file'.", field="file")
    for name, upload in files:
        if upload.size_bytes == 0:
            raise InvalidInput(f"The file {name} is empty.", field="file")
    metadata, title = read_metadata(_json_field(fields, "metadata"), "metadata")
    documents = [NewDocument("file", name, upload, title=title, metadata=metadata) for name, upload in files]
    return Brought(documents, _settings(_json_field(fields, "settings")), fields.get("collection_id"))


def _json_field(fields: QueryDict, name: str) -> dict[str, Any]:
    """{name: the object that the form's field spells}, {} without it."""
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
    """The document's name, ending as its new kind is called: text is told apart by its name only."""
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
