"""The prompt's fence in a reply: small models write down what they were told. Plain Python.

No passage in a prompt holds such a tag. One in the middle of a line stays, unless it closes one that was left
out: somebody may speak of such tags.
"""

import re

_FENCE = re.compile(r"</?context>", re.IGNORECASE)
_TAGS = ("<context>", "</context>")


class Unfenced:
    """Of one reply: `feed` as it comes, then `finish`; the text without `<context>` and `</context>`."""

    def __init__(self) -> None:
        self._held, self._fenced = "", False
        self._blank = True  # nothing but white space stands in the line so far

    def feed(self, piece: str) -> str:
        text, self._held = self._held + piece, ""
        if "<" not in text:
            return self._shown(text)
        done, parts = 0, list[str]()
        for fence in _FENCE.finditer(text):
            parts.append(self._shown(text[done : fence.start()]))
            done = fence.end()
            if not (self._blank or self._fenced):
                parts.append(self._shown(fence[0]))
            self._fenced = self._blank and fence[0][1] != "/"
        rest = text[done:]
        begins = rest.rfind("<")
        if begins >= 0 and any(tag.startswith(rest[begins:].lower()) for tag in _TAGS):
            rest, self._held = rest[:begins], rest[begins:]
        return "".join((*parts, self._shown(rest)))

    def finish(self) -> str:
        rest, self._held = self._held, ""
        return rest

    def _shown(self, text: str) -> str:
        line = text[text.rfind("\n") + 1 :]
        self._blank = (self._blank or "\n" in text) and not line.strip()
        return text
