"""An answer without a chat model: the best-supported sentences of the context, word for word."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.citations import without_markers
from rag.sentences import sentences_of, words_of, worth
from rag.types import Passage, Question, Synthesis

SECOND_SHARE = 0.5  # of the first sentence's worth that a second one must have
MAX_WORDS = 120
MAX_CHARS = 900  # scripts without spaces
PLACE_PENALTY = 0.01  # for each place of its passage in the context
REPETITION_PENALTY = 0.1  # for saying again what the first sentence says of the question
INCOMPLETE_PENALTY = 0.25  # headings and questions hold the question's words, not its answer
_END = re.compile(r"[.!?。！？]+[\"'”’»)\]]*$")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """number: of its passage in the context, from 1. text: without line breaks and the source's own `[7]`.

    asked: those words of the question that it holds.
    """

    worth: float
    number: int
    start: int
    text: str
    asked: frozenset[str]


class ExtractiveSynthesizer:
    """The best sentence and, where it adds something, a second one, each with the `[n]` of its passage.

    Passages without sentence scores (another reranker) are taken by their first sentences.
    """

    async def synthesize(self, question: Question, context: Sequence[Passage]) -> Synthesis:
        words = words_of(question.text)
        candidates = sorted(_candidates(context, words), key=lambda c: (-c.worth, c.number, c.start))
        chosen = candidates[:1] + _second(candidates, len(words))
        return Synthesis(" ".join(_marked(c.text, c.number) for c in _in_reading_order(chosen)))


def _candidates(context: Sequence[Passage], asked: frozenset[str]) -> Iterator[_Candidate]:
    for place, passage in enumerate(context):
        scored = {score.start: worth(score) for score in passage.sentences}
        for sentence in sentences_of(passage.content):
            text = _clean(passage.content[sentence.start : sentence.end])
            if any(map(str.isalnum, text)):
                penalty = PLACE_PENALTY * place + (0.0 if sentence.complete else INCOMPLETE_PENALTY)
                value = scored.get(sentence.start, 0.0) - penalty
                yield _Candidate(value, place + 1, sentence.start, text, sentence.words & asked)


def _clean(text: str) -> str:
    """On one line, cut at MAX_WORDS where a table without full stops counts as one sentence."""
    words = without_markers(" ".join(text.split())).split()
    return " ".join(words[:MAX_WORDS])[:MAX_CHARS].rstrip()


def _second(candidates: Sequence[_Candidate], question_words: int) -> list[_Candidate]:
    """None or the one that goes best with the first: says something else, is not far worse, and fits."""

    def value(candidate: _Candidate) -> float:
        repeated = len(candidate.asked & first.asked) / max(1, question_words)
        return candidate.worth - REPETITION_PENALTY * repeated

    if not candidates:
        return []
    first = candidates[0]
    fitting = [c for c in candidates[1:] if c.worth >= SECOND_SHARE * first.worth and _fit(first, c)]
    return [max(fitting, key=value)] if fitting else []


def _fit(first: _Candidate, second: _Candidate) -> bool:
    """Chunks overlap, so the same sentence may stand in two of them."""
    if first.text in second.text or second.text in first.text:
        return False
    both = f"{first.text} {second.text}"
    return len(both) <= MAX_CHARS and len(both.split()) <= MAX_WORDS


def _in_reading_order(chosen: list[_Candidate]) -> list[_Candidate]:
    """Passages by their best sentence, the sentences of each as they stand there."""
    first = {c.number: place for place, c in reversed(list(enumerate(chosen)))}
    return sorted(chosen, key=lambda c: (first[c.number], c.start))


def _marked(text: str, number: int) -> str:
    """`... the capital [1].`: the marker before the full stop, as in the specification's example."""
    end = _END.search(text)
    place = end.start() if end else len(text)
    return f"{text[:place]} [{number}]{text[place:]}"
