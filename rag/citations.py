"""Markers in an answer: read in every form that models write, kept only where they name a context block.

Inside the pipeline a marker is `[n]`, n being the 1-based place in the context. All is linear in the text.
"""

import re
from collections.abc import Iterable

from rag.checking.markers import numbers_in, squares

_EMPTY_BRACKETS = re.compile(r"[ \t]?(?:\([ \t,;]*\)|\[[ \t,;]*\])")
_CLAIM_END = re.compile(r"(?<=[.!?。！？])\s+|(?:\[\d{1,4}\])+|\n+")


def settle(text: str, blocks: int) -> tuple[str, tuple[int, ...]]:
    """The text with every marker as `[n]`, 1 <= n <= blocks, and the distinct n in order of first citation.

    `[1, 2]`, `[1-2]`, `【1】` and `[Chunk 1]` become `[1][2]` and `[1]`; what names no block is removed.
    """
    cited: dict[int, None] = {}
    settled, done = [], 0
    for start, end, space, run, tail in squares(text):
        numbers = numbers_in(run, blocks)
        cited.update(dict.fromkeys(numbers))
        settled += [text[done:start], f"{space}{_joined(numbers)}{tail}" if numbers else ""]
        done = end
    if not done:
        return text.strip(), ()
    settled.append(text[done:])
    return _EMPTY_BRACKETS.sub("", "".join(settled)).strip(), tuple(cited)


def without_markers(text: str) -> str:
    """The text with nothing left that could be read as a marker."""
    return settle(text, 0)[0]


def claim(text: str, number: int) -> str:
    """The sentence of a settled text that `[number]` first stands behind."""
    before = text.partition(f"[{number}]")[0][-2000:]
    sentences = [part for part in _CLAIM_END.split(before) if part.strip(" .")]
    return sentences[-1].strip() if sentences else ""


def _joined(numbers: Iterable[int]) -> str:
    return "".join(f"[{number}]" for number in dict.fromkeys(numbers))
