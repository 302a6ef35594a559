"""One document of an ingest request: what its JSON says, and its bytes staged on disk."""

import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from documents.ingest.fetching import check_url
from documents.ingest.jobs import NewDocument
from documents.ingest.uploads import clean_filename
from documents.library.storage import StagedUpload, Staging
from knowlex.base.errors import Forbidden, InvalidInput, PayloadTooLarge
from knowlex.web.fields import check_storable, is_blank
from knowlex.web.large_json import LongString

SOURCE_TYPES = ("file", "url", "text")
MAX_FILENAME_CHARS, MAX_TITLE_CHARS, MAX_METADATA_CHARS = 1024, 512, 16_000
BLOCK_BYTES = 256 * 1024
_WHITE_SPACE = str.maketrans("", "", " \t\r\n")


def read_document(given: Any, place: str, stack: ExitStack) -> NewDocument:
    """Of `{"source": {...}, "metadata": {...}}`; its staged file lives as long as the stack.

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
    blocks = decoded(content, f"{place}source.content") if kind == "file" else _encoded(content)
    try:
        upload = staged(blocks, stack)
    except PayloadTooLarge as exc:
        return NewDocument(kind, filename, title=title, metadata=metadata, error=exc)
    return NewDocument(kind, filename, upload, title=title, metadata=metadata)


def read_metadata(given: Mapping[str, Any], field: str) -> tuple[dict[str, Any], str]:
    """(metadata, its title or ""). Raises InvalidInput."""
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


def staged(blocks: Iterable[bytes], stack: ExitStack) -> StagedUpload:
    """Raises PayloadTooLarge, StorageUnavailable."""
    staging = stack.enter_context(Staging(max_bytes=settings.MAX_UPLOAD_BYTES))
    for block in blocks:
        staging.write(block)
    return staging.finish()


def body_blocks(request: HttpRequest) -> Iterator[bytes]:
    """The request's body as it is."""
    while block := request.read(BLOCK_BYTES):
        yield block


def decoded(pieces: Iterable[str], field: str) -> Iterator[bytes]:
    """Base64 with or without line breaks -> bytes, in blocks. Raises InvalidInput."""
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
