"""A small library that the tests of searching share; they only read. And searching in few words."""

from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.platform import talk
from tests.support.pdf import make_pdf
from tests.support.stack import Stack
from tests.support.texts import markdown

HASHING = (
    "Consistent hashing places both the nodes and the keys on a ring. A key belongs to the first node that "
    "follows it clockwise. When a node leaves, only the keys of that node move to another one."
)
BALANCING = (
    "A load balancer distributes incoming traffic across several servers. Round robin hands each request to "
    "the next server in turn. Health checks take a broken server out of rotation."
)
BREAD = (
    "Sourdough bread rises by wild yeast and bacteria. The starter is fed with flour and water every day. "
    "A loaf bakes for forty minutes at 230 degrees. A 100%_rye loaf takes longer."
)
TEA = (
    "Green tea is steeped at eighty degrees for two minutes. Boiling water makes it bitter. "
    'The leaves of the second harvest are called Nibancha. The path is C:\\tea\\leaves and it\'s "fine".'
)
RADIO = "Nikola Tesla demonstrated a radio-controlled boat in New York. It was steered by coded pulses."
CHINESE = "机器学习是人工智能的一个分支。它使用数据来训练模型。"


@dataclass(frozen=True)
class Library:
    """A PDF of two pages, a Markdown file of two sections, and two texts; the last in a second collection."""

    stack: Stack
    client: httpx.Client
    pdf_id: str
    markdown_id: str
    radio_id: str
    chinese_id: str
    other_collection: str


@pytest.fixture
def library(_local_stack: Stack) -> Library:
    return _local_stack.filled(fill)


def fill(stack: Stack) -> Library:
    client = stack.client
    outline = [("Hashing", 1), ("Balancing", 2)]
    pdf = make_pdf(HASHING, BALANCING, title="System design", outline=outline)
    kitchen = markdown("Kitchen", [("Bread", BREAD), ("Tea", TEA)])
    other = talk.collection(client, "Other")
    documents = (
        talk.file(pdf, "design.pdf", tags=["systems", "shared"], custom={"year": 2019, "draft": False}),
        talk.file(kitchen, "kitchen.md", tags=["food", "shared"], year=2021, author=["Ann", "Bob"]),
        talk.text(RADIO, "radio.txt", year="2021", on="2024-05-01T10:00:00Z", draft=True),
    )
    job = talk.ingested(client, *documents)
    ids = [document["id"] for document in job["documents"]]
    chinese = talk.stored(client, talk.text(CHINESE, "learning.txt"), to=other)
    return Library(stack, client, *ids, chinese, other)


def post(client: httpx.Client, query: Any, **body: Any) -> httpx.Response:
    return client.post("/v1/search", json={"query": query, **body})


def found(client: httpx.Client, query: str, *, mode: str = "hybrid", **body: Any) -> list[dict[str, Any]]:
    settings = {"mode": mode, "top_k": 50, **body.pop("settings", {})}
    reply = post(client, query, settings=settings, **body)
    assert reply.status_code == 200, reply.text
    return list(reply.json()["results"])
