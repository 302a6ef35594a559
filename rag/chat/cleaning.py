"""A reply's text without reasoning, storable and bounded, however it is cut into pieces. Plain Python.

Reasoning stands between `<think>` and `</think>`, or tags that other models write. Models whose prompt ends
with `<think>` write only the closing tag: what stands before it is reasoning. So a beginning that sounds like
reasoning is held back until the tag comes or the reply ends. After a lone closing tag that nothing announced
so is every beginning, until its model gives a reply without one: what is held does not stream.
"""

import re

from knowlex.base.errors import SynthesisFailed

_FENCE = re.compile(r"</?context>", re.IGNORECASE)
_FENCES = ("<context>", "</context>")


class Unfenced:
    """Removes `<context>` and `</context>` from one reply: `feed` it as it comes, then `finish`."""

    def __init__(self) -> None:
        self._held, self._fenced = "", False
        self._blank = True  # nothing but white space stands in the line so far

    def feed(self, piece: str) -> str:
        text, self._held = self._held + piece, ""
        if "<" not in text:
            return self._shown(text)
        done, parts = 0, list[str]()
        for fence in _FENCE.finditer(text):
            parts.append(self._shown(text[done : fence.start()]))
            done = fence.end()
            if not (self._blank or self._fenced):
                parts.append(self._shown(fence[0]))
            self._fenced = self._blank and fence[0][1] != "/"
        rest = text[done:]
        begins = rest.rfind("<")
        if begins >= 0 and any(tag.startswith(rest[begins:].lower()) for tag in _FENCES):
            rest, self._held = rest[:begins], rest[begins:]
        return "".join((*parts, self._shown(rest)))

    def finish(self) -> str:
        rest, self._held = self._held, ""
        return rest

    def _shown(self, text: str) -> str:
        line = text[text.rfind("\n") + 1 :]
        self._blank = (self._blank or "\n" in text) and not line.strip()
        return text


MAX_ANSWER_CHARS = 32_000  # 4096 tokens, the most that can be asked for, are about half of that
LAST_WORD = 200  # characters before that limit in which the text may be cut at a word's end
BEGINNING = 24  # characters without which nobody can tell how a reply begins
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_TAG = re.compile(r"<(/?)(?:think(?:ing)?|thought|reasoning)>|\[(/?)THINK\]", re.I)
_NAMES = ("think", "thinking", "thought", "reasoning")
_TAGS = ("[think]", "[/think]", *(f"<{close}{name}>" for name in _NAMES for close in ("", "/")))
_LONGEST_TAG = max(map(len, _TAGS))
_MUSING = re.compile(
    r"(?:okay|ok,|alright|all right|hmm|wait\b|let me\b|let's\b|let us\b|the user\b|first,? (?:i|let)\b"
    r"|so,? (?:the user|i need|i have to|we need|let)\b|(?:i|we) (?:need to|have to|should|must)\b"
    r"|we are asked\b)",
    re.I,
)


class ReasoningShown(SynthesisFailed):
    """What has been shown of a stream turns out to be reasoning; asking again helps, for now it is known."""


class Cleaner:
    """Cleans one reply: `feed` it as it comes, then `finish`. unannounced: its model writes lone closing
    tags.

    full: nothing more can be added, so the rest need not be read. unannounced tells what holds for the next.
    """

    def __init__(self, *, unannounced: bool = False) -> None:
        self.full = False
        self.unannounced = self._musing = unannounced
        self._reasoned = False  # there was a lone closing tag
        self._buffer = self._surrogate = ""
        self._inside, self._decided, self._shown = False, False, False
        self._beginning: list[str] = []
        self._unfenced = Unfenced()
        self._limit = _Limit()

    def feed(self, piece: str) -> str:
        """Return what can be shown now. Raises ReasoningShown."""
        self._buffer += self._unfenced.feed(self._storable(piece))
        return self._show(self._without_reasoning(last=False))

    def finish(self) -> str:
        """Return the rest. The whole may be empty."""
        self._buffer += self._unfenced.finish()
        rest = self._show(self._without_reasoning(last=True))
        self.unannounced = self.unannounced and self._reasoned
        return rest + ("" if self.full else self._limit.finish())

    def _show(self, text: str) -> str:
        shown = self._limit.feed(text)
        self.full = self._limit.full
        self._shown = self._shown or bool(shown)
        return shown

    def _storable(self, piece: str) -> str:
        """Drop what cannot be stored; halves of one character may come in two pieces."""
        text = self._surrogate + piece
        self._surrogate = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        if text.isascii() and text.isprintable():
            return text
        text = _PAIR.sub(lambda pair: _character(pair[1], pair[2]), text)
        return _UNSTORABLE.sub("", text)

    def _without_reasoning(self, *, last: bool) -> str:
        said, buffer, done = "", self._buffer, 0
        for tag in _TAG.finditer(buffer):
            closes, before = bool(tag[1] or tag[2]), buffer[done : tag.start()]
            if closes and not self._inside:
                said = self._forget("".join(self._beginning) + before)
            elif not closes and not self._inside:
                said += self._begun(before, last=True)  # it announces its reasoning
            self._inside, done = not closes, tag.end()
        cut = len(buffer) if last else max(done, _tag_begins(buffer))
        self._buffer = buffer[cut:]
        return said if self._inside else said + self._begun(buffer[done:cut], last=last)

    def _forget(self, reasoning: str) -> str:
        """Drop all so far: it was reasoning, and what comes is the answer."""
        self._reasoned = True
        self.unannounced = self.unannounced or self._shown or not _MUSING.match(reasoning.lstrip())
        if self._shown:
            raise ReasoningShown("The chat model wrote its reasoning into its answer; ask again.")
        self._beginning, self._decided = [], True
        return ""

    def _begun(self, text: str, *, last: bool) -> str:
        if self._decided:
            return text
        self._beginning.append(text)
        if not last and self._may_be_musing():
            return ""
        self._decided = True
        return "".join(self._beginning)

    def _may_be_musing(self) -> bool:
        if not self._musing:
            beginning = "".join(self._beginning).lstrip()
            self._beginning = [beginning]  # white space without end is not looked at again
            self._musing = bool(_MUSING.match(beginning))
            return self._musing or len(beginning) < BEGINNING
        return True


class _Limit:
    """Trims white space at both ends, and cuts what is too long, if it can at a word's end."""

    def __init__(self) -> None:
        self.full = False
        self._given, self._held = 0, ""

    def feed(self, text: str) -> str:
        if self.full or not text:
            return ""
        self._held += text
        if not self._given:
            self._held = self._held.lstrip()
        ready = len(self._held.rstrip())
        self._held = self._held[: max(ready, MAX_ANSWER_CHARS + 1)]  # white space without end is not kept
        if self._given + ready > MAX_ANSWER_CHARS:
            return self._cut()
        return self._give(min(ready, max(0, MAX_ANSWER_CHARS - LAST_WORD - self._given)))

    def finish(self) -> str:
        return self._give(len(self._held.rstrip()))

    def _give(self, count: int) -> str:
        text, self._held = self._held[:count], self._held[count:]
        self._given += count
        return text

    def _cut(self) -> str:
        self.full = True
        room = MAX_ANSWER_CHARS - self._given
        first = max(0, room - LAST_WORD)  # of the characters where a word's end counts
        words = re.match(r".*\s", self._held[first:room], re.DOTALL)
        return self._give(len(self._held[: first + words.end() if words else room].rstrip()))


def _tag_begins(text: str) -> int:
    """Return where a tag begins that the next piece may complete; the text's length if there is none."""
    begin = max(0, len(text) - _LONGEST_TAG)
    place = max(text.rfind("<", begin), text.rfind("[", begin))
    if place >= 0 and any(tag.startswith(text[place:].lower()) for tag in _TAGS):
        return place
    return len(text)


def _character(high: str, low: str) -> str:
    return chr(0x10000 + ((ord(high) - 0xD800) << 10) + ord(low) - 0xDC00)
