"""An answer without a chat model: the best-supported sentences of the context, word for word."""

import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest

from rag.citations import without_markers
from rag.sentences import Sentence, analysis_of, words_of, worth
from rag.types import Block, Context, Passage, Question, SentenceScore, Synthesis, Usage

MAX_WORDS = 120
MAX_CHARS = 900  # scripts without spaces
LOOKED_AT = 10  # of the ranked sentences
PLACE_PENALTY = 0.01  # for each place of its passage in the context
INCOMPLETE_PENALTY = 0.25  # headings and questions hold the question's words, not its answer
HEADING_PENALTY = 1.0  # for what is surely one: never said while there is anything else
SIMILARITY = 0.3  # weight of a sentence's cosine, for what answers in other words
SECOND_SHARE = 0.5  # of the first sentence's worth that a second one must have
REPETITION_PENALTY = 0.1  # for saying again what the first sentence says of the question
MISSING_WORDS = 2  # of the question that a third sentence must bring
_END = re.compile(r"[.!?。！？]+[\"'”’»)\]]*$")
_HEADING = re.compile(r"#{1,6}\s")
_SIGN = re.compile(r"(?:#{1,6}|[-*+•‣▪●◦○■□►–—])\s+")  # of a heading or a list item


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence of passage `number` of the context (from 1). asked: the question's words that it holds."""

    worth: float
    number: int
    start: int
    end: int
    asked: frozenset[str]
    complete: bool


class ExtractiveSynthesizer:
    """The best sentence, a second one where it adds something, and a third where the question asks for two
    things, each with the `[n]` of its passage.

    Passages without sentence scores (another reranker) are taken by their first sentences.
    """

    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Usage]:
        synthesis = await self.synthesize(question, context)
        yield synthesis.text
        yield synthesis.usage

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        words = words_of(question.text)
        ranked = nsmallest(
            LOOKED_AT, _candidates(context, words), key=lambda c: (-c.worth, c.number, c.start)
        )
        texts = {c: _clean(context.blocks[c.number - 1].content[c.start : c.end]) for c in ranked}
        chosen = [*ranked[:1], *_second(ranked, texts, len(words))]
        chosen += _third(ranked, texts, chosen)
        return Synthesis(" ".join(_marked(texts[c], c.number) for c in _in_reading_order(chosen)))


def _candidates(context: Context, asked: frozenset[str]) -> Iterator[_Candidate]:
    for place, block in enumerate(context.blocks):
        scored = _scored(block, context.passages)
        for sentence in analysis_of(block.content).sentences:
            value = scored.get(sentence.start, 0.0) - PLACE_PENALTY * place
            if not sentence.complete:
                value -= _incomplete_penalty(sentence, block.content, asked)
            yield _Candidate(
                value, place + 1, sentence.start, sentence.end, sentence.words & asked, sentence.complete
            )


def _scored(block: Block, passages: Sequence[Passage]) -> dict[int, float]:
    """What each sentence supports, by its start in the block."""
    return {
        part.start + score.start - part.begin: _supports(score)
        for part in block.parts
        for score in passages[part.passage].sentences
        if part.begin <= score.start < part.begin + part.length
    }


def _supports(sentence: SentenceScore) -> float:
    return worth(sentence) + SIMILARITY * max(0.0, sentence.similarity or 0.0)


def _incomplete_penalty(sentence: Sentence, content: str, asked: frozenset[str]) -> float:
    """A heading is one by its sign, or holds nothing that the question does not; others may be list items."""
    heading = sentence.words <= asked or _HEADING.match(content, sentence.start)
    return HEADING_PENALTY if heading else INCOMPLETE_PENALTY


def _clean(text: str) -> str:
    """On one line, without the source's own `[7]`, cut where a table without full stops is one sentence."""
    words = without_markers(" ".join(_unsigned(text).split())).split()
    return " ".join(words[:MAX_WORDS])[:MAX_CHARS].rstrip()


def _unsigned(text: str) -> str:
    sign = _SIGN.match(text)
    return text[sign.end() :] if sign else text


def _second(
    ranked: Sequence[_Candidate], texts: Mapping[_Candidate, str], question_words: int
) -> list[_Candidate]:
    """None, or the one that goes best with the first: says something else, is not far worse, and fits."""

    def value(candidate: _Candidate) -> float:
        repeated = len(candidate.asked & first.asked) / max(1, question_words)
        return candidate.worth - REPETITION_PENALTY * repeated

    if not ranked:
        return []
    first = ranked[0]
    near = [c for c in ranked[1:] if c.worth >= SECOND_SHARE * first.worth]
    alike = [c for c in near if c.complete or not first.complete]  # no heading beside a sentence
    # Another passage that holds less of the question tells of something else: the south tower, not the north.
    about = [c for c in alike if c.number == first.number or not c.asked < first.asked]
    fitting = [c for c in about if _fit(texts[first], texts[c])]
    return [max(fitting, key=value)] if fitting else []


def _third(
    ranked: Sequence[_Candidate], texts: Mapping[_Candidate, str], chosen: Sequence[_Candidate]
) -> list[_Candidate]:
    """None, or the one that holds most of what is still missing: a question may ask for two things."""
    held: frozenset[str] = frozenset().union(*(c.asked for c in chosen))
    said = " ".join(texts[c] for c in chosen)
    adding = [c for c in ranked if c.complete and len(c.asked - held) >= MISSING_WORDS and c.worth > 0]
    fitting = [c for c in adding if _fit(said, texts[c])]
    return [max(fitting, key=lambda c: (len(c.asked - held), c.worth))] if fitting else []


def _fit(first: str, second: str) -> bool:
    """Chunks overlap, so the same sentence may stand in two of them."""
    if first in second or second in first:
        return False
    both = f"{first} {second}"
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
