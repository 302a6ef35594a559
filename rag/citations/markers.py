"""Markers, in every form in which models write them. Plain Python, linear in the text.

A marker for sure is a number in square brackets or one in brackets beside a word for a source. `(1)`, `{1}`,
`<1>`, `¹` and a bare "Source 1" mean other things, too: they are read as markers where a claim ends.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rag.word_data import read_patterns

WORDS = read_patterns(Path(__file__).parent / "data" / "marker_words.txt")
_MOST_SPACES = 4  # before a marker, that belong to it
_SPACE = r"[ \t\u00a0\u2009\u202f\u200b-\u200d\u2060\ufeff]"
# "context block" is what the prompt calls them.
SOURCE = rf"(?:(?:context|source|document|reference){_SPACE})?(?:{WORDS['source']})"
_NAMED = rf"{SOURCE}s?\.?{_SPACE}{{0,2}}(?:[:#：]|no\.)?{_SPACE}{{0,2}}"
_LABEL = rf"(?:\^|\#|{_NAMED})?"
_DASH = rf"{_SPACE}{{0,2}}(?:[-–—‑~]|\bto\b){_SPACE}{{0,2}}"
_DIGIT = r"[\d⁰¹²³⁴⁵⁶⁷⁸⁹]"
_ITEM = rf"{_LABEL}[-+]?{_DIGIT}++\^?(?:{_DASH}{_LABEL}{_DIGIT}++)?"
_SEPARATOR = rf"{_SPACE}{{0,2}}(?:,|;|&|/|、|，|\band\b|\bund\b|\bet\b|\by\b){_SPACE}{{0,2}}"
_LIST = rf"{_ITEM}(?>{_SEPARATOR}{_ITEM})*+"
_PLACE = (  # ", page 3", " p. 3-4", ": section 2", " (p. 4)"
    rf"(?:{_SPACE}{{0,2}}[,;:]{_SPACE}{{0,2}}|{_SPACE}{{1,2}}\(?)"
    rf"(?:{WORDS['part']})\b\.?"
    rf"{_SPACE}{{0,2}}[\w.]{{1,12}}(?:[-–]\w{{1,6}})?\)?"
)
OPENING, CLOSING = r"\[【［〔⟦〚⁅", r"\]】］〕⟧〛⁆"  # in a class of characters
_NOTE = rf"(?:(?::\d{{1,4}})?†|(?<={_DIGIT}):[ ])[^{CLOSING}\n]{{0,80}}"  # a title, say
_INSIDE = rf"{_SPACE}{{0,2}}{_LIST}(?:{_PLACE}){{0,2}}\.?{_SPACE}{{0,2}}(?:{_NOTE})?"
SQUARE = rf"\\?[{OPENING}]{{1,2}}{_INSIDE}\\?[{CLOSING}]{{1,2}}"
# Possessive: a run is never tried in two ways, so that a long one before something else costs no more.
# Each form stands in the pattern once: to compile it twice, and twice again, takes a tenth of a second.
SQUARES = rf"(?![\ \t,;])(?>[\ \t]?+[,;]?+[\ \t]?+{SQUARE})++"
NAMED = rf"{_NAMED}\d++(?>(?:{_SEPARATOR}|{_DASH}){_LABEL}\d++)*+(?:{_PLACE})?"
_SEE = r"(?:(?:see|cf\.?|from|per|siehe|vgl\.?|voir|véase|according[ ]to)[ :]{1,2}(?:also[ ])?)?"
_VIA = (
    r"(?:[-–—,;][ ]{1,2})?"
    r"(?:(?:according[ ]to|as[ ](?:stated|mentioned|described|noted|shown|reported)[ ]in|per|from|see|in)[ ]"
    r"(?:the[ ])?)?"
)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LOOSE = rf"[(（{{<]{_SPACE}?\d{{1,3}}(?:{_SEPARATOR}\d{{1,3}}|[-–]\d{{1,3}}){{0,7}}{_SPACE}?[)）}}>]"
_FEW = r"\d{1,3}(?:[ ]?,[ ]?\d{1,3}){0,9}"
_TAGGED = (  # of HTML, LaTeX and Pandoc
    rf"<cite>{_FEW}</cite>|<ref>{_FEW}</ref>|<sup>{_FEW}</sup>|\\cite\{{{_FEW}\}}|\$\^\{{?\d{{1,3}}\}}?\$|(?<![\w^])\^\d{{1,3}}\^"
)
_SURE = (
    rf"\*\*{SQUARES}\*\*|<sup>{SQUARES}</sup>|\^?{SQUARES}\^?(?:\([^()\s]{{1,500}}\))?"
    rf"|[(（]{_SPACE}?{_SEE}(?:(?:{SOURCE}s?:?{_SPACE}){{0,2}}{SQUARES}|{NAMED}){_SPACE}?[)）]|{_TAGGED}"
)
_SUPERSCRIPTS = "⁽?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}(?:[,˒][⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})*⁾?"
FORMS = re.compile(
    rf"""
    (?P<space>{_SPACE}{{0,{_MOST_SPACES}}})
    (?: (?P<sure>{_SURE})
      | (?P<loose>{_LOOSE})
      | (?P<raised>(?:(?<=[^\W\d_]{{4}})|(?<=[.!?。"”»)])|\A){_SUPERSCRIPTS})
      | (?P<bare> {_VIA}\b{NAMED}\b )
    )
    (?P<tail>[\ \t]{{0,4}}(?=[.,;:!?]))?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_RUN = re.compile(
    rf"(?P<space>[ \t]{{0,4}})(?P<run>{SQUARES})(?P<tail>[ \t]{{0,4}}(?=[.,;:!?]))?", re.IGNORECASE
)
_ONE = rf"(?:{_SURE}|{_LOOSE}|{_SUPERSCRIPTS})"
_RUN_AT = re.compile(rf"(?![\ \t,;])(?>[\ \t]?+[,;]?+[\ \t]?+{_ONE})++", re.IGNORECASE | re.VERBOSE)
OPENERS = "[【［〔⟦〚⁅(（{<^$\\⁽⁰¹²³⁴⁵⁶⁷⁸⁹"  # what a marker begins with
_SQUARE_OPENER = re.compile(rf"[{OPENING}]")
_MAY_OPEN = re.compile(rf"[{re.escape(OPENERS)}*]")
_IS_SPACE = re.compile(_SPACE)
_BESIDE_A_WORD = re.compile(rf"{_NAMED}\d")  # of text in lower case: a bare "source 1" may stand there
ODD_LETTERS = re.compile("[ıİſ]")  # match "i" and "s" whatever their case, and not in lower case
LEFT_OPEN = re.compile(rf"\\?[{OPENING}]{{1,2}}[^{CLOSING}\n]{{0,160}}\Z")
_HALF = re.compile(
    rf"(?:\*\*|\^)?\\?[{OPENING}][^{CLOSING}\n]{{0,160}}(?:[{CLOSING}][{CLOSING}*^]?)?\Z"
    r"|[(（{<][^)）}>\n]{0,99}\Z|\([^()\s]{0,500}\Z|</?[a-z]{0,4}>?\Z|[*^]{1,2}\Z|\^\d{1,3}\Z"
    r"|<(?:cite|ref|sup)>[^<\n]{0,160}(?:</?[a-z]{0,4})?\Z|\\[a-z]{0,4}(?:\{[^}\n]{0,40})?\Z"
    r"|\$(?:\^\{?\d{0,3}\}?)?\Z|⁽[⁰¹²³⁴⁵⁶⁷⁸⁹]{0,3}\Z"
    rf"|[(（][^()\n]{{0,64}}[{OPENING}][^)）\n]{{0,160}}\Z"
)
_JOINT = re.compile(r"[ \t]?[,;]?[ \t]?")
CONJUNCTION = r"(?:and|or|as well as|und|oder|sowie|et|ou|y|o|e|&)"
_CONJOINED = re.compile(rf"{_SPACE}{{0,2}}[,;]?{_SPACE}{{0,2}}{CONJUNCTION}", re.IGNORECASE)
_STOPS = re.compile(r"\s*(?:[.,:;!?。！？；)]|\Z)")
_RANGE = re.compile(rf"(?<!\d)(\d+)(?:{_DASH}{_LABEL}(\d+))?", re.IGNORECASE)
_LEFT_OUT = re.compile(
    rf"(?P<negative>(?:^|(?<=[\s,;&/{OPENING}]))-\d+)|{_NOTE}|{_PLACE}|(?<=[{CLOSING}^])\([^()\s]*\)\Z",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\s*(?:[.!?。！？;；]|\Z)")
_WORD_BEFORE = re.compile(r"\w{1,30}[ \t]?\Z")
_IDENTIFIER = re.compile(r"(?:\b[^\W\d]{1,2}|\w*[_\d]\w*)\Z")
CODE = re.compile(r"(`[^`]+`)")
FROM_0 = re.compile(r"\[0[ ]?[,;–-][^\[\]]*\]")
_MAX_DIGITS = 4
_LONGEST_RUN = 400  # characters; what follows is a run of its own


_EMPTY_BRACKETS = re.compile(r"[ \t]?(?:\([ \t,;]*\)|\[[ \t,;]*\])")
_CLAIM_END = re.compile(r"(?<=[.!?。！？])\s+|(?:\[\d{1,4}\])+|\n+")
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
_STOP = re.compile(rf"[{re.escape(OPENERS)}\]】］〕⟧〛⁆)）}}>⁾#|`*_~]|!\[|{_NAMED}\d", re.IGNORECASE)
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_GLUE = re.compile(rf"(?:[\s,;:–—-]|\b(?:{WORDS['glue']}|{SOURCE}s?)\b)+\Z", re.IGNORECASE)
_LONGEST_GLUE = 80
_LETTERS = re.compile(r"\w")


class Mark(NamedTuple):
    """`text[start:end]`, with the white space before it (`space`) and before a full stop after it (`tail`).

    numbers: of the blocks that it names, in order, once each; () if there are none. sure: it can be nothing
    else; else it is better left as it is than taken out of the middle of a sentence.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    space: str
    tail: str
    sure: bool


def _nowhere(_: str) -> bool:
    return False


def squares(text: str) -> Iterator[tuple[int, int, str, str, str]]:
    """Yield runs of numbers in square brackets: start, end, space before, the run, space after."""
    for match in _RUN.finditer(text) if _SQUARE_OPENER.search(text) else ():
        yield match.start(), match.end(), match["space"], match["run"], match["tail"] or ""


def run_end(text: str, start: int, *, final: bool) -> int | None:
    """Return where a run of markers at `start` ends; None without one, 0 if more text may tell."""
    if start < len(text) and text[start] not in OPENERS and text[start] != "*":
        return None
    run = _RUN_AT.match(text, start, start + _LONGEST_RUN)
    if final or len(text) >= start + _LONGEST_RUN:
        return run.end() if run else None
    if run is None:
        return 0 if _HALF.match(text, start) else None
    joint = _JOINT.match(text, run.end())
    after = joint.end() if joint else run.end()
    return 0 if after == len(text) or _HALF.match(text, after) else run.end()


def marks_in(text: str, blocks: int, written: Callable[[str], bool] = _nowhere) -> list[Mark]:
    """Return all markers of one sentence in order, neighbours as one.

    written: whether a passage holds these words literally, so that "(2)" is part of what it says.
    """
    marks: list[Mark] = []
    code = [span.span() for span in CODE.finditer(text) if written(span[0])] if "`" in text else []
    for match in forms_in(text):
        mark = _mark(match, text, blocks, written)
        if mark is None or any(start < mark.start < end for start, end in code):
            continue
        if marks and _are_one(marks[-1], mark, text):
            mark = _merge(marks.pop(), mark)
        marks.append(mark)
    return marks


def _are_one(first: Mark, second: Mark, text: str) -> bool:
    """Tell whether the second goes on the first: [1], [2]; or [1] and [2], unless "[2] says" more of it.
    Where one of them names nothing, an "and" would be left behind.
    """
    if _JOINT.fullmatch(text, first.end, second.start):
        return True
    goes = not (first.numbers and second.numbers) or _STOPS.match(text, second.end) is not None
    return goes and _CONJOINED.fullmatch(text, first.end, second.start) is not None


def forms_in(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of `FORMS` in order. All but the bare form are tried only where they may begin."""
    if _BESIDE_A_WORD.search(text.lower()) or ODD_LETTERS.search(text):
        yield from FORMS.finditer(text)
        return
    done = 0
    for sign in _MAY_OPEN.finditer(text):
        start = sign.start()
        if start >= done and (match := FORMS.match(text, _before_spaces(text, start, done))):
            done = match.end()
            yield match


def _before_spaces(text: str, start: int, least: int) -> int:
    """Return where the white space begins that belongs to a marker at `start`."""
    begin, least = start, max(least, start - _MOST_SPACES)
    while begin > least and _IS_SPACE.match(text, begin - 1):
        begin -= 1
    return begin


def _mark(match: re.Match[str], text: str, blocks: int, written: Callable[[str], bool]) -> Mark | None:
    kind = "loose" if match["loose"] else "raised" if match["raised"] else "bare" if match["bare"] else "sure"
    text_of_mark = match[kind]
    numbers = numbers_in(text_of_mark.translate(_RAISED), blocks)
    sure = kind == "sure"
    if sure and _is_index(match, text_of_mark, written):
        return None
    if not sure and not (
        numbers and _ends_claim(text, match.end()) and not _is_part_of_text(match, kind, written)
    ):
        return None
    space = match["space"] or (" " if kind == "bare" else "")
    return Mark(match.start(), match.end(), numbers, space, match["tail"] or "", sure)


def _is_index(match: re.Match[str], mark: str, written: Callable[[str], bool]) -> bool:
    """Tell whether it is an index, as "a[1]" and "M[2,3]", or a range from 0, as "[0, 1]", where a passage
    writes so; "steps[1]" cites.
    """
    if FROM_0.fullmatch(mark):
        return written(mark)
    if match["space"] or mark[0] != "[":
        return False
    named = _IDENTIFIER.search(match.string, max(0, match.start() - 32), match.start())
    return named is not None and written(named[0] + mark)


def _ends_claim(text: str, end: int) -> bool:
    return _ENDS.match(text, end) is not None or FORMS.match(text, end) is not None


def _is_part_of_text(match: re.Match[str], kind: str, written: Callable[[str], bool]) -> bool:
    text, start = match.string, match.start(kind)
    if kind == "bare":
        return written(match[kind].lstrip(" ,;-–—"))
    before = _WORD_BEFORE.search(text, max(0, start - 32), start)
    return kind == "loose" and before is not None and written(text[before.start() : match.end(kind)])


def _merge(first: Mark, second: Mark) -> Mark:
    numbers = tuple(dict.fromkeys((*first.numbers, *second.numbers)))
    return Mark(first.start, second.end, numbers, first.space, second.tail, first.sure or second.sure)


@lru_cache(maxsize=512)
def numbers_in(run: str, blocks: int) -> tuple[int, ...]:
    """Return the numbers from 1 to `blocks` that a run of markers names, with ranges spelled out."""
    numbers: dict[int, None] = {}
    for first, last in _RANGE.findall(_LEFT_OUT.sub("", run)):
        low = _number(first)
        high = min(_number(last) if last else low, blocks)
        numbers.update(dict.fromkeys(range(max(low, 1), high + 1)))
    return tuple(numbers)


def _number(digits: str) -> int:
    """Read a number. All that have more digits than a block's count as one: int() is quadratic in them."""
    return int(digits) if len(digits) <= _MAX_DIGITS else 10**_MAX_DIGITS


def settle(text: str, blocks: int) -> tuple[str, tuple[int, ...]]:
    """Return the text with every marker as `[n]`, 1 <= n <= blocks, and the n in order of first citation.

    `[1, 2]`, `[1-2]`, `【1】` and `[Chunk 1]` become `[1][2]` and `[1]`; what names no block is removed.
    """
    cited: dict[int, None] = {}
    parts, done, named = [], 0, False
    for start, end, space, run, tail in squares(text):
        numbers = numbers_in(run, blocks)
        cited.update(dict.fromkeys(numbers))
        is_left_over = done and not (named and numbers) and _CONJOINED.fullmatch(text, done, start)
        between = "" if is_left_over else text[done:start]
        parts += [between, f"{space}{_write_markers(numbers)}{tail}" if numbers else ""]
        done, named = end, bool(numbers)
    if not done:
        return text.strip(), ()
    parts.append(text[done:])
    return _EMPTY_BRACKETS.sub("", "".join(parts)).strip(), tuple(cited)


def without_markers(text: str) -> str:
    """Return the text with nothing left that could be read as a marker."""
    return settle(text, 0)[0]


def claim(text: str, number: int) -> str:
    """Return the sentence of a settled text that `[number]` first stands behind."""
    before = text.partition(f"[{number}]")[0][-2000:]
    sentences = [part for part in _CLAIM_END.split(before) if part.strip(" .")]
    return sentences[-1].strip() if sentences else ""


def _write_markers(numbers: Iterable[int]) -> str:
    return "".join(f"[{number}]" for number in dict.fromkeys(numbers))


def shown_length(text: str, start: int = 0) -> int:
    """Return how much of an unfinished sentence can be shown: whole words before a possible marker.

    start: so much of it has been shown already.
    """
    stop = _STOP.search(text, start)
    end = stop.start() if stop else len(text)
    if not stop or not text[end - 1 : end].isspace():
        while end > start and not _ends_word(text, end):
            end -= 1
    glue = _GLUE.search(text, max(start, end - _LONGEST_GLUE), end)
    end = glue.start() if glue else end
    return end if start or _LETTERS.search(text, 0, end) else 0


def _ends_word(text: str, position: int) -> bool:
    """Tell whether a word ends there, followed by white space, or by anything in scripts without it."""
    before, after = text[position - 1], text[position : position + 1]
    return (after.isspace() and not before.isspace()) or _IS_UNSPACED.match(before) is not None
