"""Whole sentences, packed to a target size."""

from bisect import bisect_right
from collections.abc import Callable

from documents.chunkers.packing import Group, Packer, Sizes
from documents.chunkers.pieces import Ruler, pieces
from documents.headings import Contents
from documents.protocols import TokenCounter
from documents.types import ChunkDraft, ChunkingSettings, Extraction
from knowlex.common.components import component
from knowlex.common.fields import MAX_QUESTION_CHARS

MAX_TOKENS = 500  # the embedder reads 512, its two special tokens included
MAX_CHARS = MAX_QUESTION_CHARS  # a chunk's own text must be fit to be searched for
TINY_TOKENS = 40  # a rest that is smaller goes back to the chunk before it


class SentenceChunker:
    """Chunker that ends chunks where readers pause: before a heading, at a page's end, at a sentence's end.

    A chunk repeats the last sentences of the one before it, up to the overlap, unless it opens a page or a
    part of its own.
    """

    def __init__(self, *, tokenizer: TokenCounter | None = None) -> None:
        self._tokenizer = tokenizer

    def split(self, extraction: Extraction, settings: ChunkingSettings) -> list[ChunkDraft]:
        """No chunk only where the text is blank. Raises ValueError for sizes that cannot be met."""
        sizes = _sizes(settings)
        text = extraction.text
        tokenizer = self._tokenizer or component("TOKENIZER", TokenCounter)
        ruler, contents = Ruler(tokenizer.spans(text)), Contents(extraction.headings)
        page_of = _page_lookup(extraction)
        parts = pieces(text, ruler, contents, max_tokens=sizes.target, max_chars=MAX_CHARS)
        groups = Packer(contents, sizes, page_of).pack(parts)
        return [
            ChunkDraft(
                chunk_index=index,
                content=text[group.start : group.end],
                start_char=group.start,
                end_char=group.end,
                token_count=_token_count(text, group, ruler, tokenizer),
                page_number=page_of(group.start),
                last_page=page_of(group.end - 1),
                chapter=group.place.chapter,
                section=group.place.section,
            )
            for index, group in enumerate(groups)
        ]


def _sizes(settings: ChunkingSettings) -> Sizes:
    if settings.size < TINY_TOKENS // 2:
        raise ValueError(f"size must be at least {TINY_TOKENS // 2}.")
    if not 0 <= settings.overlap <= settings.size // 2:
        raise ValueError("overlap must be from 0 to half of size.")
    tiny = min(TINY_TOKENS, settings.size // 4)
    return Sizes(min(settings.size, MAX_TOKENS), settings.overlap, MAX_TOKENS, MAX_CHARS, tiny)


def _page_lookup(extraction: Extraction) -> Callable[[int], int | None]:
    """Place in the text -> 1-based page; None in a source without pages."""
    if extraction.source != "PDF":
        return lambda position: None
    starts = [page.start_char for page in extraction.pages]
    return lambda position: extraction.pages[max(0, bisect_right(starts, position) - 1)].number


def _token_count(text: str, group: Group, ruler: Ruler, tokenizer: TokenCounter) -> int:
    """By the one pass, except where a cut goes through a run of characters: a part has other tokens."""
    edges = (edge for edge in (group.start, group.end) if 0 < edge < len(text))
    if any(not text[edge - 1].isspace() and not text[edge].isspace() for edge in edges):
        return len(tokenizer.spans(text[group.start : group.end]))
    return ruler.tokens(group.start, group.end)
