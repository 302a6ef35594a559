"""Markers in an answer: read in every form that models write, kept only where they name a context block.

Inside the pipeline a marker is `[n]`, n being the 1-based place in the context. All is linear in the text.
"""

import re
from collections.abc import Iterable, Mapping

_LABEL = (
    r"(?:\^|(?:chunk|source|passage|context|document|doc|citation|reference|ref)s?\.?[ \t]{0,2}#?[ \t]{0,2})?"
)
_ITEM = rf"{_LABEL}[-+]?\d+(?:[ \t]{{0,2}}[-–—‑][ \t]{{0,2}}{_LABEL}\d+)?"
_SEPARATOR = r"[ \t]{0,2}(?:,|;|&|/|\band\b)[ \t]{0,2}"
_OPEN, _CLOSE = r"[\[【［]{1,2}[ \t]{0,2}", r"[ \t]{0,2}(?:†[^\]】］\n]{0,80})?[\]】］]{1,2}"
_MARKER = rf"{_OPEN}{_ITEM}(?:{_SEPARATOR}{_ITEM})*{_CLOSE}"
_RUN = re.compile(
    rf"(?P<space>[ \t]{{0,4}})(?P<run>{_MARKER}(?:[ \t]?[,;]?[ \t]?{_MARKER})*)"
    r"(?P<tail>[ \t]{0,4}(?=[.,;:!?]))?",
    re.IGNORECASE,
)
_RANGE = re.compile(rf"(?<!\d)(\d+)(?:[ \t]{{0,2}}[-–—‑][ \t]{{0,2}}{_LABEL}(\d+))?", re.IGNORECASE)
_NEGATIVE = re.compile(r"(?:^|(?<=[\s,;&/\[【［]))-\d+")
_NOTE = re.compile(r"†[^\]】］\n]*")
_EMPTY_BRACKETS = re.compile(r"[ \t]?(?:\([ \t,;]*\)|\[[ \t,;]*\])")
_CANONICAL = re.compile(r"(?:\[\d{1,4}\])+")
_CLAIM_END = re.compile(r"(?<=[.!?。！？])\s+|(?:\[\d{1,4}\])+|\n+")
_MAX_DIGITS = 4


def settle(text: str, blocks: int) -> tuple[str, tuple[int, ...]]:
    """The text with every marker as `[n]`, 1 <= n <= blocks, and the distinct n in order of first citation.

    `[1, 2]`, `[1-2]`, `【1】` and `[Chunk 1]` become `[1][2]` and `[1]`; what names no block is removed.
    """
    cited: dict[int, None] = {}

    def canonical(match: re.Match[str]) -> str:
        numbers = _numbers(match["run"], blocks)
        cited.update(dict.fromkeys(numbers))
        return _rewritten(match, numbers)

    settled = _RUN.sub(canonical, text)
    if settled != text:
        settled = _EMPTY_BRACKETS.sub("", settled)
    return settled.strip(), tuple(cited)


def without_markers(text: str) -> str:
    """The text with nothing left that could be read as a marker."""
    return settle(text, 0)[0]


def renumber(text: str, places: Mapping[int, int]) -> str:
    """A settled text with each `[n]` as `[places[n]]`; equal neighbours become one."""

    def renumbered(match: re.Match[str]) -> str:
        return _joined(places[number] for number in _plain_numbers(match[0]))

    return _CANONICAL.sub(renumbered, text)


def claim(text: str, number: int) -> str:
    """The sentence of a settled text that `[number]` first stands behind."""
    before = text.partition(f"[{number}]")[0][-2000:]
    sentences = [part for part in _CLAIM_END.split(before) if part.strip(" .")]
    return sentences[-1].strip() if sentences else ""


def _rewritten(match: re.Match[str], numbers: list[int]) -> str:
    tail = match["tail"] or ""
    return f"{match['space']}{_joined(numbers)}{tail}" if numbers else ""


def _joined(numbers: Iterable[int]) -> str:
    return "".join(f"[{number}]" for number in dict.fromkeys(numbers))


def _plain_numbers(run: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", run)]


def _numbers(run: str, blocks: int) -> list[int]:
    """All block numbers that a run of markers names, ranges spelled out, in order, once each."""
    found: dict[int, None] = {}
    for first, last in _RANGE.findall(_NEGATIVE.sub("", _NOTE.sub("", run))):
        low = _number(first)
        high = min(_number(last) if last else low, blocks)
        found.update(dict.fromkeys(range(max(low, 1), high + 1)))
    return list(found)


def _number(digits: str) -> int:
    """Numbers of more digits than any block has are all alike; int() would take quadratic time on them."""
    return int(digits) if len(digits) <= _MAX_DIGITS else 10**_MAX_DIGITS
