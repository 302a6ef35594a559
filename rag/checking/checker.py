"""Reads a reply as the model makes it, and lets through what has been checked. Plain Python."""

from typing import NamedTuple

from rag.citations import settle, without_markers
from rag.prompts import says_not_found
from rag.protocols import ClaimJudge
from rag.types import Citation, Context, Reason


class Checked(NamedTuple):
    """rest: what `feed` has not let through yet. text: all of it, "" where there is a reason."""

    rest: str
    text: str
    cited: tuple[int, ...] = ()
    citations: tuple[Citation, ...] = ()
    reason: Reason | None = None


class Checker:
    """Of one reply. However it is cut into pieces, the text is the same."""

    def __init__(self, context: Context, judge: ClaimJudge | None = None) -> None:
        self._context, self._judge = context, judge
        self._reply = ""

    async def feed(self, piece: str) -> str:
        """What can be shown now, markers as `[n]` into `context.passages` (from 1)."""
        self._reply += piece
        return ""

    async def finish(self) -> Checked:
        text, cited = settle(self._reply, len(self._context.blocks))
        if says_not_found(without_markers(text)):
            return Checked("", "", reason="model_declined")
        if not cited:
            return Checked("", "", reason="not_supported")
        return Checked(text, text, cited)
