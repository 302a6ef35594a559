"""A builder of texts, piece by piece, with exact offsets of headings and blocks."""

from dataclasses import replace
from textwrap import dedent

from documents.extractors.cleaning import BLANK_LINES, SPACES
from documents.extractors.failures import (
    MAX_OUTLINE_ENTRIES,
    MAX_TEXT_BYTES,
    MAX_TITLE,
    NO_WORDS,
    TOO_MUCH_TEXT,
    Unreadable,
)
from documents.text.characters import clean_characters, clean_label, has_text
from documents.text.tables import CELLS, read_head
from documents.types import Block, ChunkType, ExtractedPage, Extraction, Heading, Source


class Composer:
    """Builds an Extraction. A blank line separates pieces, a line end the items or rows of one block."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = self._bytes = 0
        self._headings: list[Heading] = []
        self._blocks: list[Block] = []
        self._open: ChunkType | None = None
        self._above = ""  # the paragraph or heading that stands last

    @property
    def length(self) -> int:
        """Return the length of the text so far, in characters."""
        return self._length

    def add_heading(self, level: int, title: str) -> None:
        title = clean_label(title, max_chars=MAX_TITLE)
        if not has_text(title):
            return
        start = self._append(title, "\n\n")
        self._open, self._above = None, title
        if len(self._headings) < MAX_OUTLINE_ENTRIES:
            self._headings.append(Heading(level, title, start))

    def add_paragraph(self, text: str) -> None:
        """Add a paragraph; line ends within it are kept, runs of spaces are not."""
        lines = [SPACES.sub(" ", line).strip() for line in clean_characters(text).split("\n")]
        text = BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()
        if has_text(text):
            self._append(text, "\n\n")
            self._open, self._above = None, text

    def add_line(self, kind: ChunkType, text: str, *, indent: int = 0) -> None:
        """Add an item of a list or a row of a table; it joins the block before if that is of its kind."""
        text = " ".join(clean_characters(text).split())
        if not has_text(text):
            return
        text = " " * (2 * min(indent, 8) if self._open == kind else 0) + text
        self._append_to_block(kind, text)

    def add_row(self, cells: list[str]) -> None:
        """Add a row of a table; one without any text is left out. The first may be the table's head."""
        if any(has_text(cell) for cell in cells):
            cells = [" ".join(cell.split()) for cell in cells]
            begins, title = self._open != "table", self._above
            self.add_line("table", CELLS.join(cells))
            if begins and self._open == "table":
                self._blocks[-1] = replace(self._blocks[-1], head=read_head(title, cells))

    def add_code(self, text: str, *, joined: bool = False) -> None:
        """Add code without the common indentation of its lines. joined: it continues the code before."""
        text = clean_characters(text).expandtabs(4).strip("\n").rstrip()
        if not has_text(text):
            return
        if not (joined and self._open == "code"):
            self._open, text = None, dedent(text).lstrip()
        self._append_to_block("code", text)

    def end_block(self) -> None:
        """Let what comes next be a block of its own."""
        self._open = None

    def finish(
        self, source: Source, *, title: str = "", metadata: dict[str, str] | None = None
    ) -> Extraction:
        """Return the extraction. Raises Unreadable where there is no text."""
        if not self._parts:
            raise Unreadable(NO_WORDS)
        first = next((heading.title for heading in self._headings if heading.level == 1), "")
        return Extraction(
            source=source,
            text="".join(self._parts),
            pages=(ExtractedPage(1, 0, self._length, "text"),),
            headings=tuple(self._headings),
            blocks=tuple(self._blocks),
            title=clean_label(title) or first,
            metadata=metadata or {},
        )

    def _append_to_block(self, kind: ChunkType, text: str) -> None:
        if self._open == kind:
            self._append(text, "\n")
            self._blocks[-1] = replace(self._blocks[-1], end_char=self._length)
        else:
            start = self._append(text, "\n\n")
            self._blocks.append(Block(start, self._length, kind))
            self._open, self._above = kind, ""

    def _append(self, text: str, joint: str) -> int:
        """Append `text` and return where it starts."""
        if self._parts:
            text = joint + text
        start = self._length + (len(joint) if self._parts else 0)
        self._parts.append(text)
        self._length += len(text)
        self._bytes += len(text.encode())
        if self._bytes > MAX_TEXT_BYTES:
            raise Unreadable(TOO_MUCH_TEXT)
        return start
