"""Markdown's bytes -> Extraction. The text stays Markdown, so that every offset is one of the source."""

import re
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from documents.extractors.cleaning import clean_characters, clean_label, has_text
from documents.extractors.failures import NO_TEXT, NOT_A_DOCUMENT, TOO_MUCH_TEXT, Unreadable
from documents.extractors.pages import MAX_OUTLINE_ENTRIES, MAX_TEXT_BYTES, MAX_TITLE
from documents.types import ExtractedPage, Extraction, Heading

# Only blocks are parsed: inline markup is not needed to find headings, and costs most of the time.
_BLOCKS = MarkdownIt("commonmark").disable(["inline", "text_join"])
_INLINE = MarkdownIt("commonmark")
_FRONT_MATTER = re.compile(
    r"---[ \t]*\n(?P<fields>(?:(?!---[ \t]*$|\.\.\.[ \t]*$).*\n){0,200}?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.M
)
_FIELD = re.compile(r"^(title|author|date|subject|keywords|description)[ \t]*:[ \t]*(\S.*)$", re.M | re.I)


def read_markdown(data: bytes) -> Extraction:
    """Strict UTF-8 without U+0000, with or without a byte order mark. Raises Unreadable."""
    if len(data) > MAX_TEXT_BYTES:
        raise Unreadable(TOO_MUCH_TEXT)
    try:
        source = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise Unreadable(NOT_A_DOCUMENT) from exc
    if "\x00" in source:
        raise Unreadable(NOT_A_DOCUMENT)
    fields, body = _front_matter(clean_characters(source))
    text = body.strip()
    if not has_text(text):
        raise Unreadable(NO_TEXT)
    headings = _headings(text)
    first = next((heading.title for heading in headings if heading.level == 1), "")
    return Extraction(
        source="MARKDOWN",
        text=text,
        pages=(ExtractedPage(1, 0, len(text), "text"),),
        headings=headings,
        title=fields.pop("title", "") or first,
        metadata=fields,
    )


def _front_matter(source: str) -> tuple[dict[str, str], str]:
    """(its plain fields, the rest): front matter describes the text and is no part of it."""
    found = _FRONT_MATTER.match(source)
    if found is None:
        return {}, source
    fields = {
        name.lower(): clean_label(value.strip("\"' ")) for name, value in _FIELD.findall(found["fields"])
    }
    return fields, source[found.end() :]


def _headings(text: str) -> tuple[Heading, ...]:
    tokens = _BLOCKS.parse(text)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    headings: list[Heading] = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.map and len(headings) < MAX_OUTLINE_ENTRIES:
            title = _plain(inline)
            if title:
                headings.append(Heading(int(opening.tag[1]), title, starts[opening.map[0]]))
    return tuple(headings)


def _plain(inline: Token) -> str:
    """A heading as it reads: "The **cell** [1](#n)" -> "The cell 1"."""
    parts = _INLINE.parseInline(inline.content[:2_000])[0].children or []
    shown = (
        " " if part.type == "softbreak" else part.content for part in parts if part.type != "html_inline"
    )
    return clean_label("".join(shown), max_chars=MAX_TITLE)
