"""JSON bodies of many megabytes: what is long in them stays in the body, and is read from there in pieces.

The long strings are taken out first; what is left is small and goes through `parse_json` with all its rules.
So nothing is parsed twice in two ways, and memory does not grow with the body. Parsed as a whole, 12 MB take
36 MB: test_a_document_that_is_too_large_fails_alone_and_memory_stays in tests/platform/test_limits.py fails.
"""

import mmap
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from knowlex.base.errors import InvalidInput, PayloadTooLarge
from knowlex.web.fields import check_storable
from knowlex.web.json_body import check_content_type, parse_json

Body = bytes | mmap.mmap
LONG_BYTES = 8 * 1024  # a string of so many stays outside
REST_BYTES = 4 * 1024 * 1024  # for all that is not in long strings
PIECE_BYTES = 256 * 1024
IN_MEMORY_BYTES = 256 * 1024
MAX_ESCAPE_BYTES = 12  # two halves of a surrogate pair

# Atomic, so that neither time nor memory goes beyond one walk over the bytes.
_INSIDE = re.compile(rb"(?:[^\"\\]++|\\.)*+", re.DOTALL)
_WHOLE_CHARACTERS = re.compile(
    rb"(?:[\x00-\x5b\x5d-\x7f]++|[\xc2-\xdf].|[\xe0-\xef]..|[\xf0-\xf4]...|\\[^u]"
    rb"|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u(?![dD][89abAB])....)*+",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class LongString:
    """A string that was left in the body: its bytes from `start` to `end`, escapes and all."""

    body: Body
    start: int
    end: int

    def pieces(self, field: str) -> Iterator[str]:
        """Yield the text, in order. Raises InvalidInput on what a short string could not hold."""
        at, rest = self.start, b""
        while at < self.end or rest:
            raw = rest + self.body[at : min(at + PIECE_BYTES, self.end)]
            at = min(at + PIECE_BYTES, self.end)
            whole = len(raw) if at == self.end or _is_plain(raw) else _end_of(_WHOLE_CHARACTERS, raw)
            if len(raw) - whole > MAX_ESCAPE_BYTES:
                raise _unstorable(field)
            rest = raw[whole:]
            yield _text(raw[:whole], field)


@contextmanager
def large_json_object(request: HttpRequest) -> Iterator[dict[str, Any]]:
    """Read the body as an object whose long strings are `LongString`s, to be read before leaving.

    Raises UnsupportedMediaType, InvalidInput, PayloadTooLarge (more than 4 MB outside long strings).
    """
    check_content_type(request)
    with _raw(request) as raw:
        if not raw:
            raise InvalidInput("Request body is empty; a JSON object is required.")
        value = _parse(raw)
        if not isinstance(value, dict):
            raise InvalidInput("Request body must be a JSON object.")
        yield value


@contextmanager
def _raw(request: HttpRequest) -> Iterator[Body]:
    """Read the bytes; a large body is mapped as it lies on disk."""
    stream: Any = request._stream
    size = stream.seek(0, 2)
    stream.seek(0)
    if size <= IN_MEMORY_BYTES:
        yield stream.read()
        return
    with mmap.mmap(stream.fileno(), size, access=mmap.ACCESS_READ) as mapped:
        yield mapped


def _parse(body: Body) -> Any:
    mark = f"long-{secrets.token_hex(16)}-"  # nobody can guess it, so no string of the body is taken for one
    kept: list[bytes] = []
    longs: list[LongString] = []
    room = REST_BYTES
    for part in _parts(body):
        if isinstance(part, LongString):
            kept.append(f'"{mark}{len(longs)}"'.encode())
            longs.append(part)
        else:
            kept.append(part)
        room -= len(kept[-1])
        if room < 0:
            raise PayloadTooLarge("Apart from the documents' contents the request is larger than 4 MB.")
    value = parse_json(b"".join(kept))
    return _restore(value, mark, longs) if longs else value


def _parts(body: Body) -> Iterator[bytes | LongString]:
    """Yield all of the body in order: long strings, and the bytes between them in blocks."""
    at, done = 0, 0  # what lies before `done` was given out
    while (quote := body.find(b'"', at)) >= 0:
        end = _end_of_string(body, quote + 1)
        if end < 0:  # the string never ends: let the parser say where
            break
        at = end + 1
        if end - quote > LONG_BYTES:
            yield from _blocks(body, done, quote)
            yield LongString(body, quote + 1, end)
            done = at
        elif at - done > PIECE_BYTES:
            yield body[done:at]
            done = at
    yield from _blocks(body, done, len(body))


def _end_of_string(body: Body, start: int) -> int:
    """Return where its closing quote is, -1 if there is none. Between its steps other threads get a turn."""
    while start < len(body):
        found = _INSIDE.match(body, start, start + PIECE_BYTES)
        end = found.end() if found else start
        if end < len(body) and body[end] == ord('"'):
            return end
        if end == start:  # half an escape at the end of the body
            return -1
        start = end
    return -1


def _blocks(body: Body, start: int, end: int) -> Iterator[bytes]:
    for at in range(start, end, PIECE_BYTES):
        yield body[at : min(at + PIECE_BYTES, end)]


def _restore(value: Any, mark: str, longs: list[LongString]) -> Any:
    """Return the value with the long strings back in their places. It is at most 100 deep."""
    if isinstance(value, str):
        return longs[int(value.removeprefix(mark))] if value.startswith(mark) else value
    if isinstance(value, list):
        return [_restore(item, mark, longs) for item in value]
    if isinstance(value, dict):
        if any(name.startswith(mark) for name in value):
            raise InvalidInput("The name of a field is too long.")
        return {name: _restore(item, mark, longs) for name, item in value.items()}
    return value


def _is_plain(raw: bytes) -> bool:
    """Return whether it may be cut anywhere, as base64 mostly may."""
    return raw.isascii() and b"\\" not in raw


def _end_of(pattern: re.Pattern[bytes], raw: bytes) -> int:
    found = pattern.match(raw)
    return found.end() if found else 0


def _text(raw: bytes, field: str) -> str:
    try:
        text = parse_json(b'"' + raw + b'"')
    except InvalidInput as exc:
        raise InvalidInput(f"{field} is not a valid JSON string in UTF-8.", field=field) from exc
    return check_storable(str(text), field)


def _unstorable(field: str) -> InvalidInput:
    return InvalidInput(f"{field} holds a character that cannot be stored.", field=field)
