"""What travels between reading a file and storing its chunks. Plain Python, frozen."""

from dataclasses import dataclass, field
from typing import Literal

Source = Literal["PDF", "MARKDOWN"]
ReadBy = Literal["pdfium", "pypdf", "text", "none"]


@dataclass(frozen=True, slots=True)
class ExtractedPage:
    """One page's place in the document's text: `text[start_char:end_char]`.

    number: 1-based. read_by: which reader gave the text, "none" if no reader found any.
    warnings: short machine-readable words, for example "no_text" or "fallback".
    """

    number: int
    start_char: int
    end_char: int
    read_by: ReadBy
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and where in the document's text its part begins. level 1 is a chapter."""

    level: int
    title: str
    start_char: int


@dataclass(frozen=True, slots=True)
class Extraction:
    """The whole of what was read from one file, already cleaned and fit for PostgreSQL.

    text: all pages, joined by one newline. pages cover it in order; a Markdown file has one page.
    headings: in order of start_char; empty where the file has no outline.
    metadata: only JSON types; keys such as "author", "created".
    """

    source: Source
    text: str
    pages: tuple[ExtractedPage, ...]
    headings: tuple[Heading, ...] = ()
    title: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A chunk before it is stored. `extraction.text[start_char:end_char] == content`, always.

    page_number, last_page: 1-based; None where the source has no pages (Markdown).
    chapter, section: "" where there is none. token_count: the embedder's own tokens.
    """

    chunk_index: int
    content: str
    start_char: int
    end_char: int
    token_count: int
    page_number: int | None
    last_page: int | None
    chapter: str = ""
    section: str = ""
