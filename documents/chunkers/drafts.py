"""What all chunkers look up in an extraction, and how their chunks are written down."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Protocol

from documents.chunkers.pieces import SourceText, TokenIndex, token_starts
from documents.protocols import TokenCounter
from documents.text.headings import HeadingContext, HeadingIndex
from documents.text.sentences import strip_span
from documents.types import ChunkDraft, ChunkType, Extraction


class ChunkSpan(Protocol):
    """A chunk to be: `text[start:end]`, under the headings of `place`."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def place(self) -> HeadingContext: ...


class MeasuredText:
    """One extraction with its tokens counted, its headings and its blocks in order."""

    def __init__(self, extraction: Extraction, tokenizer: TokenCounter) -> None:
        text = extraction.text
        self._tokenizer = tokenizer
        self._pages = extraction.pages if extraction.source == "PDF" else ()
        self._page_starts = [page.start_char for page in self._pages]
        self._block_starts = [block.start_char for block in extraction.blocks]
        self.material = SourceText(
            text=text,
            ruler=TokenIndex(token_starts(self._tokenizer.spans(text))),
            contents=HeadingIndex(extraction.headings),
            pages=self._page_starts,
            blocks=extraction.blocks,
        )

    def page_of(self, position: int) -> int | None:
        """1-based page of a place in the text; None in a source without pages."""
        if not self._pages:
            return None
        return self._pages[max(0, bisect_right(self._page_starts, position) - 1)].number

    def drafts(self, spans: Iterable[ChunkSpan], *, most: int) -> list[ChunkDraft]:
        """most: tokens of a chunk."""
        fitting = (part for span in spans for part in self._fitting(span, most))
        return [
            ChunkDraft(
                chunk_index=index,
                content=self.material.text[start:end],
                start_char=start,
                end_char=end,
                token_count=tokens,
                page_number=self.page_of(start),
                last_page=self.page_of(end - 1),
                chapter=place.chapter,
                section=place.section,
                headers=place.headers,
                chunk_type=self._type_of(start, end),
            )
            for index, (start, end, tokens, place) in enumerate(fitting)
        ]

    def _fitting(self, span: ChunkSpan, most: int) -> Iterator[tuple[int, int, int, HeadingContext]]:
        """The span, cut again where it holds more tokens than it seemed to, as a part of a word may."""
        start, end = span.start, span.end
        while (tokens := self._token_count(start, end)) > most:
            inside = self._tokenizer.spans(self.material.text[start:end])
            stop = start + inside[most][0]
            first, last = strip_span(self.material.text, start, stop)
            yield first, last, most, span.place
            start, end = strip_span(self.material.text, stop, end)
        yield start, end, tokens, span.place

    def _token_count(self, start: int, end: int) -> int:
        """By the one pass, except where a cut goes through a run of characters: a part has other tokens."""
        edges = (edge for edge in (start, end) if 0 < edge < len(self.material.text))
        if any(
            not self.material.text[edge - 1].isspace() and not self.material.text[edge].isspace()
            for edge in edges
        ):
            return len(self._tokenizer.spans(self.material.text[start:end]))
        return self.material.ruler.tokens(start, end)

    def _type_of(self, start: int, end: int) -> ChunkType:
        """The kind of most of the text, headings apart, in tokens; a paragraph where none has over half."""
        held: dict[ChunkType, int] = {}
        blocks = self.material.blocks
        index = max(0, bisect_right(self._block_starts, start) - 1)
        while index < len(blocks) and blocks[index].start_char < end:
            block = blocks[index]
            first, last = max(start, block.start_char), min(end, block.end_char)
            held[block.kind] = held.get(block.kind, 0) + max(0, self.material.ruler.tokens(first, last))
            index += 1
        half = (self.material.ruler.tokens(start, end) - self._heading_tokens(start, end)) / 2
        return next((kind for kind, tokens in held.items() if tokens > half), "paragraph")

    def _heading_tokens(self, start: int, end: int) -> int:
        """In the lines that begin with a heading."""
        text, tokens = self.material.text, 0
        for place in self.material.contents.between(start - 1, end):
            stop = text.find("\n", place.start_char, end)
            tokens += self.material.ruler.tokens(place.start_char, end if stop < 0 else stop)
        return tokens
