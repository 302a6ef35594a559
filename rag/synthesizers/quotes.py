"""The text of an answer that is made of the context's own sentences."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from documents.text.sentences import without_note
from documents.text.tables import CELLS, describe_title, split_row
from documents.types import TableHead
from rag.citations.folding import INLINE_TAG, LINE_TAG, LINK_TARGET, PAGE_SIGN
from rag.citations.markers import CODE, FROM_0, squares
from rag.extracting.units import AnswerCandidate
from rag.types.context import Block, Context

MAX_WORDS = 120  # of a table without full stops, which is one sentence
MAX_CHARS = 900  # of one in a script without spaces
_END = re.compile(r"[.!?。！？]+[\"'”’»)\]]*(?: \[\d+\])?$")
_HEADING_END = re.compile(r"[\s:：]+$")
_STOPS = re.compile(r"[.!?。！？]+$")
_FENCE = re.compile(r"^(?:```|~~~)\S*\s+|\s+(?:```|~~~)$")  # of a program
_LINK = re.compile(rf"!?\[([^\]\[]{{0,200}}){LINK_TARGET}")  # says nothing outside its document
_PAGE_SIGN = re.compile(PAGE_SIGN)
_LINE_TAG, _INLINE_TAG = re.compile(LINE_TAG), re.compile(INLINE_TAG)
_SIGN = re.compile(
    r"(?:#{1,6}|[-*+•‣▪●◦○■□►–—]|/s/|\[\^[^\[\]\s]{1,60}\]:)\s+"
)  # of a heading, a list item, who signed or a footnote
_NUMBER = re.compile(r"(?:\(?\d{1,2}(?:\.\d{1,2}){0,3}[.)]|\(?[a-z]\))\s+(?=[^\W\d_]|[\"“])")  # of one
# The number of a note, which the sentence before ends with, or of a section; "12 In" counts nothing.
_NOTE_BEFORE = re.compile(
    r"\A\d{1,3}(?:[,–-]\d{1,3}){0,5} (?=(?:A|An|As|Although|At|Because|But|By|For|From|Here|However|If|In|It"
    r"|On|Our|Since|The|Their|There|Therefore|These|They|This|Those|Thus|To|We|When|While|With)\b)"
)
_DATED = frozenset({"de", "da", "nb", "nn", "no", "fi", "cs", "sk", "sl", "hr", "hu", "et", "is"})  # "3. Mai"


def write_answer(chosen: Sequence[AnswerCandidate], context: Context) -> Iterator[str]:
    """Yield sentence by sentence: blocks in the order of their best one, sentences as they stand there.

    The number of an item goes with its list, and a single item is said without it. The title of a table is
    said with the first of its rows, and a heading is no claim, which would need a marker.
    """
    first = {one.number: place for place, one in reversed(list(enumerate(chosen)))}
    ordered = sorted(chosen, key=lambda one: (first[one.number], one.place))
    items = [one for one in chosen if _NUMBER.match(one.text)]
    numbered = len(items) > 1 or any(context.blocks[one.number - 1].language in _DATED for one in items)
    between, titled = "", 0
    for one, following in zip_longest(ordered, ordered[1:]):
        if one.naming and following and following.number == one.number:
            title = _HEADING_END.sub("", _said(one.text, numbered)).strip("*_")
            yield f"{between}{title}{'' if _END.search(title) else ':'}"
            between = "\n\n"
            continue
        if one.is_row and titled == one.number:
            one = one._replace(text=one.text.removeprefix(title_of(context.blocks[one.number - 1])))
        titled = one.number if one.is_row else 0
        text = _marked(one, numbered)
        yield between + text
        between = " " if _END.search(text) else "\n\n"  # what has no end ends with its paragraph


def _marked(candidate: AnswerCandidate, numbered: bool) -> str:
    """Put the marker before the full stop, as in the specification's example: `... the capital [1].`

    Where brackets or quotation marks close behind the full stop, it stands behind them.
    """
    text = _said(candidate.text, numbered)
    stops = _STOPS.search(text)
    place = stops.start() if stops else len(text)
    return f"{text[:place]} [{candidate.number}]{text[place:]}"


def _said(text: str, numbered: bool) -> str:
    """Drop the sign of a heading or item, its number unless `numbered`, and the source's own notes' numbers;
    cut what has no end.
    """
    sign = _SIGN.match(text) or (None if numbered else _NUMBER.match(text))
    said = _NOTE_BEFORE.sub("", text[sign.end() :] if sign else text)
    said = without_markup(_FENCE.sub("", said))
    said = CELLS.join(split_row(said)) if said.startswith("| ") else said  # without the outer bars
    words = without_note(_without_notes(said)).split()
    return " ".join(words[:MAX_WORDS])[:MAX_CHARS].rstrip()


def _without_notes(text: str) -> str:
    """Drop the numbers of the source's own notes, which would be read as ours, but for what code says. Notes
    are counted from 1: "[0, 1]" is none.
    """
    parts = CODE.split(text) if "`" in text else [text]
    return "".join(part if n % 2 else _take_notes(part) for n, part in enumerate(parts)).strip()


def _take_notes(text: str) -> str:
    parts, done = [], 0
    for start, end, _, run, _ in squares(text):
        if FROM_0.fullmatch(run):
            continue
        before = text[done:start]
        if before.endswith("(") and text.startswith(")", end):
            before, end = before[:-1].rstrip(), end + 1
        parts.append(before)
        done = end
    return "".join((*parts, text[done:]))


def title_of(block: Block) -> str:
    """Return what the answer says before the rows of its table; "" without one."""
    head = TableHead.of(block.table_head)
    return describe_title(head) if head else ""


def without_markup(text: str) -> str:
    """Return a text in Markdown without the addresses of its links, tags of HTML or of a
    template, anchors and named notes, but for code.
    """
    parts = CODE.split(text) if "`" in text else [text]
    return "".join(part if n % 2 else _without_tags(part) for n, part in enumerate(parts))


def _without_tags(text: str) -> str:
    text = _PAGE_SIGN.sub("", _LINK.sub(r"\1", text))
    return _INLINE_TAG.sub("", _LINE_TAG.sub(" ", text)) if "<" in text else text
