"""A small library that the tests of asking and searching share; they only read."""

from dataclasses import dataclass

import httpx
import pytest

from tests.support.api import embed, ingest
from tests.support.pdf import make_pdf
from tests.support.stack import Stack
from tests.support.texts import markdown

HASHING = (
    "Consistent hashing places both the nodes and the keys on a ring. "
    "A key belongs to the first node that follows it clockwise. "
    "When a node leaves, only the keys of that node move to another one."
)
BALANCING = (
    "A load balancer distributes incoming traffic across several servers. "
    "Round robin hands each request to the next server in turn. "
    "Health checks take a broken server out of rotation."
)
THEOREM = (
    "The CAP theorem says that a distributed store cannot offer consistency, availability and partition "
    "tolerance all at once. Eric Brewer presented it in the year 2000."
)
BREAD = (
    "Sourdough bread rises by wild yeast and bacteria. The starter is fed with flour and water every day. "
    "A loaf bakes for forty minutes at 230 degrees."
)
TEA = (
    "Green tea is steeped at eighty degrees for two minutes. Boiling water makes it bitter. "
    "The leaves of the second harvest are called Nibancha."
)


@dataclass(frozen=True)
class Library:
    """One PDF of three pages with an outline, one Markdown file of two sections; all embedded."""

    stack: Stack
    client: httpx.Client
    pdf_id: str
    markdown_id: str
    chunks: int


@pytest.fixture
def library(_local_stack: Stack) -> Library:
    return _local_stack.filled(fill)


def fill(stack: Stack) -> Library:
    client = stack.client
    outline = [("Hashing", 1), ("Balancing", 2), ("Theorems", 3)]
    pdf = ingest(
        client, make_pdf(HASHING, BALANCING, THEOREM, title="System design", outline=outline), "design.pdf"
    )
    book = ingest(client, markdown("Kitchen", [("Bread", BREAD), ("Tea", TEA)]), "kitchen.md")
    chunks = embed(client)
    assert chunks == pdf["totalChunks"] + book["totalChunks"]
    return Library(stack, client, pdf["documentId"], book["documentId"], chunks)
