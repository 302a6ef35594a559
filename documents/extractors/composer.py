"""A builder of texts, piece by piece, with exact offsets of headings and blocks."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from textwrap import dedent

from documents.extractors.cleaning import BLANK_LINES, SPACES
from documents.extractors.failures import (
    MAX_OUTLINE_ENTRIES,
    MAX_PAGES,
    MAX_PARTS,
    MAX_TEXT_BYTES,
    MAX_TITLE,
    NO_WORDS,
    OUT_OF_LIMITS,
    TOO_MANY_PAGES,
    TOO_MUCH_TEXT,
    Unreadable,
)
from documents.text.characters import clean_characters, clean_label, has_text
from documents.text.tables import join_cells, read_head
from documents.types import (
    Attachment,
    Block,
    ChunkType,
    ExtractedPage,
    Extraction,
    Heading,
    Source,
    TableHead,
)


class Composer:
    """Builds an Extraction. A blank line separates pieces, a line end the items or rows of one block."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = self._bytes = 0
        self._page_starts: list[int] = []
        self._pending: list[Heading] = []  # which stand where the next text begins
        self._headings: list[Heading] = []
        self._blocks: list[Block] = []
        self._open: ChunkType | None = None
        self._indent = 0  # of the first item of the list that is open
        self._title = ""  # the first heading of the first level in the text
        self._above = ""  # the paragraph or heading that stands last

    @property
    def length(self) -> int:
        """Return the length of the text so far, in characters."""
        return self._length

    def begin_page(self) -> None:
        """Begin the next page: a slide, a sheet. Without any call all of the text is one page."""
        if len(self._page_starts) == MAX_PAGES:
            raise Unreadable(TOO_MANY_PAGES)
        if self._page_starts:
            self._add("\n")
        self._page_starts.append(self._length)
        self._pending.clear()
        self._open, self._above = None, ""

    def begin_part(self, level: int, title: str) -> None:
        """Have a heading stand where the next text begins that is itself no part of the text."""
        title = clean_label(title, max_chars=MAX_TITLE)
        self._pending = [heading for heading in self._pending if heading.level < level]
        if has_text(title):
            self._pending.append(Heading(level, title, 0))
        self._open = None

    def add_heading(self, level: int, title: str) -> None:
        text = " ".join(clean_characters(title).split())
        if not has_text(text):
            return
        start = self._append(text, "\n\n")
        title = text[:MAX_TITLE]
        if len(self._headings) < MAX_OUTLINE_ENTRIES:
            self._headings.append(Heading(level, title, start))
        if level == 1 and not self._title:
            self._title = title
        self._open, self._above = None, text

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
        if self._open != kind:
            self._indent = indent
        text = " " * (2 * min(max(indent - self._indent, 0), 8)) + text
        self._append_to_block(kind, text)

    def add_row(self, cells: list[str]) -> None:
        """Add a row of a table; one without any text is left out. The first may be the table's head."""
        if any(has_text(cell) for cell in cells):
            cells = [" ".join(cell.split()) for cell in cells]
            begins, title = self._open != "table", self._above
            self.add_line("table", join_cells(cells))
            if begins and self._open == "table":
                self._blocks[-1] = replace(self._blocks[-1], head=read_head(title, cells))

    def add_table(self, rows: Iterable[Sequence[str]], head: TableHead | None) -> None:
        """Add a whole table, whose head is known already; it may stand in its first row, or before."""
        self.end_block()
        before = len(self._blocks)
        for row in rows:
            self.add_line("table", join_cells(row))
        if len(self._blocks) > before:
            self._blocks[-1] = replace(self._blocks[-1], head=head)
        self._open = None

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
        self,
        source: Source,
        *,
        title: str = "",
        metadata: dict[str, str] | None = None,
        warnings: tuple[str, ...] = (),
        attachments: tuple[Attachment, ...] = (),
    ) -> Extraction:
        """Return the extraction. Raises Unreadable where there is no text."""
        if not self._bytes:
            raise Unreadable(NO_WORDS)
        starts = self._page_starts or [0]
        ends = [*(start - 1 for start in starts[1:]), self._length]
        pages = enumerate(zip(starts, ends, strict=True), start=1)
        return Extraction(
            source=source,
            text="".join(self._parts),
            pages=tuple(ExtractedPage(number, start, end, "text") for number, (start, end) in pages),
            headings=tuple(self._headings),
            blocks=tuple(self._blocks),
            title=clean_label(title) or self._title,
            metadata=metadata or {},
            warnings=warnings,
            attachments=attachments,
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
        if self._length > (self._page_starts[-1] if self._page_starts else 0):
            self._add(joint)
        start = self._length
        if self._pending:
            self._headings += [replace(heading, start_char=start) for heading in self._pending]
            self._pending.clear()
            if len(self._headings) > MAX_PARTS:  # without its heading a part would be cited as the one before
                raise Unreadable(OUT_OF_LIMITS)
        self._add(text)
        self._bytes += len(text.encode())
        if self._bytes > MAX_TEXT_BYTES:
            raise Unreadable(TOO_MUCH_TEXT)
        return start

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
