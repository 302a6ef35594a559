"""Sentences, kept together as long as they speak of the same."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from documents.chunkers.limits import Sizes, sizes_of
from documents.chunkers.packing import Group, Packer
from documents.chunkers.pieces import Piece, pieces
from documents.chunkers.reading import Reading
from documents.protocols import SentenceEmbedder, TokenCounter
from documents.types import ChunkDraft, ChunkingSettings, Extraction
from knowlex.common.components import component

BATCH = 256  # sentences whose vectors are held at once
TELLING_TOKENS = (
    5  # a "sentence" of fewer stays with the one before: it costs a run of the model, and says nothing
)


class SemanticChunker:
    """Chunker that breaks between two neighbouring sentences whose cosine is below the threshold.

    The algorithm of the low-level design: a chunk that has min_size tokens ends at the next drop of
    similarity, and at `size` tokens at the latest; nothing is repeated. Its pseudo-code puts the break
    behind the first sentence after the drop (its break index is that sentence's, and it appends before it
    breaks), which would glue the first sentence of every subject to the one before. Here the break is where
    its comment means it to be: at the drop. Pages, parts, code and tables open chunks as for the others.
    """

    def __init__(
        self, *, tokenizer: TokenCounter | None = None, embedder: SentenceEmbedder | None = None
    ) -> None:
        self._tokenizer, self._embedder = tokenizer, embedder

    def split(self, extraction: Extraction, settings: ChunkingSettings) -> list[ChunkDraft]:
        """No chunk only where the text is blank. Raises ValueError (settings), EmbedderError."""
        sizes = sizes_of(settings, overlapping=False)
        _check(settings)
        reading = Reading(extraction, self._tokenizer)
        cut = pieces(reading.material, sizes)
        parts = list(cut)
        drops = self._drops(parts, extraction.text, settings)
        packer = _SemanticPacker(reading, replace(sizes, tiny=0), drops, settings.min_size)
        return reading.drafts(packer.pack(parts), most=sizes.most)

    def _drops(self, parts: Sequence[Piece], text: str, settings: ChunkingSettings) -> set[int]:
        """Where each sentence begins that is too unlike the one before it."""
        telling = [part for part in parts if part.tokens >= TELLING_TOKENS and not part.goes_on]
        vectors = self._vectors([text[part.start : part.end] for part in telling])
        return {
            part.start
            for part, (before, after) in zip(telling[1:], pairwise(vectors), strict=True)
            if float(np.vdot(before, after)) < settings.similarity_threshold
        }

    def _vectors(self, sentences: Sequence[str]) -> Iterator[Any]:
        embedder = self._embedder or component("SENTENCE_EMBEDDER", SentenceEmbedder)
        for start in range(0, len(sentences), BATCH):
            yield from embedder.embed(sentences[start : start + BATCH])


class _SemanticPacker(Packer):
    def __init__(self, reading: Reading, sizes: Sizes, drops: AbstractSet[int], min_size: int) -> None:
        super().__init__(reading.material.contents, sizes, reading.page_of)
        self._drops, self._min_size = drops, min_size

    def is_full(self, current: Group, piece: Piece) -> bool:
        dropped = piece.start in self._drops and current.tokens >= self._min_size
        return dropped or self.overflows(current, piece)


def _check(settings: ChunkingSettings) -> None:
    if not -1 <= settings.similarity_threshold <= 1:
        raise ValueError("similarity_threshold must be from -1 to 1.")
    if settings.min_size < 0:
        raise ValueError("min_size must be 0 or more.")
