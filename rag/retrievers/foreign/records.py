"""A record that somebody else wrote, as a passage: lenient with its metadata, careful with its text."""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from documents.text.characters import clean_characters, clean_label, has_text
from rag.retrievers.foreign.protocols import Record
from rag.types.retrieval import Passage

SOURCE = "source_doc"
SOURCES = (SOURCE, "source", "file_name", "filename", "document")
PAGES = ("page_number", "page_label")
SECTIONS = ("section_title", "section", "heading")
CHAPTERS = ("chapter", "related_topic")
MAX_CHARS = 10_000  # of a text; a chunk of usual size has some 1,500
LONGEST_LABEL = 2000
KEPT = 2048  # texts and labels cleaned once, some 3 kB each
LARGEST = 1_000_000_000  # page or index; what is larger is none
_SPACE = UUID("6f0f4b5e-6c1f-5d0a-9f55-7d5c3a1e2b4d")


class Candidate(NamedTuple):
    """A record with its text cleaned; hundreds are looked at for a question, and few become passages.

    name: of its document. language: ISO 639-1 code of that, "" if nothing tells.
    """

    record: Record
    content: str
    name: str
    language: str = ""


def candidate_of(record: Record) -> Candidate | None:
    """None for a record without text."""
    content = content_of(record.text)
    return Candidate(record, content, source_of(record)) if content else None


def passage_of(candidate: Candidate) -> Passage:
    """Its chunk_index is -1 where it has none."""
    record, content, name, language = candidate
    metadata = record.metadata
    page = _whole(metadata, PAGES, least=1)
    index = _whole(metadata, ("chunk_index",), least=0)
    return Passage(
        chunk_id=uuid5(_SPACE, f"chunk:{_encodable(record.id)}"),
        document_id=uuid5(_SPACE, f"document:{name}"),
        document_name=name,
        title=_label(metadata, ("title",)) or name,
        chunk_index=-1 if index is None else index,
        content=content,
        page_number=page,
        last_page=page,
        chapter=_label(metadata, CHAPTERS),
        section=_label(metadata, SECTIONS),
        start_char=0,
        token_count=0,
        distance=record.distance,
        language=language,
        stored_id=record.id,
    )


def source_of(record: Record) -> str:
    """The document's name; of a record that names none, its own id."""
    return _label(record.metadata, SOURCES) or _seen(record.id[:LONGEST_LABEL]) or "?"


@lru_cache(maxsize=KEPT)
def content_of(text: str) -> str:
    """Cleaned, and cut between words where it is far longer than any chunk; "" where nothing can be seen."""
    cleaned = clean_characters(text[: 2 * MAX_CHARS]).strip()
    if len(cleaned) > MAX_CHARS:
        cut = cleaned[:MAX_CHARS]
        cleaned = cut[: cut.rfind(" ", MAX_CHARS // 2)].rstrip() if " " in cut[MAX_CHARS // 2 :] else cut
    return cleaned if has_text(cleaned) else ""


def _label(metadata: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """The first that says something."""
    for key in keys:
        value = metadata.get(key)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            label = _seen(str(value)[:LONGEST_LABEL])
            if label:
                return label
    return ""


@lru_cache(maxsize=KEPT)
def _seen(text: str) -> str:
    label = clean_label(text)
    return label if has_text(label) else ""


def _whole(metadata: Mapping[str, Any], keys: tuple[str, ...], *, least: int) -> int | None:
    """A whole number, also as text or with a fraction of zero; None for anything else."""
    for key in keys:
        number = _number(metadata.get(key))
        if number is not None and least <= number <= LARGEST and number == int(number):
            return int(number)
    return None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value[:20] if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _encodable(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").hex() if not text.isascii() else text
