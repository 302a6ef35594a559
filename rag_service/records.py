"""Records that somebody else wrote, as passages, lenient with their metadata and careful with their text; and
the texts of a program as records, split where they are long.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID, uuid5

from documents.chunkers.packing import split_into_sentences
from documents.chunkers.pieces import MAX_CHARS as MAX_CHUNK_CHARS
from documents.chunkers.pieces import MAX_TOKENS
from documents.extractors.failures import Unreadable
from documents.extractors.markdown import read_markdown
from documents.text.characters import clean_characters, clean_label, has_text
from documents.text.tokens import WordPieceCounter
from documents.types import ChunkingSettings, ExtractedPage, Extraction
from rag.types.retrieval import Passage
from rag_service.readers import StoredRecord

# A text, (name, text), or a mapping with `text` and metadata.
Text: TypeAlias = str | tuple[str, str] | Mapping[str, Any]
Texts: TypeAlias = Iterable[Text] | Mapping[str, str]

SOURCE = "source_doc"
SOURCES = (SOURCE, "source", "file_name", "filename", "document")
PAGES = ("page_number", "page_label")
SECTIONS = ("section_title", "section", "heading")
CHAPTERS = ("chapter", "related_topic")
TEXT_KEYS = ("text", "content", "page_content", "document")
NAME_KEYS = (*SOURCES[:-1], "name")  # `document` may be the text
MARKDOWN = (".md", ".markdown")
MAX_CHARS = 10_000  # of a text; a chunk of usual size has some 1,500
LONGEST_LABEL = 2000
LONGEST_NUMBER = 20
LARGEST_PAGE = 1_000_000_000  # what is larger is no page
CACHED = 2048  # texts and labels cleaned once, some 3 kB each
_NAMESPACE = UUID("6f0f4b5e-6c1f-5d0a-9f55-7d5c3a1e2b4d")


class CleanRecord(NamedTuple):
    """A record with its text cleaned; hundreds are looked at for a question, and few become passages.

    document: its name. language: ISO 639-1 code of the document, "" if nothing tells.
    """

    record: StoredRecord
    content: str
    document: str
    language: str = ""


def clean_record(record: StoredRecord) -> CleanRecord | None:
    """Return None for a record without text. One that names no document is one by its own id."""
    content = clean_text(record.text)
    if not content:
        return None
    document = _label(record.metadata, SOURCES) or _clean_label(record.id[:LONGEST_LABEL]) or "?"
    return CleanRecord(record, content, document)


def to_passage(clean: CleanRecord) -> Passage:
    """Leave the place in the document, `chunk_index` and `start_char`, to the caller."""
    record, content, document, language = clean
    page = _page(record.metadata)
    id_ = record.id.encode("utf-8", "surrogatepass").hex()
    return Passage(
        chunk_id=uuid5(_NAMESPACE, f"chunk:{id_}"),
        document_id=uuid5(_NAMESPACE, f"document:{document}"),
        document_name=document,
        title=_label(record.metadata, ("title",)) or document,
        chunk_index=0,
        content=content,
        page_number=page,
        last_page=page,
        chapter=_label(record.metadata, CHAPTERS),
        section=_label(record.metadata, SECTIONS),
        start_char=0,
        token_count=0,
        distance=record.distance,
        language=language,
        stored_id=record.id,
    )


@lru_cache(maxsize=CACHED)
def clean_text(text: str) -> str:
    """Cut it between words where it is far longer than any chunk; "" where nothing can be seen."""
    cleaned = clean_characters(text[: 2 * MAX_CHARS]).strip()
    if len(cleaned) > MAX_CHARS:
        space = cleaned.rfind(" ", MAX_CHARS // 2, MAX_CHARS)
        end = space if space >= 0 else MAX_CHARS
        cleaned = cleaned[:end].rstrip()
    return cleaned if has_text(cleaned) else ""


def records_from_texts(texts: Texts) -> list[StoredRecord]:
    """Split what is too long for the model, and Markdown at its headings; blank texts are left out.

    Raises ValueError for what is no text, naming its place.
    """
    counter, counts, records = WordPieceCounter(), Counter[str](), []
    for name, text, metadata in _named_texts(texts):
        own_id = metadata.get("id")
        for part, (content, headings) in enumerate(_split(name, text, counter)):
            index = counts[name]
            counts[name] += 1
            id_ = f"{name}#{index}"
            if own_id is not None:
                id_ = f"{own_id}#{part}" if part else str(own_id)
            records.append(StoredRecord(id_, content, {"chunk_index": index, **headings, **metadata}))
    return records


def _label(metadata: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Return the first that says something."""
    for key in keys:
        value = metadata.get(key)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            label = _clean_label(str(value)[:LONGEST_LABEL])
            if label:
                return label
    return ""


@lru_cache(maxsize=CACHED)
def _clean_label(text: str) -> str:
    label = clean_label(text)
    return label if has_text(label) else ""


def _page(metadata: Mapping[str, Any]) -> int | None:
    """Accept a whole number as text, too; None for anything else."""
    for key in PAGES:
        value = metadata.get(key)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            continue
        try:
            number = float(str(value)[:LONGEST_NUMBER])
        except ValueError:
            continue
        if math.isfinite(number) and number == int(number) and 1 <= number <= LARGEST_PAGE:
            return int(number)
    return None


def _split(name: str, text: str, counter: WordPieceCounter) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each part with the headings that it stands under."""
    extraction = _extract(name, text)
    if extraction is None:
        return
    is_short = len(extraction.text) <= MAX_CHUNK_CHARS and len(counter.starts(extraction.text)) <= MAX_TOKENS
    if is_short and not extraction.headings:
        yield extraction.text, {}
        return
    for chunk in split_into_sentences(extraction, ChunkingSettings(), counter):
        headings = {"chapter": chunk.chapter, "section_title": chunk.section}
        yield chunk.content, {key: heading for key, heading in headings.items() if heading}


def _extract(name: str, text: str) -> Extraction | None:
    """Return None for a text in which nothing can be seen. The name tells Markdown from plain text."""
    text = clean_characters(text).strip()
    if not has_text(text):
        return None
    if name.lower().endswith(MARKDOWN):
        try:
            return read_markdown(text.encode())
        except Unreadable:
            pass  # too long, or nothing but a front matter: it is read as plain text
    return Extraction("TEXT", text, (ExtractedPage(1, 0, len(text), "text"),))


def _named_texts(texts: Texts) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (name, text, metadata), the metadata with the name under SOURCE."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise ValueError("texts must be a list of texts, or a mapping from names to texts.")
    items: Iterable[Any] = texts.items() if isinstance(texts, Mapping) else texts
    for index, item in enumerate(items):
        text, metadata = _text_and_metadata(item)
        if text is None:
            raise ValueError(
                f"texts[{index}] must be a string, a pair (name, text) of strings, or a mapping with a"
                " string under `text`."
            )
        labels = (metadata[key] for key in NAME_KEYS if isinstance(metadata.get(key), str))
        name = next(filter(None, map(clean_label, labels)), f"text {index + 1}")
        pages = {"page_number": metadata["page"]} if "page" in metadata else {}
        yield name, text, {**pages, **metadata, SOURCE: name}


def _text_and_metadata(item: Any) -> tuple[str | None, dict[str, Any]]:
    if isinstance(item, str):
        return item, {}
    if isinstance(item, Mapping):
        metadata = dict(item)
        for key in TEXT_KEYS:
            if isinstance(metadata.get(key), str):
                return metadata.pop(key), metadata
    elif isinstance(item, Sequence) and len(item) == 2 and all(isinstance(part, str) for part in item):
        return item[1], {SOURCE: item[0]}
    return None, {}
