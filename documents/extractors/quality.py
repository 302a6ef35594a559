"""Does a page's text read as text? Decides which reader's version of a page is kept."""

import re

# Thresholds measured on 80 real files: glued text has over 1 % of words above 22 letters,
# or fewer than one space to 12 letters. Scripts written without spaces are not judged by them.
_LONG_WORD = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u04ff]{23,}")
_SPACED_LETTER = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u04ff]")
_MEANINGLESS = re.compile("[\x00-\x08\x0e-\x1f\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]")
_ENOUGH = 60  # shorter pages say too little about themselves


def badness(text: str) -> float:
    """0.0 for plain prose, 0.5 for German compounds, over 1 for glued words or lost letters, 9 for none."""
    if not text.strip():
        return 9.0
    lost = 0.0 if text.isascii() else 20 * len(_MEANINGLESS.findall(text)) / len(text)
    if len(text) < _ENOUGH:
        return lost
    spaces = text.count(" ") + text.count("\n")
    long_words = 50 * len(_LONG_WORD.findall(text)) / (spaces + 1)
    few_spaces = 0.0
    if spaces * 13 < len(text):
        few_spaces = len(_SPACED_LETTER.findall(text)) / (12 * (spaces + 1))
    return lost + long_words + (few_spaces if few_spaces > 1.0 else 0.0)


def doubts(text: str) -> tuple[str, ...]:
    """Words of PAGE_WARNINGS for a text that was kept for want of a better one."""
    if not text.strip():
        return ()
    if not text.isascii() and 20 * len(_MEANINGLESS.findall(text)) / len(text) > 1.0:
        return ("garbled",)
    return () if reads_well(text) else ("glued",)


def reads_well(text: str) -> bool:
    return badness(text) <= 1.0
