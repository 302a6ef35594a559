"""Terms and headings: lines above text that is indented deeper, as in manual pages, RFCs and nested lists."""

import re
from typing import NamedTuple

MOST_WORDS = 14  # of a term or heading
LOOKED_AT = 40  # lines of what stands below one
_ITEM = re.compile(r"(?:[-*+•‣▪●◦○■□►–—>|]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s")
_ITEMS = re.compile(rf"(?:{_ITEM.pattern}[ \t]*+)+")
_ITEM_BELOW = re.compile(rf"[ \t]*+\n(?:[ \t]*+\n)?(?P<indent>[ \t]*+){_ITEM.pattern}")
_BELOW = re.compile(r"[ \t]*+\n(?P<blank>[ \t]*+\n)?(?P<indent>[ \t]++)(?P<word>\S++)(?P<rest>[^\n]*+)")
_ENDS = (".", "!", "?", ":", ",", ";", "。", "！", "？", "：")


class Term(NamedTuple):
    """A line that ends at `end`, above text that is indented by more than its `indent` columns."""

    text: str
    end: int
    indent: int


def find_term(content: str, start: int, end: int) -> Term | None:
    """Return the first line of `content[start:end]`, a sentence, if that is a term or a heading.

    What stands at the very begin of `content` has lost its indentation.
    """
    stop = content.find("\n", start, end)
    stop = end if stop < 0 else stop
    below, line = _BELOW.match(content, stop), content.rfind("\n", 0, start) + 1
    if below is None or content[line:start].strip() or not _is_blank_before(content, line):
        return None
    text = content[start:stop].rstrip()
    if text.endswith(_ENDS) or _ITEM.match(text) or text.count(" ") >= MOST_WORDS:
        return None
    deeper = width_of(below["indent"])
    indent = width_of(content[line:start]) if line else deeper - 1
    # A line that is broken because it was full had no room for the next word.
    needed = indent + len(text) + 1 + len(below["word"])
    widest = _measure_below(content, below.start("indent"), indent)
    if not widest or (widest < needed and not below["blank"]):
        return None
    return Term(" ".join(text.split()), stop, indent)


def find_parent_item(content: str, start: int, end: int) -> Term | None:
    """Return `content[start:end]`, a sentence, if it is an item of a list with items of its own.

    So is "- RAM" above "  - 1 GB".
    """
    line = content.rfind("\n", 0, start) + 1
    item, below = _ITEMS.match(content, start, end), _ITEM_BELOW.match(content, end)
    if item is None or below is None or content[line:start].strip():
        return None
    text, deeper = content[item.end() : end], width_of(below["indent"])
    indent = width_of(content[line:start]) if line else deeper - 1
    if "\n" in text or not text or text.count(" ") >= MOST_WORDS or indent >= deeper:
        return None
    return None if text.endswith((".", "!", ",", ";")) else Term(" ".join(text.split()), end, indent)


def width_of(white: str) -> int:
    """Return how many columns white space takes."""
    return len(white.expandtabs())


def _is_blank_before(content: str, line: int) -> bool:
    """Tell whether a blank line, or nothing, stands before the line that starts there."""
    return not line or not content[content.rfind("\n", 0, line - 1) + 1 : line - 1].strip()


def _measure_below(content: str, start: int, indent: int) -> int:
    """Return the columns of the widest line of the paragraph that starts there; 0 if one of its lines is not
    indented more than `indent` columns.
    """
    widest = 0
    for _ in range(LOOKED_AT):
        stop = content.find("\n", start)
        line = content[start : stop if stop >= 0 else len(content)].rstrip().expandtabs()
        if line and len(line) - len(line.lstrip()) <= indent:
            return 0
        widest = max(widest, len(line))
        if not line or stop < 0:
            break
        start = stop + 1
    return widest
