"""Context assembly, clean text and snippets."""

import time

import pytest

from rag.citations.numbering import plain_text, snippet
from rag.context.fitting import assemble
from rag.context.selection import distinct
from tests.rag.factory import passage


def test_equal_chunks_and_equal_words_stand_in_the_context_once():
    first, again, other = passage(1, "Same words."), passage(1, "Same words."), passage(2, "Same \n words.")
    assert list(distinct([first, again, other, passage(3, "Others.")])) == [first, passage(3, "Others.")]


def test_the_context_keeps_to_its_budget_and_its_order():
    passages = [passage(1, token_count=60), passage(2, token_count=50), passage(3, token_count=40)]
    assert [p.chunk_index for p in assemble(passages, budget_tokens=130).passages] == [1, 3]


def test_ten_chunks_of_500_tokens_fill_4000():
    assert len(assemble(passage(n, token_count=500) for n in range(1, 11)).blocks) == 8


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("# Title\nText", "Title\nText"),
        ("**Bold** and *italic* and __bold__ and _italic_", "Bold and italic and bold and italic"),
        ("- one\n* two\n+ three", "one\ntwo\nthree"),
        ("> quoted", "quoted"),
        ("`code` and\n```python\nx = 1\n```", "code and\n\nx = 1"),
        ("See [the site](https://example.org/a) ![pic](http://203.0.113.1/x.png)", "See the site pic"),
        ("snake_case_name and 2*3*4 and a * b", "snake_case_name and 2*3*4 and a * b"),
        ("1. First\n2. Second", "1. First\n2. Second"),
        ("one\n---\ntwo", "one\n\ntwo"),
        ("one\n\n* * *\n\ntwo", "one\n\ntwo"),
        ("Title\n=====\nText", "Title\n\nText"),
        ("**The *x* y** and *the **x** y* and ***both***", "The x y and the x y and both"),
        ("**a_file_name** and ~~gone~~ and ~20", "a_file_name and gone and ~20"),
        (r"2 \* 3 \* 4 and \_x\_", "2 * 3 * 4 and _x_"),
        ("| Tower | Steps |\n|:---|---:|\n| **North** | 120 |", "Tower, Steps\nNorth, 120"),
        ("either | or", "either | or"),
    ],
)
def test_markdown_goes_and_the_words_stay(markdown: str, plain: str):
    assert plain_text(markdown) == plain


@pytest.mark.parametrize(
    "piece",
    ["*", "_", "`", "[a](", "![", "#", "# ", ">", "- ", "* ", "**a", "~~a", "| ", "|-", "=", "\\*", "\n"],
)
def test_clean_text_takes_linear_time(piece: str):
    text = piece * (200_000 // len(piece)) + "x"
    started = time.process_time()
    plain_text(text)
    assert time.process_time() - started < 4


CONTENT = "The ring holds keys. " * 20 + "The capital of France is Paris. " + "Nodes leave at times. " * 20


def test_a_snippet_begins_with_the_sentence_of_the_claim():
    found = snippet(CONTENT, "Paris is the capital of France")
    assert found.startswith("The capital of France is Paris.")
    assert found in CONTENT
    assert 100 < len(found) <= 200


def test_a_short_chunk_is_its_own_snippet():
    assert snippet("One short sentence.", "anything") == "One short sentence."


def test_a_long_sentence_is_cut_between_words():
    content = "word " * 200
    found = snippet(content, "word")
    assert len(found) <= 200
    assert content.startswith(found + " ")


def test_a_snippet_of_text_without_spaces_is_bounded():
    assert len(snippet("漢字" * 1000, "漢字")) == 200
