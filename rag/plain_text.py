"""Clean text of a reply, for faces that promise it: without markers and Markdown, whole or as it is written.

Plain Python; linear in the text.
"""

import re

from rag.citations import without_markers

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^[ \t]*```.*$", re.MULTILINE), ""),
    (re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,500}(?:[ \t]+\"[^\"\n]{0,200}\")?\)"), r"\1"),
    (re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t#]*$", re.MULTILINE), r"\1"),
    (re.compile(r"^[ \t]{0,3}>[ \t]?", re.MULTILINE), ""),
    (re.compile(r"^[ \t]{0,8}[*+•-][ \t]+", re.MULTILINE), ""),
    (re.compile(r"^[ \t]{0,3}(?:[-*_][ \t]*){3,20}$", re.MULTILINE), ""),
    (re.compile(r"(?<!\w)(\*\*\*|\*\*|___|__)(?=\S)([^*_\n]{1,1000}?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,1000}?)(?<=[^\s*])\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<![\w_])_(?=[^\s_])([^_\n]{1,1000}?)(?<=[^\s_])_(?![\w_])"), r"\1"),
    (re.compile(r"`([^`\n]{1,1000})`"), r"\1"),
    (re.compile(r"\n{3,}"), "\n\n"),
)
_MARKER = re.compile(r"\[\d{1,4}\]")
_OPENS = re.compile(r"[*_`\[\]()#!>~]")  # may be the first half of something whose second half is to come
_EMPTY = re.compile(r"\([ \t,;]*\)|\[[ \t,;]*\]")  # goes if there is any marker in the text
_MARKERS_AT_END = re.compile(r"(?:\s{0,4}\[\d{1,4}\]\s?[,;]?)+\Z")  # the comma goes with the next marker
_SIGNS = " \t*+•>#_-"
TAIL = 200
STEP = 50  # a 50th of the text must be new before it is looked at again, so that long texts stay cheap


def plain_text(text: str) -> str:
    """The text without Markdown's signs; the words stay."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.strip()


def clean(text: str) -> str:
    """An answer's text without markers and Markdown."""
    return plain_text(without_markers(text))


class PlainWriter:
    """Sends whole words, in a line that holds no Markdown; other lines once they are complete.

    What is sent is always a beginning of the whole plain text.
    """

    def __init__(self) -> None:
        self._text, self._sent, self._looked = "", "", 0

    def feed(self, piece: str) -> str:
        self._text += piece
        if len(self._text) - self._looked <= len(self._text) // STEP:
            return ""
        self._looked = len(self._text)
        # What ends a line is not what ends the text, so more lines stand for those to come.
        return self._new(clean(f"{self._text[: self._safe_end()]}\nx")[:-1].rstrip())

    def finish(self) -> str:
        return self._new(clean(self._text))

    def _safe_end(self) -> int:
        """Before the last word, which may go on; or before the last line, if it may still change."""
        if _EMPTY.search(self._text):
            return 0
        line = self._text.rfind("\n") + 1
        if _OPENS.search(_MARKER.sub("", self._text[line:])):
            return line
        words = self._text.rstrip()
        end = words.rfind(" ") if words == self._text else len(words)
        marked = _MARKERS_AT_END.search(self._text, max(0, end - TAIL), max(0, end))
        end = marked.start() if marked else end
        begun = _MARKER.sub("", self._text[line : max(line, end)])
        return end if begun.strip(_SIGNS) else line  # signs alone may be a list's or a rule's

    def _new(self, made: str) -> str:
        if not made.startswith(self._sent):
            return ""
        new, self._sent = made[len(self._sent) :], made
        return new
