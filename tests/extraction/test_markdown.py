"""Markdown files: the text stays as it was written; headings are found as a renderer finds them."""

import time

import pytest

from documents.extractors.failures import Unreadable
from documents.extractors.markdown import read_markdown
from documents.types import Heading

BOOK = """\
# The Cell

Cells are small.

## Walls **and** `pipes`

```
# not a heading
```

Deep *dive*
-----------

    # neither is code

### Even deeper {#even-deeper}
"""


def test_headings_are_those_a_renderer_shows() -> None:
    found = read_markdown(BOOK.encode())
    assert found.headings == (
        Heading(1, "The Cell", 0),
        Heading(2, "Walls and pipes", BOOK.index("## Walls")),
        Heading(2, "Deep dive", BOOK.index("Deep")),
        Heading(3, "Even deeper", BOOK.index("### Even")),
    )


def test_the_text_is_the_source() -> None:
    found = read_markdown(b"\xef\xbb\xbf" + BOOK.replace("\n", "\r\n").encode())
    assert found.text == BOOK.strip()
    assert (found.source, found.title, len(found.pages)) == ("MARKDOWN", "The Cell", 1)


def test_front_matter_is_metadata() -> None:
    found = read_markdown(b"---\ntitle: 'A Tale'\nauthor: Ann Lee\ntags:\n  - x\n---\n# One\n\nOnce.\n")
    assert (found.text, found.title) == ("# One\n\nOnce.", "A Tale")
    assert found.metadata == {"author": "Ann Lee", "tags": "x"}
    assert found.headings[0].start_char == 0


def test_a_rule_at_the_start_is_no_front_matter() -> None:
    assert read_markdown(b"---\n\nJust a rule above.").text == "---\n\nJust a rule above."
    between = "---\nThe warranty lasts five years.\n---\n\nMore."
    assert read_markdown(between.encode()).text == between
    assert read_markdown(b"---\nlayout: post\n---\nMore.").text == "More."


@pytest.mark.parametrize("data", [b"caf\xe9", b"a\x00b", "text".encode("utf-16")])
def test_what_is_not_utf8_text_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        read_markdown(data)


def test_lists_tables_and_code_are_blocks_of_the_source() -> None:
    source = "# A\n\n- one\n  - two\n\n  more\n\nText.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    source += "\n```py\nx = 1\n```\n\n    y\n"
    found = read_markdown(source.encode())
    assert [(block.kind, found.text[block.start_char : block.end_char]) for block in found.blocks] == [
        ("list", "- one\n  - two\n\n  more"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("code", "```py\nx = 1\n```"),
        ("code", "y"),
    ]


def test_front_matter_is_yaml() -> None:
    fields = "title: No\nauthors: [Ann Lee, Bob]\ndate: 2024-03-02\ntags:\n  - x\n  - y\ndraft: true\n"
    fields += "summary: >\n  Two\n  lines"
    found = read_markdown(f"---\n{fields}\n---\nText.".encode())
    assert (found.title, found.text) == ("No", "Text.")
    assert found.metadata == {
        "author": "Ann Lee, Bob",
        "date": "2024-03-02",
        "tags": "x, y",
        "description": "Two lines",
    }


@pytest.mark.parametrize(
    "fields",
    [
        "title: A: B",
        "title: A: B\n\tbad: [",
        "a: &a [x]\nb: [*a, *a]\ntitle: 'A: B'",
        "title: A: B\na: " + "[" * 9_999,
    ],
)
def test_front_matter_that_is_no_sane_yaml_is_read_by_line(fields: str) -> None:
    assert read_markdown(f"---\n{fields}\n---\nText.".encode()).title == "A: B"


README = """\
<h1 align="center">Quay</h1>
<p align="center"><a href="https://x.test"><img src="logo.png" alt="Quay"></a></p>

<!-- Nobody sees this -->
Rooms must be booked by <b style="color: red">May&nbsp;3rd</b>.<br>Write to <ann@x.test>, or ask `<b>Bo</b>`.

<table>
  <tr><th>Time</th><th>Talk</th></tr>

    <tr><td>09:00</td><td><em>Ships</em> and harbours</td></tr>
</table>

<ul><li>Tea</li><li>Milk</li></ul>

| Port | What |
|------|------|
| 80 | plain<br/>text |

```html
<p>kept</p>
```

Call `run(<name>)` with <name>: x<sup>2</sup> is less than H<sub>2</sub>O.
"""


def test_html_in_markdown_becomes_markdown() -> None:
    found = read_markdown(README.encode())
    assert found.text == (
        "# Quay\n\nRooms must be booked by May\u00a03rd.\nWrite to <ann@x.test>, or ask `<b>Bo</b>`.\n\n"
        "| Time | Talk |\n| --- | --- |\n| 09:00 | Ships and harbours |\n\n- Tea\n- Milk\n\n"
        "| Port | What |\n|------|------|\n| 80 | plain text |\n\n```html\n<p>kept</p>\n```\n\n"
        "Call `run(<name>)` with <name>: x<sup>2</sup> is less than H2O."
    )
    assert found.title == "Quay"
    assert [block.kind for block in found.blocks] == ["table", "list", "table", "code"]
    tables = [block.head for block in found.blocks if block.kind == "table"]
    assert [head and head.columns for head in tables] == [("Time", "Talk"), ("Port", "What")]


def test_a_list_in_a_cell_tears_no_table() -> None:
    table = "| Field | Values |\n|---|---|\n| mode | {} |\n| size | 1 to 9 |"
    found = read_markdown(table.format("<ul><li>fast</li><li>slow</li></ul>").encode())
    assert found.text == table.format("fast; slow")


def test_words_that_only_tags_keep_apart_stay_apart() -> None:
    source = "<ul><li>Tea</li><li>Milk <b>w</b>arm</li>\n\n<div><p>Ends</p><p>here&#1;</p></div>"
    assert read_markdown(source.encode()).text.split() == ["Tea", "Milk", "warm", "Ends", "here"]


def test_what_html_hides_is_left_out() -> None:
    source = (
        "<script>alert(1)</script>Seen<span style='display: none'> or <b>not</b></span>.\n\n"
        "<ul><li>one</li><li style='display:none'>two</li></ul>"
    )
    assert read_markdown(source.encode()).text == "Seen.\n\n- one"


@pytest.mark.parametrize("source", ["a < b and b > c", "<table> that is <!-- never closed", "List<String> x"])
def test_what_is_no_html_stays(source: str) -> None:
    words = [word for word in source.split() if word not in ("<table>", "<!--")]
    assert read_markdown(source.encode()).text.split() == words


def test_a_text_of_tags_alone_stays_as_it_is() -> None:
    assert read_markdown(b"<script>alert(1)</script>").text == "<script>alert(1)</script>"


@pytest.mark.parametrize(
    "unit",
    ["<ul>", "<table><tr>", "<!-- ", "`", "``x", "<a ", "&amp", "<pre></ul>", "<p style=display:none>"],
)
def test_html_is_read_in_linear_time(unit: str) -> None:
    def seconds(count: int) -> float:
        data = ("word " + unit * count).encode()
        started = time.process_time()
        read_markdown(data)
        return time.process_time() - started

    count = 50_000 // len(unit)
    small = min(seconds(count) for _ in range(3))
    assert seconds(16 * count) < 64 * max(small, 0.02)


def test_a_table_is_named_by_all_headings_right_above_it() -> None:
    (block,) = read_markdown(
        b"## Thursday\n### Morning\n\n| Time | Talk |\n|---|---|\n| 9 | Ships |\n"
    ).blocks
    assert block.head is not None
    assert block.head.title == "Thursday: Morning"


def test_neither_a_list_nor_a_chinese_sentence_is_the_title_of_the_table_below() -> None:
    for above in ("1. Close the window\n2. Lock the door", "员工的年休假为五天。"):
        page = f"{above}\n\n| Room | Code |\n|---|---|\n| Hall | 12 |\n"
        table = read_markdown(page.encode()).blocks[-1]
        assert table.head is not None
        assert (table.head.title, table.head.columns) == ("", ("Room", "Code"))
