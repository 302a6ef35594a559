"""The protocol by which a jailed child reports to its parent: framed messages over one pipe.

A frame is its kind (one byte), the length of its body (4 bytes, big endian) and the body. An extraction is
one line of JSON, then its text as UTF-8, then the files that came with it. What comes out of the jail is as
little to be trusted as the file: the parent limits the size of every frame and checks its content.
"""

import json
import os
import struct
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from select import POLLIN, poll
from typing import Any, get_args

from documents.extractors.failures import MAX_PAGES, MAX_TEXT_BYTES, Unreadable
from documents.protocols import OnProgress
from documents.text.characters import clean_filename
from documents.types import (
    ALL_SOURCES,
    MAX_ATTACHED_BYTES,
    MAX_ATTACHMENTS,
    Attachment,
    Block,
    ChunkType,
    ExtractedPage,
    Extraction,
    Heading,
    PageLayout,
    PagePicture,
    ReadingProgress,
    TableHead,
)

MAX_HEADER_BYTES = 8 * 1024 * 1024
MAX_RESULT_BYTES = MAX_HEADER_BYTES + MAX_TEXT_BYTES + MAX_ATTACHED_BYTES
_KINDS = frozenset(get_args(ChunkType))


class NeverStarted(Exception):
    """The job was lost before a process took it: the fork server ended at that moment."""


class BrokenResult(Exception):
    """The child ended before its result was whole, or sent nonsense."""


def pack(extraction: Extraction) -> bytes:
    files = extraction.attachments
    header = asdict(replace(extraction, text="", attachments=()))
    del header["text"]
    text = extraction.text.encode()
    header["text_bytes"] = len(text)
    header["attachments"] = [[file.filename, len(file.data)] for file in files]
    return b"".join((_pack_header(header), text, *(file.data for file in files)))


def pack_failure(failure: Unreadable) -> bytes:
    return _pack_header({"unreadable": str(failure)})


def _pack_header(header: dict[str, Any]) -> bytes:
    return json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def unpack(raw: bytes) -> Extraction:
    """Return the extraction. Raises Unreadable if that is the result, BrokenResult if it is not whole."""
    line, _, body = raw.partition(b"\n")
    try:
        header = json.loads(line)
        if "unreadable" in header:
            raise Unreadable(str(header["unreadable"]))
        text_bytes = header.pop("text_bytes")
        attachments = _parse_attachments(header.pop("attachments"), body[text_bytes:])
        text = body[:text_bytes]
        if len(text) != text_bytes:
            raise BrokenResult("cut off")
        return replace(_parse_extraction(header, text.decode()), attachments=attachments)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
        raise BrokenResult("not an extraction") from exc


def _parse_extraction(header: dict[str, Any], text: str) -> Extraction:
    pages = tuple(
        ExtractedPage(**page | {"warnings": tuple(page["warnings"]), "words": None})
        for page in header.pop("pages")
    )
    headings = tuple(Heading(**heading) for heading in header.pop("headings"))
    blocks = tuple(_parse_block(**block) for block in header.pop("blocks"))
    _check_offsets([edge for page in pages for edge in (page.start_char, page.end_char)], text)
    _check_offsets([heading.start_char for heading in headings], text)
    _check_offsets([edge for block in blocks for edge in (block.start_char, block.end_char)], text)
    warnings = tuple(header.pop("warnings"))
    running = [line for page in pages for line in (page.head, page.foot)]
    heads = [text for block in blocks if block.head for text in block.head.texts]
    words = [header["title"], *header["metadata"].values(), *warnings, *running, *heads]
    kinds_known = all(block.kind in _KINDS for block in blocks) and header["source"] in ALL_SOURCES
    if "\x00" in text or not kinds_known or not all(isinstance(word, str) for word in words):
        raise BrokenResult("not an extraction")
    return Extraction(text=text, pages=pages, headings=headings, blocks=blocks, warnings=warnings, **header)


def _parse_attachments(given: list[tuple[str, int]], body: bytes) -> tuple[Attachment, ...]:
    """Return the files behind the text. The names are cleaned again: they are as little to be trusted."""
    attachments, start = [], 0
    for filename, size in given[:MAX_ATTACHMENTS]:
        attachments.append(Attachment(clean_filename(str(filename)), body[start : start + size]))
        start += size
    if start != len(body) or any(size < 0 for _, size in given):
        raise BrokenResult("cut off")
    return tuple(attachments)


def _parse_block(head: dict[str, Any] | None = None, **values: Any) -> Block:
    return Block(**values, head=TableHead(head["title"], tuple(head["columns"])) if head else None)


def _check_offsets(offsets: list[int], text: str) -> None:
    """Raise BrokenResult unless the offsets are in order and inside the text."""
    if offsets and (offsets != sorted(offsets) or offsets[0] < 0 or offsets[-1] > len(text)):
        raise BrokenResult("offsets outside the text")


STARTED = b"+"  # sent before the file is touched; empty
PROGRESS = b"p"  # pages done, pages in all
PICTURE = b"i"  # a page number, width, height, and the page's pixels, rows from the top
LAYOUT = (
    b"l"  # a page number, width, height, the letters' size in bytes, the letters as UTF-8, and their boxes
)
RESULT = b"r"  # the last one; see wire.py

MAX_PICTURE_BYTES = 36 * 1024 * 1024  # A3 at 300 dpi has 17 million, 12 million pixels in colour 36
MAX_LAYOUT_LETTERS = 1_000_000
_HEAD = struct.Struct("!cI")
_PROGRESS = struct.Struct("!II")
_PICTURE = struct.Struct("!III")
_LAYOUT = struct.Struct("!IddI")
_BOX_BYTES = 16
_MAX_BODY = {
    STARTED: 0,
    PROGRESS: _PROGRESS.size,
    PICTURE: _PICTURE.size + MAX_PICTURE_BYTES,
    LAYOUT: _LAYOUT.size + (4 + _BOX_BYTES) * MAX_LAYOUT_LETTERS,
    RESULT: MAX_RESULT_BYTES,
}
_BLOCK_BYTES = 1 << 20
_PROGRESS_EVERY_S = 0.2


class PipeReporter:
    """Writes frames to the child's end of the pipe."""

    def __init__(self, target: int) -> None:
        self._target, self._next = target, 0.0

    def started(self) -> None:
        self._send(STARTED, b"")

    def progress(self, pages_done: int, pages_total: int) -> None:
        """Report pages that were read; what follows the last report too soon is dropped."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _PROGRESS_EVERY_S
            self._send(PROGRESS, _PROGRESS.pack(pages_done, pages_total))

    def picture(self, picture: PagePicture) -> None:
        self._send(PICTURE, _PICTURE.pack(picture.number, picture.width, picture.height), picture.pixels)

    def layout(self, layout: PageLayout) -> None:
        letters = layout.letters.encode()
        head = _LAYOUT.pack(layout.number, layout.width, layout.height, len(letters))
        self._send(LAYOUT, head, letters, layout.boxes)

    def result(self, packed: bytes) -> None:
        self._send(RESULT, packed)

    def _send(self, kind: bytes, *parts: bytes) -> None:
        for part in (_HEAD.pack(kind, sum(map(len, parts))), *parts):
            unsent = memoryview(part)
            while unsent:
                unsent = unsent[os.write(self._target, unsent) :]


def _read_frames(descriptor: int, deadline: float) -> Iterator[tuple[bytes, bytes]]:
    """Yield (kind, body) until the other end closes; a frame that this cuts off is dropped.

    deadline: as time.monotonic() counts. Raises BrokenResult past it, and for a frame of unknown kind or
    size.
    """
    source = _PipeReader(descriptor, deadline)
    while head := source.read(_HEAD.size):
        kind, length = _HEAD.unpack(head)
        if length > _MAX_BODY.get(kind, -1):
            raise BrokenResult("no such message")
        body = source.read(length)
        if body is None:
            return
        yield kind, body


class _PipeReader:
    """Reads exact numbers of bytes from a pipe, until a deadline."""

    def __init__(self, descriptor: int, deadline: float) -> None:
        self._descriptor, self._deadline = descriptor, deadline
        self._poller = poll()
        self._poller.register(descriptor, POLLIN)

    def read(self, size: int) -> bytes | None:
        """Return `size` bytes; None if the pipe ends before."""
        blocks: list[bytes] = []
        while size:
            left_s = self._deadline - time.monotonic()
            if left_s <= 0 or not self._poller.poll(1000 * left_s):
                raise BrokenResult("out of time")
            block = os.read(self._descriptor, min(size, _BLOCK_BYTES))
            if not block:
                return None
            blocks.append(block)
            size -= len(block)
        return b"".join(blocks)


class ResultListener:
    """Listens to the children that try to read a file, one after the other; progress never goes back.

    page: the one whose picture or layout is wanted, 0 for none. picture, layout: of it, once they have come.
    """

    def __init__(self, on_progress: OnProgress | None = None, *, page: int = 0) -> None:
        self._on_progress, self._page = on_progress, page
        self._pages_done = 0
        self.picture: PagePicture | None = None
        self.layout: PageLayout | None = None

    def receive(self, descriptor: int, deadline: float) -> bytes:
        """Read frames and return the packed result.

        Raises BrokenResult, NeverStarted, and what `on_progress` raises.
        """
        started = False
        for kind, body in _read_frames(descriptor, deadline):
            if kind == STARTED:
                started = True
            elif kind == RESULT:
                return body
            elif kind == PROGRESS:
                self._handle_progress(body)
            elif kind == PICTURE:
                self._handle_picture(body)
            elif kind == LAYOUT:
                self._handle_layout(body)
        if started:
            raise BrokenResult("ended early")
        raise NeverStarted

    def _handle_progress(self, body: bytes) -> None:
        if len(body) != _PROGRESS.size:
            raise BrokenResult("no progress")
        pages_done, pages_total = _PROGRESS.unpack(body)
        if not pages_done <= pages_total <= MAX_PAGES:
            raise BrokenResult("impossible progress")
        if pages_done > self._pages_done:
            self._pages_done = pages_done
            if self._on_progress:
                self._on_progress(ReadingProgress(pages_done, pages_total))

    def _handle_picture(self, body: bytes) -> None:
        if len(body) < _PICTURE.size:
            raise BrokenResult("no picture")
        number, width, height = _PICTURE.unpack_from(body)
        pixels = body[_PICTURE.size :]
        if not width or not height or len(pixels) not in (width * height, 3 * width * height):
            raise BrokenResult("no picture")
        if self.picture or not number or number != self._page:
            raise BrokenResult("an unwanted picture")
        self.picture = PagePicture(number, width, height, pixels)

    def _handle_layout(self, body: bytes) -> None:
        try:
            number, width, height, size = _LAYOUT.unpack_from(body)
            letters = body[_LAYOUT.size : _LAYOUT.size + size].decode()
        except (struct.error, UnicodeDecodeError) as exc:
            raise BrokenResult("no layout") from exc
        boxes = body[_LAYOUT.size + size :]
        if not (0 < width < 1e6 and 0 < height < 1e6) or len(boxes) != _BOX_BYTES * len(letters):
            raise BrokenResult("no layout")
        if self.layout or not number or number != self._page:
            raise BrokenResult("an unwanted layout")
        self.layout = PageLayout(number, width, height, letters, boxes)
