"""Clean text as it is written: what is sent is always a beginning of the whole plain text. Plain Python."""

import re

from rag.citations import without_markers
from rag.plain_text import plain_text

_MARKER = re.compile(r"\[\d{1,4}\]")
_OPENS = re.compile(r"[*_`\[\]()#!>~]")  # may be the first half of something whose second half is to come
STEP = 50  # a 50th of the text must be new before it is looked at again, so that long texts stay cheap


def clean(text: str) -> str:
    """An answer's text without markers and Markdown."""
    return plain_text(without_markers(text))


class PlainWriter:
    """Sends whole words, in a line that holds no Markdown; other lines once they are complete."""

    def __init__(self) -> None:
        self._text, self._sent, self._looked = "", "", 0

    def feed(self, piece: str) -> str:
        self._text += piece
        if len(self._text) - self._looked <= len(self._text) // STEP:
            return ""
        self._looked = len(self._text)
        return self._up_to(self._text[: self._safe_end()])

    def finish(self) -> str:
        return self._up_to(self._text)

    def _safe_end(self) -> int:
        """Before the last word, which may go on; or before the last line, if it may still change."""
        line = self._text.rfind("\n") + 1
        if _OPENS.search(_MARKER.sub("", self._text[line:])):
            return line
        words = self._text.rstrip()
        return max(line, words.rfind(" ") if words == self._text else len(words))

    def _up_to(self, text: str) -> str:
        made = clean(text)
        if not made.startswith(self._sent):
            return ""
        new, self._sent = made[len(self._sent) :], made
        return new
