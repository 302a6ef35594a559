"""Multipart bodies of uploads: the one part `file` goes to disk block by block, hashed on the way."""

import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation, TooManyFilesSent
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest, QueryDict
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from documents.library.storage import StagedUpload, Staging
from documents.text.characters import clean_filename
from knowlex.base.errors import InvalidInput, PayloadTooLarge, UnsupportedMediaType

MEDIA_TYPE = "multipart/form-data"
FILE_FIELD = "file"
TAIL_BYTES = 4096  # where the closing delimiter must stand: an epilogue is allowed, but nobody sends one


@dataclass(frozen=True, slots=True)
class ReceivedUpload:
    """A form with one file. fields: its text fields. filename: cleaned, only ever stored as data."""

    upload: StagedUpload
    filename: str
    fields: QueryDict


@contextmanager
def receive_upload(request: HttpRequest) -> Iterator[ReceivedUpload]:
    """Parse the body; the staged file is gone on leaving, unless it was moved to its place.

    Raises UnsupportedMediaType (not multipart), InvalidInput (malformed, unfinished, no or several files),
    PayloadTooLarge as soon as the file is over the limit, StorageUnavailable.
    """
    with receive_uploads(request, max_files=1) as (files, fields):
        if len(files) != 1 or FILE_FIELD in fields:
            raise InvalidInput(f"The form must have one file, in the part '{FILE_FIELD}'.", field=FILE_FIELD)
        ((filename, upload),) = files
        yield ReceivedUpload(upload, filename, fields)


@contextmanager
def receive_uploads(
    request: HttpRequest, *, max_files: int
) -> Iterator[tuple[list[tuple[str, StagedUpload]], QueryDict]]:
    """Parse a form with several parts `file`: (cleaned name, staged file) of each, and the fields."""
    content_type = request.META.get("CONTENT_TYPE", "")
    if content_type.split(";")[0].strip().lower() != MEDIA_TYPE:
        raise UnsupportedMediaType(f"The request must be {MEDIA_TYPE}.")
    with ExitStack() as stack:
        handler = StagingHandler(stack, max_files)
        fields = _parse(request, MEDIA_TYPE + content_type.strip()[len(MEDIA_TYPE) :], handler)
        yield handler.uploads, fields


class StagingHandler(FileUploadHandler):
    """Django's hook for file parts: `file` is staged, other files are read past."""

    chunk_size = 256 * 1024

    def __init__(self, stack: ExitStack, max_files: int) -> None:
        super().__init__()
        self._stack, self._max_files = stack, max_files
        self._staging: Staging | None = None
        self._filename = ""
        self.uploads: list[tuple[str, StagedUpload]] = []

    def new_file(self, field_name: str, file_name: str, *args: Any, **kwargs: Any) -> None:
        self._staging = None
        if field_name != FILE_FIELD:
            raise SkipFile
        if len(self.uploads) == self._max_files:
            rule = "one part" if self._max_files == 1 else f"{self._max_files} parts"
            raise InvalidInput(f"The form has more than {rule} '{FILE_FIELD}'.", field=FILE_FIELD)
        self._staging = self._stack.enter_context(Staging(max_bytes=settings.MAX_UPLOAD_BYTES))
        self._filename = file_name

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if self._staging is not None:
            self._staging.write(raw_data)

    def file_complete(self, file_size: int) -> None:
        """Keep the file: this is called only when the delimiter after it was seen."""
        if self._staging is not None:
            self.uploads.append((self._filename, self._staging.finish()))


class _Tail(io.BufferedIOBase):
    """The body, remembering its last bytes."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self.tail = b""

    def read(self, size: int | None = -1, /) -> bytes:
        block = self._request.read(size)
        self.tail = (self.tail + block)[-TAIL_BYTES:] if len(block) < TAIL_BYTES else block[-TAIL_BYTES:]
        return block


class _Parser(MultiPartParser):
    """Django's parser; it alone unescapes HTML in file names and takes a body cut between parts for whole."""

    def closing_delimiter(self) -> bytes:
        boundary: bytes = self._boundary  # type: ignore[attr-defined]  # not in the stubs
        return b"--" + boundary + b"--"

    def sanitize_file_name(self, file_name: str) -> str:
        return clean_filename(file_name)


def _parse(request: HttpRequest, content_type: str, handler: StagingHandler) -> QueryDict:
    # The parser takes a missing length (a chunked body) for an empty body; else it ignores the number.
    meta = {**request.META, "CONTENT_TYPE": content_type, "CONTENT_LENGTH": "1"}
    try:
        body = _Tail(request)
        parser = _Parser(meta, body, [handler], "utf-8")
        fields, _ = parser.parse()
    except RequestDataTooBig as exc:
        raise PayloadTooLarge("The form's text fields are too large.") from exc
    except (MultiPartParserError, SuspiciousOperation, TooManyFilesSent, ValueError, LookupError) as exc:
        raise InvalidInput("The multipart body is malformed or unfinished.", field=FILE_FIELD) from exc
    if parser.closing_delimiter() not in body.tail:
        raise InvalidInput("The multipart body is unfinished.", field=FILE_FIELD)
    return fields
