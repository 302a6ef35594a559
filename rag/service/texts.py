"""Texts that a program has at hand -> records, split where they are long."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from documents.chunkers.packing import split_into_sentences
from documents.chunkers.pieces import MAX_CHARS, MAX_TOKENS
from documents.extractors.failures import Unreadable
from documents.extractors.markdown import read_markdown
from documents.text.characters import clean_characters, clean_label, has_text
from documents.text.tokens import WordPieceCounter
from documents.types import ChunkingSettings, ExtractedPage, Extraction
from rag.retrievers.foreign.protocols import Record
from rag.retrievers.foreign.records import SOURCE, SOURCES

# A text, (name, text), or a mapping with `text` and metadata.
Text: TypeAlias = str | tuple[str, str] | Mapping[str, Any]
Texts: TypeAlias = Iterable[Text] | Mapping[str, str]

TEXT_KEYS = ("text", "content", "page_content", "document")
NAME_KEYS = (*SOURCES[:-1], "name")  # `document` may be the text
MARKDOWN = (".md", ".markdown")


class Named(NamedTuple):
    """metadata: with the name under SOURCE."""

    name: str
    text: str
    metadata: Mapping[str, Any]


def records_of(texts: Texts) -> list[Record]:
    """What is short enough for the model stays as it is, except for Markdown, which is split at its headings;
    blank texts are left out. Raises ValueError for what is no text, naming its place.
    """
    counter, known = WordPieceCounter(), Counter[str]()
    return [record for named in _named(texts) for record in _records(named, counter, known)]


def _records(named: Named, counter: WordPieceCounter, known: Counter[str]) -> Iterator[Record]:
    """known: how many records each name has."""
    own_id = named.metadata.get("id")
    for part, (text, headings) in enumerate(_parts(named, counter)):
        index = known[named.name]
        known[named.name] += 1
        id_ = f"{named.name}#{index}" if own_id is None else f"{own_id}#{part}" if part else str(own_id)
        yield Record(id_, text, {"chunk_index": index, **headings, **named.metadata})


def _parts(named: Named, counter: WordPieceCounter) -> Iterator[tuple[str, dict[str, str]]]:
    """Each with the headings that it stands under."""
    extraction = _read(named)
    if extraction is None:
        return
    short = len(extraction.text) <= MAX_CHARS and len(counter.spans(extraction.text)) <= MAX_TOKENS
    if short and not extraction.headings:
        yield extraction.text, {}
        return
    for chunk in split_into_sentences(extraction, ChunkingSettings(), counter):
        headings = {"chapter": chunk.chapter, "section_title": chunk.section}
        yield chunk.content, {key: heading for key, heading in headings.items() if heading}


def _read(named: Named) -> Extraction | None:
    """None for a text in which nothing can be seen. The name tells Markdown from plain text."""
    text = clean_characters(named.text).strip()
    if not has_text(text):
        return None
    if named.name.lower().endswith(MARKDOWN):
        try:
            return read_markdown(text.encode())
        except Unreadable:
            pass  # too long, or nothing but a front matter: as plain text, then
    return Extraction("TEXT", text, (ExtractedPage(1, 0, len(text), "text"),))


def _named(texts: Texts) -> Iterator[Named]:
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise ValueError("texts must be a list of texts, or a mapping from names to texts.")
    given: Iterable[Any] = texts.items() if isinstance(texts, Mapping) else texts
    for number, one in enumerate(given, start=1):
        found = _understood(one, number)
        if found is None:
            raise ValueError(
                f"texts[{number - 1}] must be a string, a pair (name, text) of strings, or a mapping with a"
                " string under `text`."
            )
        yield found


def _understood(one: Any, number: int) -> Named | None:
    if isinstance(one, str):
        return _made(one, {}, number)
    if isinstance(one, Mapping):
        key = next((key for key in TEXT_KEYS if isinstance(one.get(key), str)), None)
        return None if key is None else _made(one[key], {k: v for k, v in one.items() if k != key}, number)
    if isinstance(one, Sequence) and len(one) == 2 and all(isinstance(part, str) for part in one):
        return _made(one[1], {SOURCE: one[0]}, number)
    return None


def _made(text: str, metadata: Mapping[str, Any], number: int) -> Named:
    name = next((found for key in NAME_KEYS if (found := _label(metadata.get(key)))), f"text {number}")
    pages = {"page_number": metadata["page"]} if "page" in metadata else {}
    return Named(name, text, {**pages, **metadata, SOURCE: name})


def _label(value: Any) -> str:
    return clean_label(value) if isinstance(value, str) else ""
