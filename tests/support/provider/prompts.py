"""What a prompt holds, read as a model would read it: numbered blocks and the question."""

import re
from dataclasses import dataclass
from typing import Any

_MARKER = re.compile(r"^[ \t]*(?:<[a-z_]+[^>\n]*>[ \t]*)?\[(\d+)\][ \t]*", re.MULTILINE)
_FENCED = re.compile(
    r"<(?P<tag>passage|chunk|block|source)[^>\n]*?\b(?:n|id|number|index)=\"?(?P<n>\d+)\"?[^>\n]*>(?P<text>.*?)</(?P=tag)>",
    re.DOTALL,
)
_QUESTION = re.compile(
    r"(?:^|\n)(?:<question>\s*|Question:[ \t]*)(?P<text>.*?)\s*(?:</question>|$)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Prompt:
    system: str
    user: str

    @property
    def text(self) -> str:
        return f"{self.system}\n{self.user}"

    @property
    def blocks(self) -> dict[int, str]:
        """Context blocks by number: fenced ones if there are any, else paragraphs that begin with `[n]`."""
        fenced = {int(m["n"]): m["text"].strip() for m in _FENCED.finditer(self.user)}
        return fenced or self._marked()

    def _marked(self) -> dict[int, str]:
        marks = list(_MARKER.finditer(self.user))
        ends = [m.start() for m in marks[1:]] + [len(self.user)]
        return {int(m[1]): self.user[m.end() : end].strip() for m, end in zip(marks, ends, strict=False)}

    @property
    def question(self) -> str:
        """The last question that stands in the prompt; "" if there is none."""
        found = list(_QUESTION.finditer(self.user))
        return found[-1]["text"].strip() if found else ""


def prompt_of(body: dict[str, Any]) -> Prompt:
    """From a chat body (`messages`) or from Ollama's generate (`prompt`, `system`)."""
    if "messages" not in body:
        return Prompt(str(body.get("system", "")), str(body.get("prompt", "")))
    by_role = {"system": "", "user": ""}
    for message in body["messages"]:
        role = "system" if message["role"] in ("system", "developer") else "user"
        by_role[role] += str(message["content"])
    return Prompt(by_role["system"], by_role["user"])
