"""How well the sentences of a passage fit a question, and the scale of the cosines that say so."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any, NamedTuple, TypeAlias, overload


class SentenceScore(NamedTuple):
    """One sentence of a passage, as ranked for the question. A tuple: hundreds are made for each question.

    start, end: offsets into the passage's content. coverage: share [0, 1] of the question's idf mass
    that stands in the sentence; coverage_with_previous: the same with the sentence before it.
    similarity: cosine to the question, None where the embedder gives no sentence vectors.
    """

    start: int
    end: int
    coverage: float
    coverage_with_previous: float
    similarity: float | None = None


@dataclass(slots=True)
class SentenceScores(Sequence[SentenceScore]):
    """The sentences of a passage in reading order, in columns by the names in `SentenceScore`.

    Hundreds are scored for each question, but those of few passages are looked at one by one: only then is
    each made. Not frozen, which takes seven times as long to make.
    """

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    coverages: tuple[float, ...]
    with_previous: tuple[float, ...]
    similarities: tuple[float | None, ...]

    @classmethod
    def of(cls, scores: "Sentences") -> "SentenceScores":
        if isinstance(scores, cls):
            return scores
        columns: tuple[Any, ...] = tuple(zip(*scores, strict=True))
        return cls(*(columns or ((),) * len(SentenceScore._fields)))

    def both_coverages(self) -> Iterable[float]:
        """Return the sum of `coverage` and `coverage_with_previous` of each."""
        return map(add, self.coverages, self.with_previous)

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[SentenceScore]:
        columns = self.starts, self.ends, self.coverages, self.with_previous, self.similarities
        return map(SentenceScore, *columns)

    @overload
    def __getitem__(self, place: int) -> SentenceScore: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[SentenceScore, ...]: ...
    def __getitem__(self, place: int | slice) -> SentenceScore | tuple[SentenceScore, ...]:
        return tuple(self)[place]


Sentences: TypeAlias = tuple[SentenceScore, ...] | SentenceScores


# Medians over questions, by benchmarks/evaluation: mean of the 6th to 20th cosine, and standard deviation.
USUAL_BASE, USUAL_SPREAD = 0.14, 0.10


class Scale(NamedTuple):
    """How a model's cosines lie: what it gives to the unrelated, how far a question's candidates differ."""

    base: float
    spread: float

    @property
    def line(self) -> tuple[float, float]:
        """Return (factor, shift) from this model's cosines to those that all-MiniLM-L6-v2 might have
        given.
        """
        factor = USUAL_SPREAD / self.spread
        return factor, USUAL_BASE - factor * self.base
