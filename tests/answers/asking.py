"""POST /v1/query as a client sends it, and a small library to ask."""

import json
import re
from dataclasses import dataclass
from typing import Any

import httpx

from tests.provider import Provider
from tests.support.api import embed, ingest
from tests.support.pdf import make_pdf
from tests.support.stack import Stack
from tests.support.texts import markdown

QUESTION = "How tall is the lighthouse of Norderney?"


@dataclass(frozen=True, slots=True)
class Library:
    """Two documents: a PDF of two pages and a Markdown file of two sections."""

    stack: Stack
    client: httpx.Client
    provider: Provider
    pdf_id: str
    markdown_id: str


def make_library(stack: Stack, provider: Provider) -> Library:
    client = stack.client
    pages = [
        "The lighthouse of Norderney is 54 metres tall. It was lit in 1874.",
        "The lighthouse of Borkum is 60 metres tall. It was lit in 1879.",
    ]
    pdf = ingest(client, make_pdf(*pages, title="Towers"), "towers.pdf")
    sections = [
        ("North", "The lighthouse of Norderney is red. It has 253 steps."),
        ("South", "The lighthouse of Hamburg is green. It has 12 steps."),
    ]
    notes = ingest(client, markdown("Places", sections), "places.md")
    assert embed(client) == pdf["totalChunks"] + notes["totalChunks"]
    provider.forget_log()
    return Library(stack, client, provider, pdf["documentId"], notes["documentId"])


def platform(client: httpx.Client, text: str = QUESTION, **fields: Any) -> httpx.Response:
    return client.post("/v1/query", json={"query": text, **fields})


def markers(answer: str) -> list[int]:
    return [int(number) for number in re.findall(r"\[(\d+)\]", answer)]


def block_with(prompt: Any, words: str) -> int:
    """The number of the first block that holds the words."""
    return next(n for n, text in prompt.blocks.items() if words in " ".join(text.split()))


def streamed(client: httpx.Client, path: str, **fields: Any) -> list[tuple[str, Any]]:
    """The events of a stream, (name, data), read to its end."""
    headers = {"Accept": "text/event-stream", "Cache-Control": "no-cache"}
    with client.stream("POST", path, json=fields, headers=headers) as reply:
        assert reply.status_code == 200, reply.read()
        assert reply.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        return events_in(reply.read().decode())


def events_in(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.split("\n\n")[:-1]:
        if not block.startswith(":"):
            name, data = block.split("\n")
            assert (name[:7], data[:6]) == ("event: ", "data: ")
            found.append((name[7:], json.loads(data[6:])))
    return found


def text_of(events: list[tuple[str, Any]]) -> str:
    return "".join(data["text"] for name, data in events if name == "token")
