"""The headings that stand above a sentence in its block, as far as its text shows them. Plain Python."""

import re
from typing import NamedTuple

from documents.text.terms import width_of

_SIGNS = re.compile(r"#{1,6}\s+|\s+#+$")
_EMPHASIS = re.compile(r"\*\*|__|`")
_IDENTIFIER = re.compile(r"(?<![\w-])(?:--?[a-z][\w-]*|\w+_\w+)", re.IGNORECASE)
_LETTER = re.compile(r"-[a-zA-Z]\Z")  # "-m" and "-M" are two options


class OpenHeading(NamedTuple):
    """A heading whose text has not ended.

    asked: the question's words that it holds. named: whether it has an identifier of the question. indent: in
    columns, of a term whose text is indented deeper; -1 for a heading that holds until the next one.
    """

    text: str
    asked: frozenset[str] = frozenset()
    indent: int = -1
    named: bool = False


def identifiers_in(text: str) -> frozenset[str]:
    """Return the names that are no words: "first_uid", "-f"; in lower case but for those of one letter."""
    return frozenset(name if _LETTER.match(name) else name.casefold() for name in _IDENTIFIER.findall(text))


class HeadingsAbove:
    """Goes down a block.

    outer: the heading that the block begins below, "" if none is known. identifiers: of the question; a
    heading that has others only is about something else.
    """

    def __init__(self, content: str, outer: str, identifiers: frozenset[str] = frozenset()) -> None:
        self._content, self._identifiers = content, identifiers
        self._open = [OpenHeading(outer)]

    @property
    def last(self) -> OpenHeading:
        """Return the heading that what comes next stands below."""
        return self._open[-1]

    def come_to(self, start: int) -> None:
        """Leave the terms whose text ends before what starts there, as it is not indented deeper."""
        line = self._content.rfind("\n", 0, start) + 1
        if line and not self._content[line:start].strip():
            indent = width_of(self._content[line:start])
            while self.last.indent >= indent:
                self._open.pop()

    def enter_item(self, text: str, asked: frozenset[str], indent: int) -> None:
        """Come to an item of a list that has items of its own; those stand below all that it stands below."""
        above, text = self.last, _EMPHASIS.sub("", text)
        if above.indent >= 0:
            asked, text = asked | above.asked, f"{above.text}: {text}"
        self.enter(text, asked, indent)

    def enter(self, text: str, asked: frozenset[str], indent: int = -1) -> None:
        """Come to a heading."""
        own = identifiers_in(text) if self._identifiers else frozenset()
        if own and self._identifiers.isdisjoint(own):
            asked = frozenset()
        named = not self._identifiers.isdisjoint(own)
        heading = OpenHeading(_SIGNS.sub("", text), asked, indent, named)
        self._open = [heading] if indent < 0 else [*self._open, heading]
