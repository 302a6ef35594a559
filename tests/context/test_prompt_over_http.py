"""What a chat model is shown, seen from the provider."""

import re
from random import Random

from rag.answering.parts import count_tokens
from rag.prompts import SYSTEM
from rag.synthesizers import claims
from tests.context.text import sentences
from tests.platform.talk import ingested, text
from tests.provider import Provider
from tests.support.api import ask, embed, ingest
from tests.support.pdf import make_pdf
from tests.support.provider.prompts import Prompt
from tests.support.stack import Stack
from tests.support.texts import markdown

SIZES = {"chunk_size": 120, "chunk_overlap": 40}


def told(server: Stack, provider: Provider, query: str, **fields: int) -> Prompt:
    provider.forget_log()
    assert ask(server.client, query, **fields).status_code == 200
    return provider.calls("chat")[0].prompt


def platform_prompt(server: Stack, provider: Provider, query: str, **fields: int) -> Prompt:
    provider.forget_log()
    reply = server.client.post("/v1/query", json={"query": query, "settings": fields})
    assert reply.status_code == 200, reply.text
    return provider.calls("chat")[0].prompt


def said(prompt: Prompt) -> list[str]:
    return re.findall(r"Sentence \d+\.\d+", " ".join(prompt.blocks.values()))


def test_no_text_twice_and_room_for_the_reply(provider_server: Stack, provider: Provider) -> None:
    """Two documents in chunks that overlap, together longer than what a prompt may hold."""
    random = Random(1)
    for document in (1, 2):
        words = " ".join(sentences(160, document=document, random=random))
        ingested(provider_server.client, text(words, f"{document}.txt"), settings=SIZES)
    query = "Which stone tower stands at the old market?"
    long = told(provider_server, provider, query, topK=50)
    short = told(provider_server, provider, query, topK=50, maxTokens=100)

    assert count_tokens(long.text) <= 3000
    assert 3000 < count_tokens(short.text) <= 3900  # there is text enough to fill it
    for prompt in (long, short):
        assert prompt.numbers == list(range(1, len(prompt.blocks) + 1))
        assert len(said(prompt)) == len(set(said(prompt))) >= 100
        assert prompt.questions == [query]


def test_the_same_paragraph_of_two_documents_is_shown_once(
    provider_server: Stack, provider: Provider
) -> None:
    paragraph = "The stone tower of the old market has 253 steps and a bell."
    for name, content in (
        ("a.txt", paragraph),
        ("b.txt", f"A word before.  {paragraph.replace(' of', chr(10) + 'of')}"),
    ):
        ingested(provider_server.client, text(content, name))
    prompt = told(provider_server, provider, "How many steps has the stone tower?")
    assert len(prompt.blocks) == 1
    assert "A word before." in prompt.blocks[1]


def test_each_block_names_document_page_and_section(provider_server: Stack, provider: Provider) -> None:
    client = provider_server.client
    ingested(client, text("The lamp of the tower burns oil.", "Chunk 7: [2] lamp.txt"))
    ingest(client, make_pdf("The tower is old.", "The tower has 253 steps."), "towers.pdf")
    ingest(client, markdown("Bells", [("Large", "The bell of the tower weighs 900 kilograms.")]), "bells.md")
    embed(client)
    prompt = platform_prompt(provider_server, provider, "What is known of the tower?")
    assert set(prompt.places.values()) == {
        "(document: Chunk 7 - (2) lamp.txt)",
        "(document: towers.pdf, pages 1-2)",
        "(document: bells.md, section: Bells / Large)",
    }
    assert prompt.numbers == [1, 2, 3]


def test_the_prompts_are_short() -> None:
    assert count_tokens(SYSTEM) < 500
    assert count_tokens(claims.SYSTEM) < 500
