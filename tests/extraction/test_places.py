"""Whatever is read, the places that are told are exact, and reading twice gives the same."""

import io
import re
from collections.abc import Callable

import docx
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.extractors.docx import read_docx
from documents.extractors.failures import Unreadable
from documents.extractors.html import read_html
from documents.extractors.markdown import read_markdown
from documents.extractors.sandbox.wire import pack, unpack
from documents.extractors.text import read_text
from documents.text.characters import has_text
from documents.types import Extraction

# What documents are made of: words, white space of all kinds, what cannot be seen or stored.
WORDS = st.text(
    st.sampled_from("aé ß文\u0301\u200b\u202e\xa0\t\n\r\x0b\x0c\x07\ufeff\ufb01\U0001f600.<>&|#-*`_1\\"),
    max_size=20,
)
PIECES = st.lists(
    st.tuples(st.sampled_from(["h1", "h2", "h4", "p", "ul", "ol", "table", "pre", "div"]), WORDS, WORDS),
    max_size=12,
)
EXAMPLES = settings(max_examples=60, deadline=None)


def check(read: Callable[[bytes], Extraction], data: bytes) -> Extraction | None:
    try:
        found = read(data)
    except Unreadable:
        return None
    assert read(data) == found
    assert unpack(pack(found)) == found
    assert found.text == found.text.strip()
    assert [(page.start_char, page.end_char) for page in found.pages] == [(0, len(found.text))]
    for heading in found.headings:
        line = found.text[heading.start_char :].split("\n", 1)[0]
        assert heading.start_char == 0 or found.text[heading.start_char - 1] == "\n"
        assert found.source == "MARKDOWN" or line == heading.title
    for block in found.blocks:
        inner = found.text[block.start_char : block.end_char]
        assert inner == inner.strip()
        assert has_text(inner) or found.source == "MARKDOWN"
        assert not found.text[: block.start_char].rpartition("\n")[2].strip()
        assert not found.text[block.end_char :].partition("\n")[0].strip()
    return found


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def as_html(kind: str, first: str, second: str) -> str:
    first, second = escaped(first), escaped(second)
    if kind in ("ul", "ol"):
        return f"<{kind}><li>{first}<ul><li>{second}</li></ul></li><li>{second}</li></{kind}>"
    if kind == "table":
        return f"<table><tr><th>{first}</th><th>{second}</th></tr><tr><td>{second}</td></tr></table>"
    return f"<{kind}>{first}<b>{second}</b></{kind}>"


@EXAMPLES
@given(PIECES)
def test_pages(pieces: list[tuple[str, str, str]]) -> None:
    body = "".join(as_html(*piece) for piece in pieces)
    check(read_html, f"<html><body><article>{body}</article></body></html>".encode())


@EXAMPLES
@given(st.text("<>/ abhpliutdre='\"!-&;x", max_size=200))
def test_broken_pages(markup: str) -> None:
    check(read_html, f"<html><body>{markup}".encode())


def as_docx(pieces: list[tuple[str, str, str]]) -> bytes:
    document = docx.Document()
    for kind, first, second in pieces:
        first, second = (re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f]", "", text) for text in (first, second))
        if kind.startswith("h"):
            document.add_heading(first, int(kind[1]))
        elif kind in ("ul", "ol"):
            document.add_paragraph(first, style="List Bullet" if kind == "ul" else "List Number")
            document.add_paragraph(second, style="List Bullet 2")
        elif kind == "table":
            table = document.add_table(2, 2)
            table.cell(0, 0).text, table.cell(1, 1).text = first, second
        else:
            document.add_paragraph(first)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


@settings(EXAMPLES, max_examples=25)
@given(PIECES)
def test_word_files(pieces: list[tuple[str, str, str]]) -> None:
    check(read_docx, as_docx(pieces))


def as_markdown(kind: str, first: str, second: str) -> str:
    made = {
        "h1": f"# {first}\n",
        "h2": f"{first}\n---\n",
        "h4": f"#### {first} ####\n",
        "ul": f"- {first}\n  - {second}\n",
        "ol": f"1. {first}\n2. {second}\n",
        "table": f"| {first} | b |\n|---|---|\n| {second} | 1 |\n",
        "pre": f"```\n{first}\n```\n",
        "div": f"    {first}\n",
    }
    return made.get(kind, f"{first}\n{second}\n")


@EXAMPLES
@given(PIECES)
def test_markdown(pieces: list[tuple[str, str, str]]) -> None:
    found = check(read_markdown, "\n".join(as_markdown(*piece) for piece in pieces).encode())
    for block in found.blocks if found else ():
        if block.kind == "list":
            assert re.match(r"[> ]*([-*+]|\d)", found.text[block.start_char :])


@EXAMPLES
@given(st.text(max_size=200) | WORDS)
def test_plain_text(text: str) -> None:
    check(read_text, text.encode("utf-8", "replace"))


@EXAMPLES
@given(st.binary(max_size=300), st.sampled_from(["html", "text", "markdown", "docx"]))
def test_any_bytes_at_all(data: bytes, kind: str) -> None:
    readers: dict[str, Callable[[bytes], Extraction]] = {
        "html": read_html,
        "text": read_text,
        "markdown": lambda data: read_markdown(data, any_encoding=True),
        "docx": read_docx,
    }
    check(readers[kind], data)
