"""What a prompt holds, read as a model would read it: numbered blocks and the question."""

import re
from dataclasses import dataclass
from typing import Any

_FENCE = re.compile(r"<context>\n?(.*)</context>", re.DOTALL)
_MARKER = re.compile(r"^\[(\d+)\][ \t]*", re.MULTILINE)
_LABEL = re.compile(r"^\[([^\[\]\n]+, (?:p\.|page |section )[^\[\]\n]+)\]:?[ \t]*", re.MULTILINE)
_PLACE = re.compile(r"\((?:document|page|section)s?[: ][^\n]*\)\n")
_QUESTION = re.compile(r"^Question:[ \t]*(.*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """later: what was said after the user's first message, by either side in turn."""

    system: str
    user: str
    later: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return f"{self.system}\n{self.user}"

    @property
    def numbers(self) -> list[int]:
        """Of the context blocks, in order, as often as they stand there."""
        return [int(mark[1]) for mark in _MARKER.finditer(self._context)]

    @property
    def blocks(self) -> dict[int, str]:
        """Context blocks by number: what stands between one `[n]` at a line's start and the next, without the
        line that tells its place.
        """
        return {
            n: _PLACE.sub("", text, count=1) if _PLACE.match(text) else text for n, text in self._numbered
        }

    @property
    def places(self) -> dict[int, str]:
        """`(document: a.pdf, page 1)` of each block, "" where it has none."""
        found = {n: _PLACE.match(text) for n, text in self._numbered}
        return {n: place[0].strip() if place else "" for n, place in found.items()}

    @property
    def labels(self) -> list[str]:
        """`manual.pdf, p.5` of `[manual.pdf, p.5]: …`, in order, as often as they stand there."""
        return [mark[1] for mark in _LABEL.finditer(self._context)]

    @property
    def labelled(self) -> list[tuple[str, str]]:
        """Blocks that begin with a label instead of a number: the label, and what stands below it."""
        marks = list(_LABEL.finditer(self._context))
        ends = [mark.start() for mark in marks[1:]] + [len(self._context)]
        return [(m[1], self._context[m.end() : end].strip()) for m, end in zip(marks, ends, strict=False)]

    @property
    def questions(self) -> list[str]:
        """Everything that a line calls a question; a sound prompt has one."""
        return [found[1].strip() for found in _QUESTION.finditer(self.user)]

    @property
    def _numbered(self) -> list[tuple[int, str]]:
        marks = list(_MARKER.finditer(self._context))
        ends = [mark.start() for mark in marks[1:]] + [len(self._context)]
        return [
            (int(m[1]), self._context[m.end() : end].strip()) for m, end in zip(marks, ends, strict=False)
        ]

    @property
    def _context(self) -> str:
        fenced = _FENCE.search(self.user)
        return fenced[1] if fenced else self.user.rpartition("\nQuestion:")[0]


def prompt_of(body: dict[str, Any]) -> Prompt:
    """From a chat body (`messages`) or from Ollama's generate (`prompt`, `system`)."""
    if "messages" not in body:
        return Prompt(str(body.get("system", "")), str(body.get("prompt", "")))
    said = [(str(message["role"]), str(message["content"])) for message in body["messages"]]
    system = "".join(content for role, content in said if role in ("system", "developer"))
    user, *later = [content for role, content in said if role not in ("system", "developer")] or [""]
    return Prompt(system, user, tuple(later))
