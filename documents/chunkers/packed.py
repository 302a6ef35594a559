"""Whole sentences, packed to a target size: the splitting itself, for programs without Django, too."""

from documents.chunkers.limits import sizes_of
from documents.chunkers.packing import Packer
from documents.chunkers.pieces import pieces
from documents.chunkers.reading import Reading
from documents.protocols import TokenCounter
from documents.types import ChunkDraft, ChunkingSettings, Extraction


def packed(extraction: Extraction, settings: ChunkingSettings, tokenizer: TokenCounter) -> list[ChunkDraft]:
    """As `SentenceChunker` splits."""
    sizes = sizes_of(settings)
    reading = Reading(extraction, tokenizer)
    parts = pieces(reading.material, sizes)
    packer = Packer(reading.material.contents, sizes, reading.page_of)
    return reading.drafts(packer.pack(parts), most=sizes.most)
