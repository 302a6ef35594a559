"""The chunker that packs whole sentences to a target size."""

from documents.chunkers.packing import split_into_sentences
from documents.protocols import TokenCounter
from documents.types import ChunkDraft, ChunkingSettings, Extraction
from knowlex.runtime.components import component


class SentenceChunker:
    """Chunker that ends chunks where readers pause: before a heading, at a page's end, at a sentence's end.

    A chunk repeats the last sentences of the one before it, up to the overlap, unless it opens a page or a
    part of its own. Code and tables are chunks of their own, cut between lines only where they are too long.
    """

    def __init__(self, *, tokenizer: TokenCounter | None = None) -> None:
        self._tokenizer = tokenizer

    def split(self, extraction: Extraction, settings: ChunkingSettings) -> list[ChunkDraft]:
        """Split a text; return [] only where it is blank. Raises ValueError for sizes that cannot be met."""
        tokenizer = self._tokenizer or component("TOKENIZER", TokenCounter)
        return split_into_sentences(extraction, settings, tokenizer)
