"""The sentences of a passage, and how much of the question each one holds. Plain Python."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from documents.sentences import sentence_spans
from embeddings.lexical import idf, lexemes
from rag.types import SentenceScore

KEPT_PASSAGES = 2048  # analysed once: about 20 kB each
ASKING = frozenset(lexemes("work tell explain describe define"))  # "How does it work?", "Tell me about it"
_UNKNOWN_OVER_KNOWN = 1.1  # idf(0, N) - idf(1, N) in a collection of any size


@dataclass(frozen=True, slots=True)
class Sentence:
    """`content[start:end]` and its distinct lexemes. complete: it ends as a statement does.

    A heading, a cell of a table and a question are not complete: they hold the words of a question, never its
    answer.
    """

    start: int
    end: int
    words: frozenset[str]
    complete: bool


@dataclass(frozen=True, slots=True)
class Terms:
    """The question's distinct lexemes with their idf, and the sum of it."""

    weights: Mapping[str, float]
    mass: float

    def mass_in(self, words: frozenset[str]) -> float:
        return sum(weight for word, weight in self.weights.items() if word in words)

    def coverage(self, words: frozenset[str]) -> float:
        """Share [0, 1] of the question's idf mass that stands in `words`; 0 for a question without words."""
        return self.mass_in(words) / self.mass if self.mass else 0.0


def question_terms(text: str, known: Mapping[str, float]) -> Terms:
    """`known`: idf of the question's lexemes. One that is missing counts as a word that no chunk holds.

    Words that only ask are left out, unless there is nothing else.
    """
    words = words_of(text)
    unknown = max([idf(0, 0), *(weight + _UNKNOWN_OVER_KNOWN for weight in known.values())])
    weights = {word: known.get(word, unknown) for word in sorted(words - ASKING or words)}
    return Terms(weights, sum(weights.values()))


@lru_cache(maxsize=KEPT_PASSAGES)
def sentences_of(content: str) -> tuple[Sentence, ...]:
    """In reading order; exact offsets into `content`."""
    return tuple(_sentences(content))


@lru_cache(maxsize=KEPT_PASSAGES)
def words_of(text: str) -> frozenset[str]:
    return frozenset(lexemes(text))


def _sentences(content: str) -> Iterator[Sentence]:
    for start, end in sentence_spans(content):
        text = content[start:end]
        yield Sentence(start, end, frozenset(lexemes(text)), _complete(text))


def _complete(text: str) -> bool:
    return text.rstrip("\"'”’»)]」』）*_").endswith((".", "!", "…", "。", "！", "।"))


def score_sentences(content: str, terms: Terms) -> tuple[SentenceScore, ...]:
    """Every sentence of the passage, in reading order, scored for the question."""
    scores = []
    previous: frozenset[str] = frozenset()
    for sentence in sentences_of(content):
        alone, together = terms.coverage(sentence.words), terms.coverage(sentence.words | previous)
        scores.append(SentenceScore(sentence.start, sentence.end, alone, together))
        previous = sentence.words
    return tuple(scores)


def worth(sentence: SentenceScore) -> float:
    """What passages and sentences are ranked by, [0, 1]."""
    return (sentence.coverage + sentence.coverage_with_previous) / 2
