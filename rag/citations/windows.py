"""Where a context speaks of what a claim speaks of: the sentences that share most with it. Plain Python."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from embeddings.lexical.sentences import Analysis, Sentence
from rag.ranking.sentences import analysis_in
from rag.types.context import Block

MAX_NEAR = 4  # sentences that share most with the claim; those beside them are near it, too
MAX_SENTENCES = 3  # sentences of a window
LOSS_PER_SENTENCE = 0.03  # that a window is worth less with each more sentence
UNSEEN_COUNT = 0.3  # sentences that a word counts as being in which none holds


class Window(NamedTuple):
    """Adjoining sentences of a block: the place of the first, and of the one behind the last. share: of the
    claim's words that stand there, [0, 1], by their rarity in the context.
    """

    first: int
    end: int
    share: float


class _Mass(dict[int, float]):
    """Stems as bits -> the sum of their weights; the same few combinations come again and again."""

    def __init__(self, weights: Iterable[float]) -> None:
        super().__init__()
        self._weights = tuple(weights)

    def __missing__(self, bits: int) -> float:
        mass = self[bits] = sum(weight for n, weight in enumerate(self._weights) if bits >> n & 1)
        return mass


class Windows:
    """Of the blocks, numbered from 1, for the stems of one claim."""

    def __init__(self, blocks: Sequence[Block], stems: Iterable[str]) -> None:
        self._blocks = blocks
        self._stems = tuple(dict.fromkeys(stems))
        self._every = (1 << len(self._stems)) - 1
        self._best: dict[int, Window] = {}

    def best(self, number: int) -> Window:
        """Return the one to three sentences of the block that share most with the claim."""
        if number not in self._best:
            window = self._window(number, self._every)
            self._best[number] = window._replace(share=window.share / (self._mass[self._every] or 1.0))
        return self._best[number]

    @cached_property
    def near(self) -> str:
        """Return the sentences of all blocks that share most with the claim, each with those beside it."""
        scored = sorted(
            (-self._mass[bits], number, position)
            for number, bits_by_sentence in enumerate(self._bits_by_sentence, start=1)
            for position, bits in bits_by_sentence.items()
        )
        near = {(number, position + step) for _, number, position in scored[:MAX_NEAR] for step in (-1, 0, 1)}
        return "\n".join(self._sentence(number, position) for number, position in sorted(near))

    def saying(self, without: frozenset[str], least: float, *, beside: int) -> list[str]:
        """Return the best windows of the two best blocks for the claim without these stems, with so many
        sentences beside each; [] where the best says less than `least` of it, [0, 1].
        """
        rest = sum(1 << bit for bit, stem in enumerate(self._stems) if stem not in without)
        whole = self._mass[rest] or 1.0
        windows = [
            (self._window(n, rest), n)
            for n, bits_by_sentence in enumerate(self._bits_by_sentence, start=1)
            if bits_by_sentence
        ]
        best = sorted(windows, key=lambda scored: -scored[0].share)[:2]
        if not best or best[0][0].share < least * whole:
            return []
        wider = [(n, Window(max(0, w.first - beside), w.end + beside, w.share)) for w, n in best]
        return [self.text(n, window) for n, window in wider]

    def span(self, number: int, window: Window) -> tuple[int, int]:
        """Return the window's offsets in the block's content."""
        spans = self._analysis(number).spans
        if not spans:
            return 0, len(self._blocks[number - 1].content)
        return spans[window.first][0], spans[min(window.end, len(spans)) - 1][1]

    def text(self, number: int, window: Window) -> str:
        return self._blocks[number - 1].content[slice(*self.span(number, window))]

    def spans(self, number: int) -> tuple[tuple[int, int], ...]:
        """Return the offsets of the block's sentences."""
        return self._analysis(number).spans

    def sentences(self, number: int, start: int, end: int) -> tuple[int, int]:
        """Return the span of the whole sentences that a span touches."""
        touched = [span for span in self._analysis(number).spans if span[0] < end and start < span[1]]
        return (touched[0][0], touched[-1][1]) if touched else (start, end)

    def around(self, number: int, start: int, end: int) -> str:
        """Return the sentences that a span touches."""
        return self._blocks[number - 1].content[slice(*self.sentences(number, start, end))]

    def sentences_of(self, number: int) -> Iterator[tuple[Sentence, str]]:
        content = self._blocks[number - 1].content
        return (
            (sentence, content[sentence.start : sentence.end])
            for sentence in self._analysis(number).sentences
        )

    @cached_property
    def _analyses(self) -> list[Analysis]:
        return [self._analysis(number) for number in range(1, len(self._blocks) + 1)]

    @cached_property
    def _mass(self) -> _Mass:
        sentences = 1 + sum(len(analysis.spans) for analysis in self._analyses)
        counts = [sum(len(a.places(stem)) for a in self._analyses) for stem in self._stems]
        return _Mass(math.log(1 + sentences / max(count, UNSEEN_COUNT)) for count in counts)

    @cached_property
    def _bits_by_sentence(self) -> list[dict[int, int]]:
        return [self._stem_bits(analysis) for analysis in self._analyses]

    def _analysis(self, number: int) -> Analysis:
        return analysis_in(self._blocks[number - 1])

    def _stem_bits(self, analysis: Analysis) -> dict[int, int]:
        """Return for each sentence that holds any of the stems which ones it holds, as bits."""
        bits_by_sentence: dict[int, int] = {}
        for bit, stem in enumerate(self._stems):
            for position in analysis.places(stem):
                bits_by_sentence[position] = bits_by_sentence.get(position, 0) | 1 << bit
        return bits_by_sentence

    def _window(self, number: int, bits: int) -> Window:
        """Return the best window for the stems that these bits select; its share is their mass."""
        bits_by_sentence = self._bits_by_sentence[number - 1]
        best, value = Window(0, min(1, len(self._analysis(number).spans)), 0.0), 0.0
        for first in bits_by_sentence:
            union = 0
            for end in range(first + 1, first + MAX_SENTENCES + 1):
                more = bits_by_sentence.get(end - 1, 0) & bits
                if union | more == union:
                    continue
                union |= more
                worth = self._mass[union] * (1 - LOSS_PER_SENTENCE * (end - first - 1))
                if worth > value:
                    best, value = Window(first, end, self._mass[union]), worth
        return best

    def _sentence(self, number: int, position: int) -> str:
        spans = self._analysis(number).spans
        return self._blocks[number - 1].content[slice(*spans[position])] if 0 <= position < len(spans) else ""
