"""What a model says to the Service's prompt."""

import re

from tests.support.provider.prompts import Prompt

_SOURCE = re.compile(r"^\[([^\[\]\n]+)\]: (.+)", re.MULTILINE)


def sources(prompt: Prompt) -> dict[str, str]:
    """The texts of the prompt by their labels, such as "safety_manual.pdf, p.5"."""
    return dict(_SOURCE.findall(prompt.user))


def quotes(prompt: Prompt) -> str:
    """Two sentences of the first source, as the document's example marks them."""
    label, text = next(iter(sources(prompt).items()))
    sentences = re.split(r"(?<=\.) ", text)[:2]
    return " ".join(f"{sentence.rstrip('.')} [{label}]." for sentence in sentences)
