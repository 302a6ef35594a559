"""An answer without a chat model: the sentences of the context that answer best, word for word."""

import re
from collections.abc import AsyncGenerator, Iterator

from rag.citations import without_markers
from rag.extracting.candidates import AnswerCandidate
from rag.extracting.selection import choose
from rag.types.answer import EXTRACTIVE, Synthesis, Usage
from rag.types.context import Context
from rag.types.question import Question

MAX_WORDS = 120  # of a table without full stops, which is one sentence
MAX_CHARS = 900  # of one in a script without spaces
_END = re.compile(r"[.!?。！？]+[\"'”’»)\]]*$")
_FENCE = re.compile(r"^(?:```|~~~)\S*\s+|\s+(?:```|~~~)$")  # of a program
_SIGN = re.compile(r"(?:#{1,6}|[-*+•‣▪●◦○■□►–—])\s+")  # of a heading or a list item


class ExtractiveSynthesizer:
    """Answers in at most three sentences of the context, each with the `[n]` of its block."""

    model_name = EXTRACTIVE

    async def stream(self, question: Question, context: Context) -> AsyncGenerator[str | Usage]:
        for piece in _pieces(question, context):
            yield piece
        yield Usage(model=self.model_name)

    async def synthesize(self, question: Question, context: Context) -> Synthesis:
        return Synthesis("".join(_pieces(question, context)), Usage(model=self.model_name))


def _pieces(question: Question, context: Context) -> Iterator[str]:
    """Yield sentence by sentence: blocks in the order of their best one, sentences as they stand there."""
    chosen = choose(question.text, context)
    first = {one.number: place for place, one in reversed(list(enumerate(chosen)))}
    chosen.sort(key=lambda one: (first[one.number], one.place))
    between = ""
    for one in chosen:
        text = _marked(one)
        yield between + text
        between = " " if _END.search(text) else "\n\n"  # what has no end ends with its paragraph


def _marked(candidate: AnswerCandidate) -> str:
    """Put the marker before the full stop, as in the specification's example: `... the capital [1].`"""
    text = _said(candidate.text)
    end = _END.search(text)
    place = end.start() if end else len(text)
    return f"{text[:place]} [{candidate.number}]{text[place:]}"


def _said(text: str) -> str:
    """Drop the sign of a heading or item and the source's own `[7]`; cut what has no end."""
    sign = _SIGN.match(text)
    words = without_markers(_FENCE.sub("", text[sign.end() :] if sign else text)).split()
    return " ".join(words[:MAX_WORDS])[:MAX_CHARS].rstrip()
