"""The headings that stand above a sentence in its block, as far as its text shows them. Plain Python."""

import re
from typing import NamedTuple

from documents.text.terms import width_of

_SIGNS = re.compile(r"#{1,6}\s+|\s+#+$")


class Heading(NamedTuple):
    """asked: the question's words that it holds. indent: in columns, of a term whose text is indented deeper;
    -1 for a heading that holds until the next one.
    """

    text: str
    asked: frozenset[str] = frozenset()
    indent: int = -1


class HeadingsAbove:
    """Goes down a block. outer: the heading that the block begins below, "" if none is known."""

    def __init__(self, content: str, outer: str) -> None:
        self._content = content
        self._open = [Heading(outer)]

    @property
    def last(self) -> Heading:
        """Return the heading that what comes next stands below."""
        return self._open[-1]

    def come_to(self, start: int) -> None:
        """Leave the terms whose text ends before what starts there, as it is not indented deeper."""
        line = self._content.rfind("\n", 0, start) + 1
        if line and not self._content[line:start].strip():
            indent = width_of(self._content[line:start])
            while self.last.indent >= indent:
                self._open.pop()

    def enter(self, text: str, asked: frozenset[str], indent: int = -1) -> None:
        """Come to a heading."""
        heading = Heading(_SIGNS.sub("", text), asked, indent)
        self._open = [heading] if indent < 0 else [*self._open, heading]
