"""The three chunkers, as tests build them, and what holds for every chunking of every text."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from zlib import crc32

import numpy as np

from documents.chunkers.fixed import FixedChunker
from documents.chunkers.pieces import MAX_CHARS, MAX_TOKENS
from documents.chunkers.semantic import SemanticChunker
from documents.chunkers.sentence import SentenceChunker
from documents.protocols import Chunker
from documents.text.tokens import WordPieceCounter
from documents.types import (
    Block,
    ChunkDraft,
    ChunkingSettings,
    ExtractedPage,
    Extraction,
    Heading,
    Strategy,
)

COUNTER = WordPieceCounter()


class LetterEmbedder:
    """SentenceEmbedder of two directions: sentences with the same first letter point the same way."""

    def embed(self, texts: Sequence[str]) -> list[np.ndarray]:
        return [np.eye(8, dtype=np.float32)[crc32(text[:1].encode()) % 8] for text in texts]


CHUNKERS: dict[Strategy, Chunker] = {
    "fixed": FixedChunker(tokenizer=COUNTER),
    "sentence": SentenceChunker(tokenizer=COUNTER),
    "semantic": SemanticChunker(tokenizer=COUNTER, embedder=LetterEmbedder()),
}


def pdf(*pages: str, headings: tuple[Heading, ...] = (), blocks: tuple[Block, ...] = ()) -> Extraction:
    starts = accumulate((len(page) + 1 for page in pages[:-1]), initial=0)
    found = tuple(
        ExtractedPage(number, start, start + len(page), "pdfium")
        for number, (start, page) in enumerate(zip(starts, pages, strict=True), 1)
    )
    return Extraction("PDF", "\n".join(pages), found, headings, blocks)


def markdown(text: str, *headings: Heading, blocks: tuple[Block, ...] = ()) -> Extraction:
    return Extraction("MARKDOWN", text, (ExtractedPage(1, 0, len(text), "text"),), headings, blocks)


def block(text: str, part: str, kind: str) -> Block:
    start = text.index(part)
    return Block(start, start + len(part), kind)


def check(extraction: Extraction, chunks: list[ChunkDraft], settings: ChunkingSettings | None = None) -> None:
    """Exact places, sizes that are true and within the limits, and every character that is no space."""
    text = extraction.text
    most = min(settings.size, MAX_TOKENS) if settings else MAX_TOKENS
    assert [chunk.chunk_index for chunk in chunks] == list(range(len(chunks)))
    covered = 0
    for chunk in chunks:
        assert chunk.content == text[chunk.start_char : chunk.end_char] == chunk.content.strip() != ""
        assert chunk.token_count == len(COUNTER.starts(chunk.content)) <= most
        assert len(chunk.content) <= MAX_CHARS
        assert not text[covered : chunk.start_char].strip()
        assert chunk.end_char > covered
        covered = chunk.end_char
    assert not text[covered:].strip()
    assert all(one.start_char < two.start_char for one, two in pairwise(chunks))
