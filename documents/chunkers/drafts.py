"""Drafts of chunks from spans of an extraction, with their pages, headings and types."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from documents.chunkers.pieces import SourceText, TokenIndex
from documents.protocols import TokenCounter
from documents.text.headings import HeadingContext, HeadingIndex
from documents.text.sentences import strip_span
from documents.types import PAGED_SOURCES, SHEET_SOURCES, ChunkDraft, ChunkType, Extraction, TableHead

_FAR = 10_000  # characters, some three pages: a heading so far above a table does not name it


class ChunkSpan(Protocol):
    """The span of a chunk, `text[start:end]`, under the headings of `context`."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def context(self) -> HeadingContext: ...


class MeasuredText:
    """An extraction with its tokens counted, for lookups by offset and for drafts of its chunks."""

    def __init__(self, extraction: Extraction, tokenizer: TokenCounter) -> None:
        text = extraction.text
        self._tokenizer = tokenizer
        self._has_row_sections = extraction.source in SHEET_SOURCES
        self._pages = extraction.pages if extraction.source in PAGED_SOURCES else ()
        self._page_starts = [page.start_char for page in self._pages]
        self._block_starts = [block.start_char for block in extraction.blocks]
        self.source = SourceText(
            text=text,
            tokens=TokenIndex(tokenizer.starts(text)),
            contents=HeadingIndex(extraction.headings),
            pages=self._page_starts,
            blocks=extraction.blocks,
            tells_headings=not self._has_row_sections,
            breaks_sentences=extraction.source != "PDF",
        )

    def page_of(self, position: int) -> int | None:
        """Return the 1-based page of an offset; None in a source without pages."""
        if not self._pages:
            return None
        return self._pages[max(0, bisect_right(self._page_starts, position) - 1)].number

    def drafts(self, spans: Iterable[ChunkSpan], *, most: int) -> list[ChunkDraft]:
        """Build numbered drafts. most: tokens of a chunk."""
        fitting = (part for span in spans for part in self._cut_to_limit(span, most))
        return [
            ChunkDraft(
                chunk_index=index,
                content=self.source.text[start:end],
                start_char=start,
                end_char=end,
                token_count=tokens,
                page_number=self.page_of(start),
                last_page=self.page_of(end - 1),
                chapter=context.chapter,
                section=context.section,
                headers=context.headers,
                chunk_type=self._type_of(start, end),
                table=self._table_of(start, end, context),
            )
            for index, (start, end, tokens, context) in enumerate(fitting)
        ]

    def _cut_to_limit(self, span: ChunkSpan, most: int) -> Iterator[tuple[int, int, int, HeadingContext]]:
        """Cut a span again if it has more tokens than were counted, as a part of a word may."""
        start, end = span.start, span.end
        while (tokens := self._token_count(start, end)) > most:
            stop = start + self._tokenizer.starts(self.source.text[start:end])[most]
            first, last = strip_span(self.source.text, start, stop)
            yield first, last, most, span.context
            start, end = strip_span(self.source.text, stop, end)
        yield start, end, tokens, span.context

    def _token_count(self, start: int, end: int) -> int:
        """Count by the one pass; anew where a cut goes through a word, whose parts have other tokens."""
        text = self.source.text
        for edge in (start, end):
            if 0 < edge < len(text) and not text[edge - 1].isspace() and not text[edge].isspace():
                return len(self._tokenizer.starts(text[start:end]))
        return self.source.tokens.count(start, end)

    def _type_of(self, start: int, end: int) -> ChunkType:
        """Return the kind of most of the text's tokens, headings apart; "paragraph" if none has over half."""
        counts: dict[ChunkType, int] = {}
        blocks = self.source.blocks
        index = max(0, bisect_right(self._block_starts, start) - 1)
        while index < len(blocks) and blocks[index].start_char < end:
            block = blocks[index]
            first, last = max(start, block.start_char), min(end, block.end_char)
            counts[block.kind] = counts.get(block.kind, 0) + max(0, self.source.tokens.count(first, last))
            index += 1
        half = (self.source.tokens.count(start, end) - self._heading_tokens(start, end)) / 2
        return next((kind for kind, tokens in counts.items() if tokens > half), "paragraph")

    def _table_of(self, start: int, end: int, context: HeadingContext) -> TableHead | None:
        """Return the head of the table that a span is in, with a title; None if there are several.

        One without a title of its own has that of the heading above it.
        """
        first = max(0, bisect_right(self._block_starts, start) - 1)
        tables = []
        for block in self.source.blocks[first:]:
            if block.start_char >= end:
                break
            if block.end_char > start and block.head:
                tables.append(block)
        if len(tables) != 1 or (head := tables[0].head) is None:
            return None
        has_title = head.title and not head.title.startswith("(")  # more than a unit
        far = tables[0].start_char - context.start_char > _FAR
        if has_title or far or self._has_row_sections:
            return head
        names = " ".join(head.columns)  # a bold one looks like a heading
        heading = next((title for title in reversed(context.headers) if title not in names), "")
        return replace(head, title=f"{heading} {head.title}".strip())

    def _heading_tokens(self, start: int, end: int) -> int:
        """Count the tokens of lines that begin with a heading."""
        text, tokens = self.source.text, 0
        for heading in self.source.contents.between(start - 1, end):
            stop = text.find("\n", heading.start_char, end)
            tokens += self.source.tokens.count(heading.start_char, end if stop < 0 else stop)
        return tokens
