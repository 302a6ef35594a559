"""The chunker that keeps sentences together as long as they are similar."""

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
MIN_TOKENS = 5  # a shorter "sentence" stays with the one before: it costs a run, and has no topic


class SemanticChunker:
    """Chunker that breaks between two neighbouring sentences whose cosine is below the threshold.

    The algorithm of the low-level design: a chunk that has min_size tokens ends at the next drop of
    similarity, and at `size` tokens at the latest; nothing is repeated. Its pseudo-code puts the break
    behind the first sentence after the drop (its break index is that sentence's, and it appends before it
    breaks), which would glue the first sentence of every subject to the one before. Here the break is where
    its comment means it to be: at the drop. Pages, pieces, code and tables open chunks as for the others.
    """

    def __init__(
        self, *, tokenizer: TokenCounter | None = None, embedder: SentenceEmbedder | None = None
    ) -> None:
        self._tokenizer, self._embedder = tokenizer, embedder

    def split(self, extraction: Extraction, settings: ChunkingSettings) -> list[ChunkDraft]:
        """Split a text; return [] only where it is blank. Raises ValueError (settings), EmbedderError."""
        sizes = compute_sizes(settings, overlapping=False)
        _check_settings(settings)
        text = MeasuredText(extraction, self._tokenizer or component("TOKENIZER", TokenCounter))
        pieces = list(cut_pieces(text.source, sizes))
        embedder = self._embedder or component("SENTENCE_EMBEDDER", SentenceEmbedder)
        breaks = _TopicBreaks(pieces, extraction.text, embedder, settings.similarity_threshold)
        for attempt in range(PASSES):
            packer = _SemanticPacker(text, replace(sizes, tiny=0), breaks, settings.min_size)
            groups = packer.pack(pieces)
            if breaks.check_guesses(everywhere=attempt == PASSES - 2):
                break
        return text.drafts(groups, most=sizes.most)


class _TopicBreaks:
    """Finds where a sentence begins that is too unlike the one before it.

    Most neighbours are, so that is the guess for those not compared yet; two vectors are computed only where
    a chunk might end, which is at two sentences of five.
    """

    def __init__(
        self, pieces: Sequence[Piece], text: str, embedder: SentenceEmbedder, threshold: float
    ) -> None:
        comparable = [part for part in pieces if part.tokens >= MIN_TOKENS and not part.continues]
        self._before = {second.start: (first, second) for first, second in pairwise(comparable)}
        self._text, self._embedder, self._threshold = text, embedder, threshold
        self._compared: dict[int, bool] = {}
        self._guesses: list[int] = []

    def is_break(self, start: int) -> bool:
        """Tell if a break is at `start`; it is a guess until the two sentences are compared."""
        if start not in self._before:
            return False
        if start not in self._compared:
            self._guesses.append(start)
        return self._compared.get(start, True)

    def check_guesses(self, *, everywhere: bool) -> bool:
        """Compare what was guessed since the last call; False if any guess was wrong.

        everywhere: then compare all the others too, so that nothing has to be guessed again.
        """
        guessed, self._guesses = self._guesses, []
        self._compare(guessed)
        right = all(self._compared[start] for start in guessed)
        if everywhere and not right:
            self._compare([start for start in self._before if start not in self._compared])
        return right

    def _compare(self, starts: Sequence[int]) -> None:
        for first in range(0, len(starts), BATCH):
            batch = starts[first : first + BATCH]
            pairs = [self._text[piece.start : piece.end] for start in batch for piece in self._before[start]]
            vectors = iter(self._embedder.embed(pairs))
            for start, left, right in zip(batch, vectors, vectors, strict=True):
                self._compared[start] = float(np.vdot(left, right)) < self._threshold


class _SemanticPacker(Packer):
    """Packs groups that end at a break once they have the minimum size."""

    def __init__(self, text: MeasuredText, sizes: Sizes, breaks: _TopicBreaks, min_size: int) -> None:
        super().__init__(text.source.contents, sizes, text.page_of)
        self._breaks, self._min_size = breaks, min_size

    def is_full(self, current: Group, piece: Piece) -> bool:
        if self.overflows(current, piece):
            return True
        return current.tokens >= self._min_size and self._breaks.is_break(piece.start)


def _check_settings(settings: ChunkingSettings) -> None:
    if not -1 <= settings.similarity_threshold <= 1:
        raise ValueError("similarity_threshold must be from -1 to 1.")
    if settings.min_size < 0:
        raise ValueError("min_size must be 0 or more.")
