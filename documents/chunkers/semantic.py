"""Sentences, kept together as long as they speak of the same."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from documents.chunkers.drafts import MeasuredText
from documents.chunkers.packing import Group, Packer
from documents.chunkers.pieces import Piece, Sizes, compute_sizes, cut_pieces
from documents.protocols import SentenceEmbedder, TokenCounter
from documents.types import ChunkDraft, ChunkingSettings, Extraction
from knowlex.runtime.components import component

BATCH = 128  # pairs of sentences whose vectors are held at once
PASSES = 4
TELLING_TOKENS = 5  # a "sentence" of fewer stays with the one before: it costs a run, and says nothing


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
        sizes = compute_sizes(settings, overlapping=False)
        _check_settings(settings)
        reading = MeasuredText(extraction, self._tokenizer or component("TOKENIZER", TokenCounter))
        parts = list(cut_pieces(reading.material, sizes))
        embedder = self._embedder or component("SENTENCE_EMBEDDER", SentenceEmbedder)
        drops = _TopicBreaks(parts, extraction.text, embedder, settings.similarity_threshold)
        for asking in range(PASSES):
            packer = _SemanticPacker(reading, replace(sizes, tiny=0), drops, settings.min_size)
            groups = packer.pack(parts)
            if drops.as_supposed(everywhere=asking == PASSES - 2):
                break
        return reading.drafts(groups, most=sizes.most)


class _TopicBreaks:
    """Where a sentence begins that is too unlike the one before it.

    Most neighbours are, so that is supposed of those that nobody has looked at; two vectors are asked for
    only where a chunk might end, which is at two sentences of five.
    """

    def __init__(
        self, parts: Sequence[Piece], text: str, embedder: SentenceEmbedder, threshold: float
    ) -> None:
        telling = [part for part in parts if part.tokens >= TELLING_TOKENS and not part.goes_on]
        self._before = {two.start: (one, two) for one, two in pairwise(telling)}
        self._text, self._embedder, self._threshold = text, embedder, threshold
        self._known: dict[int, bool] = {}
        self._supposed: list[int] = []

    def at(self, start: int) -> bool:
        if start not in self._before:
            return False
        if start not in self._known:
            self._supposed.append(start)
        return self._known.get(start, True)

    def as_supposed(self, *, everywhere: bool) -> bool:
        """Looks at what was supposed since the last call; False if any of that was wrong.

        everywhere: then look at all the others too, so that nothing will have to be supposed again.
        """
        looked_at, self._supposed = self._supposed, []
        self._look_at(looked_at)
        right = all(self._known[start] for start in looked_at)
        if everywhere and not right:
            self._look_at([start for start in self._before if start not in self._known])
        return right

    def _look_at(self, places: Sequence[int]) -> None:
        for first in range(0, len(places), BATCH):
            some = places[first : first + BATCH]
            pairs = [self._text[piece.start : piece.end] for start in some for piece in self._before[start]]
            vectors = iter(self._embedder.embed(pairs))
            for start, one, two in zip(some, vectors, vectors, strict=True):
                self._known[start] = float(np.vdot(one, two)) < self._threshold


class _SemanticPacker(Packer):
    def __init__(self, reading: MeasuredText, sizes: Sizes, drops: _TopicBreaks, min_size: int) -> None:
        super().__init__(reading.material.contents, sizes, reading.page_of)
        self._drops, self._min_size = drops, min_size

    def is_full(self, current: Group, piece: Piece) -> bool:
        if self.overflows(current, piece):
            return True
        return current.tokens >= self._min_size and self._drops.at(piece.start)


def _check_settings(settings: ChunkingSettings) -> None:
    if not -1 <= settings.similarity_threshold <= 1:
        raise ValueError("similarity_threshold must be from -1 to 1.")
    if settings.min_size < 0:
        raise ValueError("min_size must be 0 or more.")
