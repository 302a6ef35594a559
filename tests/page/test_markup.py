"""The little Markdown of answers, read by the page's own module in a browser."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.page.conftest import OpenPage
from tests.support.stack import Stack


@pytest.fixture
def parse(server: Stack, open_page: OpenPage) -> Any:
    page: Page = open_page(server)

    def parse(answer: str) -> Any:
        return page.evaluate(
            "async (text) => (await import('/static/page/markup.js')).parseAnswer(text)", answer
        )

    return parse


def kinds(blocks: list[Any]) -> list[tuple[str, int]]:
    return [(block["kind"], len(block["rows"])) for block in blocks]


def pieces(blocks: list[Any]) -> list[Any]:
    return [piece for block in blocks for row in block["rows"] for cell in row for piece in cell]


def test_paragraphs_lists_headings_code_and_tables_are_told_apart(parse: Any):
    answer = (
        "## Towers\nTwo lines\nof a paragraph.\n\n- one\n- two\n\n1. first\n2. second\n\n"
        "```\nif x:\n  y\n```\n| a | b |\n|---|---|\n| c | d |\n"
    )

    assert kinds(parse(answer)) == [
        ("heading", 1),
        ("p", 1),
        ("ul", 2),
        ("ol", 2),
        ("pre", 2),
        ("table", 2),
    ]


def test_every_piece_stands_where_it_says(parse: Any):
    answer = "- The *tower* has **253 steps** [1].\n😀 `x` costs 5 * 3 [12], __all of it__.\n| a [2] | b |"

    for piece in pieces(parse(answer)):
        if "marker" in piece:
            assert answer[piece["start"] :].startswith(f"[{piece['marker']}]")
        elif piece["text"] != " ":
            assert answer[piece["start"] : piece["start"] + len(piece["text"])] == piece["text"]


@pytest.mark.parametrize(
    "text",
    [
        "<b>bold</b>",
        "[x](https://evil.example)",
        "![x](https://evil.example/p.png)",
        "2 * 3 * 4",
        "snake_case_name",
    ],
)
def test_what_is_no_markup_here_stays_as_it_is(parse: Any, text: str):
    blocks = parse(text)

    assert "".join(piece["text"] for piece in pieces(blocks)) == text
    assert {piece["style"] for piece in pieces(blocks)} == {""}
