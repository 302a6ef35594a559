"""Reads a reply as the model makes it, and lets through what has been checked. Plain Python.

What is shown before its sentence is whole is what the context says, word by word; everything else, and every
marker, waits until the sentence is checked. Until a first claim is supported, what is in doubt waits, too:
perhaps nothing is answered at all.
"""

from typing import NamedTuple

from rag.checking.flow import Flow, Vocabulary
from rag.checking.judge import WordJudge
from rag.checking.refusals import could_refuse
from rag.checking.reply import Reply
from rag.checking.segments import Segmenter, Sentence
from rag.checking.spaces import Spaces
from rag.protocols import ClaimJudge
from rag.types import Citation, Context, Reason


class Checked(NamedTuple):
    """rest: what `feed` has not let through yet. text: all of it, "" where there is a reason."""

    rest: str
    text: str
    cited: tuple[int, ...] = ()
    citations: tuple[Citation, ...] = ()
    reason: Reason | None = None


class Checker:
    """Of one reply. However it is cut into pieces, the text is the same."""

    def __init__(self, context: Context, judge: ClaimJudge | None = None) -> None:
        words = Vocabulary(context.blocks)
        self._spaces, self._segments, self._flow = Spaces(), Segmenter(), Flow(words)
        self._reply = Reply(context, judge or WordJudge(), words)
        self._waiting: list[str] = []
        self._gap = ""  # white space that nothing has followed yet
        self._begun = False  # it is no refusal
        self._shown = False

    async def feed(self, piece: str) -> str:
        """What can be shown now, markers as `[n]` into `context.passages` (from 1)."""
        shown = [await self._taken(s) for s in self._segments.feed(self._spaces.bounded(piece))]
        return "".join((*shown, self._flowing()))

    async def finish(self) -> Checked:
        rest = [await self._taken(sentence) for sentence in self._segments.finish()]
        rest += [self._let_through(text) for text in (*self._waiting, await self._reply.last())]
        return self._checked("".join(rest))

    async def whole(self, text: str) -> Checked:
        """What `feed` and `finish` come to for a reply of which nothing is shown before: half the work."""
        for sentence in (*self._segments.feed(self._spaces.bounded(text)), *self._segments.finish()):
            await self._reply.add(sentence)
        await self._reply.last()
        return self._checked()

    def _checked(self, rest: str | None = None) -> Checked:
        reply = self._reply
        if reply.reason:
            return Checked("", "", reason=reply.reason)
        cited = dict.fromkeys(citation.passage for citation in reply.citations)
        text = "".join(reply.parts).rstrip()
        return Checked(text if rest is None else rest, text, tuple(cited), tuple(reply.citations))

    async def _taken(self, sentence: Sentence) -> str:
        """A whole sentence, checked: what of it, and of those before it, can be shown now."""
        shown = min(self._flow.shown, len(sentence.text))
        doubted = self._flow.doubts(sentence.text)
        stripped = 0 if self._reply.length else len(sentence.text) - len(sentence.text.lstrip())
        text = await self._reply.add(sentence)
        self._flow.restart(self._flow.shown - shown)
        self._reply.repeats.restart()
        self._begun = self._begun or self._reply.said
        self._waiting.append(text[max(0, shown - stripped) :])
        if self._reply.declined or not (self._reply.citations or (not doubted and len(self._waiting) == 1)):
            return ""
        flushed = "".join(map(self._let_through, self._waiting))
        self._waiting.clear()
        return flushed

    def _flowing(self) -> str:
        if self._waiting or self._reply.declined or self._reply.listing:
            return ""
        text = self._segments.rest
        self._begun = self._begun or not could_refuse(text)
        if not self._begun or self._reply.repeats.may_begin(text, self._segments.decided):
            return ""
        shown = self._flow.shown
        return self._let_through(text[shown : self._flow.advance(text, self._segments.decided)])

    def _let_through(self, text: str) -> str:
        """White space only between two words: none stands at an answer's ends."""
        text = text if self._shown else text.lstrip()
        words = text.rstrip()
        if not words:
            self._gap += text
            return ""
        self._shown = True
        shown = self._gap + words
        self._gap = text[len(words) :]
        return shown
