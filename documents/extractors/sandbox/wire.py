"""How an extraction travels out of the sandbox: one line of JSON, then the text as UTF-8.

What comes back is as little to be trusted as the file: it is bounded while it is read, and checked.
"""

import json
from dataclasses import asdict
from typing import Any, get_args

from documents.extractors.failures import Unreadable
from documents.extractors.pdf.pages import MAX_TEXT_BYTES
from documents.types import ALL_SOURCES, Block, ChunkType, ExtractedPage, Extraction, Heading

MAX_HEADER_BYTES = 8 * 1024 * 1024
MAX_RESULT_BYTES = MAX_HEADER_BYTES + MAX_TEXT_BYTES
_KINDS = frozenset(get_args(ChunkType))


class NeverStarted(Exception):
    """The job was lost before a process took it: the nursery left at that moment."""


class BrokenResult(Exception):
    """The sandbox ended before its result was whole, or sent nonsense."""


def pack(extraction: Extraction) -> bytes:
    header = asdict(extraction)
    del header["text"]
    text = extraction.text.encode()
    header["text_bytes"] = len(text)
    return _line(header) + text


def pack_failure(failure: Unreadable) -> bytes:
    return _line({"unreadable": str(failure)})


def _line(header: dict[str, Any]) -> bytes:
    return json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def unpack(raw: bytes) -> Extraction:
    """Raises Unreadable if the sandbox says so, BrokenResult if this is no whole result."""
    line, _, text_bytes = raw.partition(b"\n")
    try:
        header = json.loads(line)
        if "unreadable" in header:
            raise Unreadable(str(header["unreadable"]))
        if header.pop("text_bytes") != len(text_bytes):
            raise BrokenResult("cut off")
        return _checked(header, text_bytes.decode())
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
        raise BrokenResult("not an extraction") from exc


def _checked(header: dict[str, Any], text: str) -> Extraction:
    pages = tuple(
        ExtractedPage(**page | {"warnings": tuple(page["warnings"])}) for page in header.pop("pages")
    )
    headings = tuple(Heading(**heading) for heading in header.pop("headings"))
    blocks = tuple(Block(**block) for block in header.pop("blocks"))
    _check_places([edge for page in pages for edge in (page.start_char, page.end_char)], text)
    _check_places([heading.start_char for heading in headings], text)
    _check_places([edge for block in blocks for edge in (block.start_char, block.end_char)], text)
    warnings = tuple(header.pop("warnings"))
    words = [header["title"], *header["metadata"].values(), *warnings]
    kinds_known = all(block.kind in _KINDS for block in blocks) and header["source"] in ALL_SOURCES
    if "\x00" in text or not kinds_known or not all(isinstance(word, str) for word in words):
        raise BrokenResult("not an extraction")
    return Extraction(text=text, pages=pages, headings=headings, blocks=blocks, warnings=warnings, **header)


def _check_places(places: list[int], text: str) -> None:
    """In order and inside the text."""
    if places and (places != sorted(places) or places[0] < 0 or places[-1] > len(text)):
        raise BrokenResult("places outside the text")
