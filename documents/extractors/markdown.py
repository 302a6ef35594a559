"""The reader of Markdown: bytes -> Extraction. The text stays Markdown; HTML in it becomes Markdown, too."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from documents.extractors.decoding import decode
from documents.extractors.embedded_html import without_html
from documents.extractors.failures import (
    MAX_OUTLINE_ENTRIES,
    MAX_TEXT_BYTES,
    MAX_TITLE,
    NO_WORDS,
    NOT_A_DOCUMENT,
    TOO_MUCH_TEXT,
    Unreadable,
)
from documents.text.characters import clean_characters, clean_label, has_text
from documents.text.tables import read_first_row
from documents.types import Block, ChunkType, ExtractedPage, Extraction, Heading

_FRONT_MATTER = re.compile(
    r"---[ \t]*\n(?P<fields>(?:(?!---[ \t]*$|\.\.\.[ \t]*$).*\n){0,200}?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.M
)
_FIELD = re.compile(r"^([a-z][\w-]{0,40})[ \t]*:[ \t]*(\S.*)$", re.M | re.I)
# Under which of our names each field is kept; blogs, notebooks and static sites use all of them.
_NAMES = {
    "title": "title",
    "author": "author",
    "authors": "author",
    "date": "date",
    "created": "created",
    "updated": "modified",
    "modified": "modified",
    "lastmod": "modified",
    "tags": "tags",
    "keywords": "keywords",
    "categories": "categories",
    "description": "description",
    "summary": "description",
    "subject": "subject",
    "lang": "language",
    "language": "language",
}
_MAX_CHARS = 20_000
_MAX_LISTED = 50
_MAX_NESTED = 100  # brackets; PyYAML needs quadratic time for nested ones


def split_front_matter(source: str) -> tuple[dict[str, str], str]:
    """Return the fields of the front matter under our names, and the rest, which is the text."""
    front_matter = _FRONT_MATTER.match(source)
    if front_matter is None:
        return {}, source
    written = _parse_fields(front_matter["fields"])
    if not written and has_text(front_matter["fields"]):  # text between two rules
        return {}, source
    fields: dict[str, str] = {}
    for name, value in written.items():
        ours = _NAMES.get(str(name).lower(), "")
        label = clean_label(_join_text(value))
        if ours and label:
            fields.setdefault(ours, label)
    return fields, source[front_matter.end() :]


def _parse_fields(text: str) -> dict[Any, Any]:
    """Parse front matter as YAML; nobody checks it, so where it is not valid, by its `name: value` lines."""
    try:
        if (
            len(text) <= _MAX_CHARS
            and text.count("[") + text.count("{") < _MAX_NESTED
            and not _has_alias(text)
        ):
            fields = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - safer than safe_load: strings only
            if isinstance(fields, dict):
                return fields
    except (yaml.YAMLError, ValueError, RecursionError, TypeError):  # TypeError: a list for a key
        pass
    return {name: value.strip("\"' ") for name, value in _FIELD.findall(text[:_MAX_CHARS])}


def _has_alias(text: str) -> bool:
    """Tell if the YAML has an alias (`*name`), which could repeat an anchor's content without end."""
    return any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.BaseLoader))


def _join_text(value: Any) -> str:
    """Return a string, or a list of strings joined; "" for anything else."""
    if isinstance(value, list):
        return ", ".join(item.strip() for item in value[:_MAX_LISTED] if isinstance(item, str))
    return value if isinstance(value, str) else ""


# Only blocks are parsed: inline markup is not needed to find headings, and costs most of the time.
_BLOCKS = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
_INLINE = MarkdownIt("commonmark")
_ANCHOR = re.compile(r"\s*\{#[\w.:-]{1,100}\}\s*\Z")  # of a heading
_KINDS: dict[str, ChunkType] = {
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
}


def read_markdown(data: bytes, *, any_encoding: bool = False) -> Extraction:
    """Read Markdown in UTF-8 without U+0000, or in any encoding if any_encoding. Raises Unreadable."""
    if len(data) > MAX_TEXT_BYTES:
        raise Unreadable(TOO_MUCH_TEXT)
    fields, body = split_front_matter(
        clean_characters(decode(data) if any_encoding else _decode_strictly(data))
    )
    text = body.strip()
    if not has_text(text):
        raise Unreadable(NO_WORDS)
    tokens, lines = _parse(text)
    if "<" in text or "&" in text:
        plain = without_html(text, tokens, lines)
        if plain != text and has_text(plain):
            text = plain
            tokens, lines = _parse(text)
    headings = _find_headings(tokens, lines)
    first = next((heading.title for heading in headings if heading.level == 1), "")
    return Extraction(
        source="MARKDOWN",
        text=text,
        pages=(ExtractedPage(1, 0, len(text), "text"),),
        headings=headings,
        blocks=tuple(_find_blocks(tokens, lines, text)),
        title=fields.pop("title", "") or first,
        metadata=fields,
    )


def _parse(text: str) -> tuple[list[Token], list[int]]:
    """Return the text's blocks, and where each line starts."""
    return _BLOCKS.parse(text), [0, *(match.end() for match in re.finditer("\n", text)), len(text)]


def _decode_strictly(data: bytes) -> str:
    try:
        source = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise Unreadable(NOT_A_DOCUMENT) from exc
    if "\x00" in source:
        raise Unreadable(NOT_A_DOCUMENT)
    return source


def _find_headings(tokens: Sequence[Token], lines: Sequence[int]) -> tuple[Heading, ...]:
    """Collect the headings. lines: where each line starts."""
    headings: list[Heading] = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.map and len(headings) < MAX_OUTLINE_ENTRIES:
            title = _read_title(inline)
            if title:
                headings.append(Heading(int(opening.tag[1]), title, lines[opening.map[0]]))
    return tuple(headings)


def _find_blocks(tokens: Sequence[Token], lines: Sequence[int], text: str) -> Iterator[Block]:
    """Yield the outermost blocks: what is nested in a list is part of the list."""
    last_end = 0
    for token in tokens:
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None:
            continue
        start, end = (lines[min(line, len(lines) - 1)] for line in token.map)
        inner = text[start:end]
        start, end = end - len(inner.lstrip()), start + len(inner.rstrip())
        if last_end <= start < end:
            row = text[start:end].partition("\n")[0]
            yield Block(start, end, kind, read_first_row(row, text, start) if kind == "table" else None)
            last_end = end


def _read_title(inline: Token) -> str:
    """Return a heading as it reads: "The **cell** [1](#n) {#cell}" -> "The cell 1"."""
    parts = _INLINE.parseInline(inline.content[:2_000])[0].children or []
    shown = (
        " " if part.type == "softbreak" else part.content for part in parts if part.type != "html_inline"
    )
    return clean_label(_ANCHOR.sub("", "".join(shown)), max_chars=MAX_TITLE)
