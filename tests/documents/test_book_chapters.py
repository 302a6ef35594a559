"""Books of which each section is a file: their chapter is what the chapter's own file is called."""

import json

import httpx
import pytest

from tests.support.api import ingest
from tests.support.stack import Stack

FILES = {
    "ch04-00-ownership.md": b"# Understanding Ownership\n\nOwnership is what makes Rust safe.\n",
    "ch04-01-rules.md": b"## What Is Ownership?\n\nEach value has one.\n\n### Rules\n\nOne owner.\n",
    "ch04-02-borrowing.md": b"## References\n\nA reference borrows.\n",
    "ch05-01-structs.md": b"## Defining Structs\n\nA struct holds fields.\n",
    "appendix-00.md": b"# Appendix\n\nIt is for reference.\n",
    "appendix-02-operators.md": b"## Operators\n\nPlus adds.\n",
    "2.1.0-basics.md": b"# Basics\n\nIt begins here.\n",
    "2.1.10-numbers.md": b"# Numbers\n\nThere are many.\n\n## Odd\n\nOne is odd.\n",
    "2024-03-01.md": b"## March\n\nRain.\n",
}


def places(server: Stack, name: str) -> set[tuple[str, str]]:
    rows = server.sql(
        "SELECT c.chapter, c.section FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id"
        " WHERE d.original_filename = %s",
        name,
    )
    return {(row["chapter"], row["section"]) for row in rows}


def bring(client: httpx.Client, *names: str) -> None:
    for name in names:
        ingest(client, FILES[name], name)


@pytest.mark.parametrize("names", [tuple(FILES), tuple(FILES)[::-1]], ids=["in order", "backwards"])
def test_whichever_file_comes_first_sections_know_their_chapter(
    server: Stack, client: httpx.Client, names: tuple[str, ...]
):
    bring(client, *names)
    assert {name: places(server, name) for name in FILES} == {
        "ch04-00-ownership.md": {("Understanding Ownership", "")},
        "ch04-01-rules.md": {("Understanding Ownership", "What Is Ownership?")},
        "ch04-02-borrowing.md": {("Understanding Ownership", "References")},
        "ch05-01-structs.md": {("", "Defining Structs")},
        "appendix-00.md": {("Appendix", "")},
        "appendix-02-operators.md": {("Appendix", "Operators")},
        "2.1.0-basics.md": {("Basics", "")},
        "2.1.10-numbers.md": {("Numbers", ""), ("Numbers", "Odd")},
        "2024-03-01.md": {("", "March")},
    }


def test_a_later_file_of_the_chapter_names_it_anew(server: Stack, client: httpx.Client):
    bring(client, "ch04-00-ownership.md", "ch04-01-rules.md")
    ingest(client, b"# Owning\n\nOwning is what makes Rust safe.\n", "ch04-00-owning.md")
    assert places(server, "ch04-01-rules.md") == {("Owning", "What Is Ownership?")}
    assert places(server, "ch04-00-ownership.md") == {("Understanding Ownership", "")}


def test_a_file_that_others_may_not_read_names_nothing_for_them(server: Stack, client: httpx.Client):
    bring(client, "ch04-00-ownership.md")
    restricted = {"visibility": "restricted", "allowed_users": ["somebody"]}
    server.sql("UPDATE documents_document SET permissions = %s RETURNING id", json.dumps(restricted))
    bring(client, "ch04-01-rules.md")
    assert places(server, "ch04-01-rules.md") == {("", "What Is Ownership?")}
