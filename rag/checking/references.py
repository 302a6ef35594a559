"""Numbers of a passage's own references. Plain Python.

A passage that writes "as birds do [15]" stands in the prompt as "as birds do (15)", lest its number be taken
for that of a block; and so it is quoted.
"""

import re

_NUMBERS = r"[ \t]?\d[\d \t,;&–—‑-]{0,60}"
_ROUND = re.compile(rf"[ \t]?\(({_NUMBERS})\)")
_SQUARE = re.compile(rf"[ \t]?\[({_NUMBERS})\]")
_LAST_WORD = re.compile(r"(\w+)\W*\Z")
BEFORE = 200  # characters in which the word before such numbers is looked for


def without_references(claim: str, content: str) -> str:
    """The claim without numbers in round brackets that the passage writes in square ones behind the same
    word."""
    if "(" not in claim or "[" not in content:
        return claim
    known = {(found[1], _word_before(found, _SQUARE)) for found in _SQUARE.finditer(content)}
    return _ROUND.sub(
        lambda found: "" if (found[1], _word_before(found, _ROUND)) in known else found[0], claim
    )


def _word_before(found: re.Match[str], others: re.Pattern[str]) -> str:
    before = others.sub("", found.string[max(0, found.start() - BEFORE) : found.start()])
    word = _LAST_WORD.search(before)
    return word[1].lower() if word else ""
