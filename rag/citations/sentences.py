"""A reply in pieces -> its sentences, the same ones however it is cut. Plain Python, linear."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rag.citations.ends import LINE_LOOK, line_ends, mark_ends
from rag.citations.leads import SAYS
from rag.citations.markers import LEFT_OPEN, run_end

LONGEST = 2000  # characters of a sentence; longer ones are cut at white space
_READ = 4096  # characters at a time, so that a long reply in one piece is not copied for each sentence
_RUN = "{0,40}"  # of marks at a sentence's end
_FULL, _MARK = "。！？｡؟۔।॥።։", ".!?…"
# First the class of all signs that one begins with: so not every kind is tried at every letter.
_BREAK = re.compile(
    rf"[\n{_FULL}{_MARK}](?:(?<=\n)(?P<line>)|(?<=[{_FULL}])(?P<full>[{_FULL}]{_RUN}[\"'”’»)」』）】》]{_RUN})"
    rf"|(?P<mark>[{_MARK}]{_RUN}[\"'”’»)*_]{_RUN}))"
)
_WORD = re.compile(r"[a-z]{1,12}")
_BLANK = re.compile(r"\s*")


class Sentence(NamedTuple):
    """text: with the white space before it. continued: the one before was cut for its length."""

    text: str
    continued: bool


class Segmenter:
    """Of one reply. rest: what is of no finished sentence yet. decided: so much of it is surely of one."""

    def __init__(self) -> None:
        self.rest = ""
        self.decided = 0
        self._first, self._leads, self._continued, self._cut = True, False, False, False

    def feed(self, piece: str) -> Iterator[Sentence]:
        """The sentences that are whole now; markers that stand alone behind one are one of their own."""
        for start in range(0, len(piece), _READ):
            self.rest += piece[start : start + _READ]
            yield from self._sentences(final=False)

    def finish(self) -> Iterator[Sentence]:
        """The others."""
        yield from self._sentences(final=True)
        if self.rest:
            yield self._taken(len(self.rest))

    def flush(self) -> list[Sentence]:
        """All that is there, as if the reply ended; it goes on with a new sentence."""
        found = list(self.finish())
        self.rest, self._first, self._continued, self._cut = "", False, False, False
        return found

    def _sentences(self, *, final: bool) -> Iterator[Sentence]:
        while end := self._end(final):
            yield self._taken(end)

    def _taken(self, end: int) -> Sentence:
        sentence = Sentence(self.rest[:end], self._continued)
        begin = _begin(sentence.text)
        if self._first or "\n" in sentence.text[:begin]:
            run = run_end(sentence.text, begin, final=True)
            self._leads = run is not None and run < end
        self.rest, self.decided = self.rest[end:], 0
        self._first, self._continued, self._cut = False, self._cut, False
        return sentence

    def _end(self, final: bool) -> int:
        """Where the first sentence ends; 0 while that is not known."""
        text, begin = self.rest, _begin(self.rest)
        if begin > LONGEST or begin == len(text):
            return begin if begin > LONGEST else 0
        if not self.decided and not self._first:
            alone = self._alone(begin, final)
            if alone is not None:
                return alone
        for found in _BREAK.finditer(text, max(self.decided, begin)):
            if found.start() > begin + LONGEST:
                break
            ends = _ends(text, begin, found, final)
            if ends is None:
                self.decided = found.start()
                return 0
            if ends:
                return found.start() if found.lastgroup == "line" else found.end()
            self.decided = found.end()
        if len(text) > begin + LONGEST:
            self._cut = True
            return _cut(text, begin)
        self.decided = len(text)
        return 0

    def _alone(self, begin: int, final: bool) -> int | None:
        """Where markers end that stand by themselves behind a sentence; None if none do, 0: not known yet.

        At the start of a line they belong to what follows on it, and so they do behind a sentence whose own
        stood before it.
        """
        text = self.rest
        end = run_end(text, begin, final=final)
        if not end:
            return end
        after = end + len(text[end : end + LINE_LOOK]) - len(text[end : end + LINE_LOOK].lstrip(" \t"))
        if after == len(text):
            return end if final else 0
        if text[after] == "\n":
            return end
        if "\n" in text[:begin] or self._leads or text[after] in ":：":
            return None
        if text[after] in ".;。":
            return after + 1
        word = _WORD.match(text, after)  # "[2] says that ..." is about what follows
        if word and word.end() == len(text) and not final:
            return 0
        return None if word and word[0] in SAYS else end


def _ends(text: str, begin: int, found: re.Match[str], final: bool) -> bool | None:
    if found.lastgroup == "line":
        return line_ends(text, begin, found.start(), final=final)
    if found.lastgroup == "full":
        return True if final or found.end() < len(text) else None
    return mark_ends(text, begin, found, final=final)


def _begin(text: str) -> int:
    """Where its words begin; the text is not copied, for a sentence may come in a hundred pieces."""
    blank = _BLANK.match(text)
    return blank.end() if blank else 0


def _cut(text: str, begin: int) -> int:
    """A place within the first LONGEST characters that splits no word, if there is one, and no marker."""
    limit = begin + LONGEST
    space = max(text.rfind(" ", begin, limit), text.rfind("\n", begin, limit))
    at = space if space > begin else limit
    opened = LEFT_OPEN.search(text, max(begin, at - 162), at)
    return opened.start() if opened and opened.start() > begin else at
