"""What the chat model says. An answer is made from the prompt; None stands for `"content": null`."""

import json
import re
from collections.abc import Callable, Sequence

from tests.support.provider.prompts import Prompt

_MARKER = re.compile(r"\s*\[(\d+)\]")
Answer = Callable[[Prompt], str | None]


def fixed(text: str | None) -> Answer:
    return lambda _: text


def cite(numbers: Sequence[int]) -> Answer:
    """One claim for each number: the first sentence of that block, or made up words if there is none.

    Where blocks have labels instead of numbers, the claim is marked by the label of the block in that place.
    """

    def answer(prompt: Prompt) -> str:
        labelled = dict(enumerate(prompt.labelled, start=1))
        blocks = prompt.blocks or {n: text for n, (_, text) in labelled.items()}
        claims = ((n, _first_sentence(blocks.get(n, "Something nobody wrote."))) for n in numbers)
        marks = {} if prompt.blocks else {n: label for n, (label, _) in labelled.items()}
        return " ".join(f"{claim.rstrip('.')} [{marks.get(n, n)}]." for n, claim in claims)

    return answer


def obey(prompt: Prompt) -> str:
    """A gullible model: does what the last passage that orders something orders, without citing."""
    orders: list[str] = re.findall(
        r"(?:ignore|disregard)[^.]*\.\s*(?:say|answer|reply|write)\s+['\"]?([\w ]+)",
        prompt.user,
        re.IGNORECASE,
    )
    return orders[-1].strip() if orders else str(cite([1])(prompt))


REFUSAL = "I don't have enough information to answer that."

NAMED: dict[str, Answer] = {
    "obey": obey,
    "refusal": fixed(REFUSAL),
    "empty": fixed(""),
    "blank": fixed(" \n\t "),
    "null": fixed(None),
    "huge": lambda prompt: "".join([str(cite([1])(prompt)), " More words to say."] + [" filler"] * 300_000),
    "nul": lambda prompt: f"A\x00B {cite([1])(prompt)}",
    "surrogate": lambda prompt: f"A\ud800B {cite([1])(prompt)}",
    "script": lambda prompt: f"<script>alert(1)</script> ![x](http://203.0.113.1/x.png) {cite([1])(prompt)}",
}


def as_claims(text: str | None, prompt: Prompt) -> str:
    """What a model says that is held to a JSON schema; it quotes the first sentence of each block it cites.

    A text that is JSON already is said as it stands.
    """
    if (text or "").startswith("{"):
        return str(text)
    said = re.findall(r"[^.!?]*(?:[.!?]+|$)", text or "")
    claims = [(_MARKER.sub("", part).strip(), [int(n) for n in _MARKER.findall(part)]) for part in said]
    return json.dumps({"claims": [_claim(text, numbers, prompt) for text, numbers in claims if text]})


def _claim(text: str, numbers: Sequence[int], prompt: Prompt) -> dict[str, object]:
    quotes = {n: _first_sentence(prompt.blocks.get(n, "")) for n in numbers}
    return {"text": text, "sources": [{"block": n, "quote": quotes[n]} for n in numbers]}


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", " ".join(text.split()), maxsplit=1)[0]
