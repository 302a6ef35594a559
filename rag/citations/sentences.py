"""The sentences of a reply that comes in pieces, and the leads that only name a source. Plain Python."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from documents.text.sentences import MONTHS, is_end_at_full_stop
from rag.citations.markers import (
    CLOSING,
    LEFT_OPEN,
    NAMED,
    OPENERS,
    OPENING,
    SOURCE,
    SQUARES,
    WORDS,
    numbers_in,
    run_end,
)

LINE_LOOKAHEAD = 64  # white space that is looked past
_ITEM_LOOKAHEAD = 8
_NARROW = 60  # a line shorter than this was not wrapped
_LOOKBACK = 84
_UNCLOSED = re.compile(rf"[{OPENING}][^{CLOSING}\n]{{0,80}}\Z")
_MARKED = re.compile(rf"[{CLOSING}⁰¹²³⁴⁵⁶⁷⁸⁹⁾][)）*^]{{0,2}}[ \t]{{0,4}}\Z|[(（]\d{{1,3}}[)）]\Z")
_NEXT_WORD = re.compile(r"[\"'“‘«(*_¿¡„]*(\w{0,20})")
_LETTER = re.compile(r"\w")
_ITEM = re.compile(r"(?:[-*+•‣▪●◦○■□►–—]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]\s|#{1,6}\s|\||>)")
_FOLLOWING = ("", "The", "1", "x", "X", min(MONTHS))  # every kind of word that makes a difference


def mark_ends(text: str, begin: int, match: re.Match[str], *, final: bool) -> bool | None:
    """Tell whether marks end the sentence that begins at `begin`; None while that is not known."""
    stop, end = match.span()
    if end == len(text):
        return True if final else None
    back = max(begin, stop - _LOOKBACK)
    if not _LETTER.search(text, begin, stop) or _UNCLOSED.search(text, back, stop):
        return False
    if not text[end].isspace():
        run = run_end(text, end, final=final)
        return None if run == 0 else run is not None
    if _MARKED.search(text, back, stop):
        return True
    return _next_word_says(text, begin, stop, end, final)


def _next_word_says(text: str, begin: int, stop: int, end: int, final: bool) -> bool | None:
    after = _past_space(text, end)
    if after == len(text) or after - end >= LINE_LOOKAHEAD:
        return True if final or after - end >= LINE_LOOKAHEAD else None
    run = run_end(text, after, final=final)
    if run == 0:
        return None
    if run:
        after = _past_space(text, run)
    word = _NEXT_WORD.match(text, after)
    following = word[1] if word else ""
    whole = final or word is None or word.end() < len(text) or len(following) == 20
    if not following and not whole:
        return None
    if following[:1].islower() and not run:
        return False
    if text[stop] != ".":
        return not following[:1].islower()
    says = {
        is_end_at_full_stop(text, begin, stop, next_word)
        for next_word in ((following,) if whole else _FOLLOWING)
    }
    return says.pop() if len(says) == 1 else None


def line_ends(text: str, begin: int, newline: int, *, final: bool) -> bool | None:
    """Tell whether the line's end is more than the wrapping of a paragraph."""
    after = newline + 1
    while after < len(text) and after - newline <= LINE_LOOKAHEAD and text[after] in " \t\r":
        after += 1
    if after < len(text) and text[after] == "\n":
        return True
    if len(text) - after < _ITEM_LOOKAHEAD and "\n" not in text[after:] and not final:
        return None
    if after == len(text) or text[after] in OPENERS or _ITEM.match(text, after):
        return True
    line = text[max(begin, text.rfind("\n", begin, newline) + 1) : newline].rstrip()
    if text[after].islower() or line.endswith((",", ";", "-", "–", "(")):
        return False
    return len(line) < _NARROW or not line[-1].isalnum()


def _past_space(text: str, start: int) -> int:
    end = start
    while end < len(text) and end - start < LINE_LOOKAHEAD and text[end].isspace():
        end += 1
    return end


_SAYS = frozenset(WORDS["says"].split("|"))
_SAY = rf"(?:{'|'.join(sorted(_SAYS))})"
_REF = rf"(?:(?:{SOURCE}s?[ ])?{SQUARES}|{NAMED})"
_BY = rf"(?:{WORDS['by']})[ ]+(?:the[ ])?(?:information[ ](?:in|from)[ ](?:the[ ])?)?"
_LEAD = re.compile(
    rf"""
    (?P<bullet>\s*(?:(?:[-*+•–—]|\d{{1,3}}[.)])\s+)?)\*{{0,2}}
    (?: (?P<by>{_BY}){_REF}\*{{0,2}}[ ]{{0,2}}[,:，：]\s*
      | (?:the[ ])?{_REF}[ ]{{1,2}}(?P<says>(?:{_SAY}(?:[ ]us)?[ ]{{1,2}}){{1,2}})(?:that[ ])?
      | {_REF}\*{{0,2}}[ ]{{0,2}}[:：][*]{{0,2}}[ \t]*
      | {SQUARES}\*{{0,2}}(?:\([^()\s]{{1,500}}\))?\s+(?=\S)
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NAME = re.compile(NAMED, re.IGNORECASE)


class Lead(NamedTuple):
    """The beginning of a sentence that only names sources.

    rest: the sentence without it, begun with a capital letter. numbers: of the blocks that it names.
    """

    rest: str
    numbers: tuple[int, ...]


def lead_of(sentence: str, blocks: int, written: Callable[[str], bool]) -> Lead | None:
    """Return the lead; None without one, or where a passage writes its words: "Document 2 says that"."""
    match = _LEAD.match(sentence)
    if not match:
        return None
    named = _NAME.search(match[0])
    if named and "[" not in match[0] and written(named[0]):
        return None
    rest = sentence[match.end() :].lstrip()
    if match["by"] or match["says"]:
        rest = rest[:1].upper() + rest[1:]
    return Lead(match["bullet"] + rest, numbers_in(match[0][len(match["bullet"]) :], blocks))


MAX_SENTENCE_CHARS = 2000  # characters of a sentence; longer ones are cut at white space
_READ_CHARS = 4096  # characters at a time, so that a long reply in one piece is not copied for each sentence
_RUN = "{0,40}"  # of marks at a sentence's end
_FULL, _MARK = "。！？｡؟۔।॥።։", ".!?…"
# First the class of all signs that one begins with: so not every kind is tried at every letter.
_BREAK = re.compile(
    rf"[\n{_FULL}{_MARK}](?:(?<=\n)(?P<line>)|(?<=[{_FULL}])(?P<full>[{_FULL}]{_RUN}[\"'”’»)」』）】》]{_RUN})"
    rf"|(?P<mark>[{_MARK}]{_RUN}[\"'”’»)*_]{_RUN}))"
)
_WORD = re.compile(r"[a-z]{1,12}")
_BLANK = re.compile(r"\s*")


class ReplySentence(NamedTuple):
    """text: with the white space before it. continued: the one before was cut for its length."""

    text: str
    continued: bool


class Segmenter:
    """Cuts one reply into sentences. decided: so much of `rest` surely belongs to the first sentence."""

    def __init__(self) -> None:
        self.rest = ""
        self.decided = 0
        self._first, self._leads, self._continued, self._cut_at = True, False, False, False

    def feed(self, piece: str) -> Iterator[ReplySentence]:
        """Yield the sentences that are whole now; markers alone behind one count as one."""
        for start in range(0, len(piece), _READ_CHARS):
            self.rest += piece[start : start + _READ_CHARS]
            yield from self._sentences(final=False)

    def finish(self) -> Iterator[ReplySentence]:
        """Yield the sentences that are left."""
        yield from self._sentences(final=True)
        if self.rest:
            yield self._take_sentence(len(self.rest))

    def flush(self) -> list[ReplySentence]:
        """Return all sentences, as if the reply ended here; what follows begins a new one."""
        found = list(self.finish())
        self.rest, self._first, self._continued, self._cut_at = "", False, False, False
        return found

    def _sentences(self, *, final: bool) -> Iterator[ReplySentence]:
        while end := self._end(final):
            yield self._take_sentence(end)

    def _take_sentence(self, end: int) -> ReplySentence:
        sentence = ReplySentence(self.rest[:end], self._continued)
        begin = _begin(sentence.text)
        if self._first or "\n" in sentence.text[:begin]:
            run = run_end(sentence.text, begin, final=True)
            self._leads = run is not None and run < end
        self.rest, self.decided = self.rest[end:], 0
        self._first, self._continued, self._cut_at = False, self._cut_at, False
        return sentence

    def _end(self, final: bool) -> int:
        """Return where the first sentence ends; 0 while that is not known."""
        text, begin = self.rest, _begin(self.rest)
        if begin > MAX_SENTENCE_CHARS or begin == len(text):
            return begin if begin > MAX_SENTENCE_CHARS else 0
        if not self.decided and not self._first:
            alone = self._end_of_lone_markers(begin, final)
            if alone is not None:
                return alone
        for match in _BREAK.finditer(text, max(self.decided, begin)):
            if match.start() > begin + MAX_SENTENCE_CHARS:
                break
            ends = _ends(text, begin, match, final)
            if ends is None:
                self.decided = match.start()
                return 0
            if ends:
                return match.start() if match.lastgroup == "line" else match.end()
            self.decided = match.end()
        if len(text) > begin + MAX_SENTENCE_CHARS:
            self._cut_at = True
            return _cut_at(text, begin)
        self.decided = len(text)
        return 0

    def _end_of_lone_markers(self, begin: int, final: bool) -> int | None:
        """Return where markers end that stand alone behind a sentence; None without, 0 while not known.

        At the start of a line they belong to what follows on it, and so they do behind a sentence whose own
        stood before it.
        """
        text = self.rest
        end = run_end(text, begin, final=final)
        if not end:
            return end
        after = (
            end + len(text[end : end + LINE_LOOKAHEAD]) - len(text[end : end + LINE_LOOKAHEAD].lstrip(" \t"))
        )
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
        return None if word and word[0] in _SAYS else end


def _ends(text: str, begin: int, match: re.Match[str], final: bool) -> bool | None:
    if match.lastgroup == "line":
        return line_ends(text, begin, match.start(), final=final)
    if match.lastgroup == "full":
        return True if final or match.end() < len(text) else None
    return mark_ends(text, begin, match, final=final)


def _begin(text: str) -> int:
    """Return where the words begin, without a copy: a sentence may come in many pieces."""
    blank = _BLANK.match(text)
    return blank.end() if blank else 0


def _cut_at(text: str, begin: int) -> int:
    """Return a place within the first MAX_SENTENCE_CHARS characters that splits no word and no marker."""
    limit = begin + MAX_SENTENCE_CHARS
    space = max(text.rfind(" ", begin, limit), text.rfind("\n", begin, limit))
    at = space if space > begin else limit
    opened = LEFT_OPEN.search(text, max(begin, at - 162), at)
    return opened.start() if opened and opened.start() > begin else at
