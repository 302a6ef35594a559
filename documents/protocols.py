"""The parts of ingestion that can be exchanged by settings.KNOWLEX."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from documents.types import ChunkDraft, Extraction


class TextExtractor(Protocol):
    """Role EXTRACTOR: a file on disk -> cleaned text with pages and headings."""

    def extract(self, path: Path, *, filename: str) -> Extraction:
        """Read the file. The type is decided by content; `filename` only tells Markdown from plain text.

        Raises UnreadableDocument with a message for the user; DependencyUnavailable when no
        extractor process is free in time. Never runs a parser in the calling process.
        """
        ...


class TokenCounter(Protocol):
    """Role TOKENIZER: the embedding model's own tokens, offline."""

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """(start, end) character offsets of every token of `text`, in order, without special tokens."""
        ...


class Chunker(Protocol):
    """Role CHUNKER: an extraction -> chunk drafts, numbered from 0 without gaps."""

    def split(self, extraction: Extraction) -> list[ChunkDraft]: ...
