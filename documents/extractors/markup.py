"""The walk over a tree of elements, HTML's or trafilatura's, that composes its text. In the sandbox only."""

import re
from collections.abc import Iterator, Set
from typing import Any

from lxml import etree

from documents.extractors.composer import Composer
from documents.text.tables import is_sentence, join_heads

_MAX_DEPTH = 200  # deeper elements give their text and no structure
_LEVELS = {f"h{level}": level for level in range(1, 7)}
_OPENED = (*_LEVELS, "summary")  # a button in these holds their words, and shows what is below
_LISTS = frozenset({"list", "ul", "ol", "dl", "menu", "dir"})
_ITEMS = frozenset({"item", "li", "dt", "dd"})
_ROWS = frozenset({"row", "tr", "thead"})  # many heads have their cells without a row
_CELLS = frozenset({"cell", "td", "th"})
_BREAKS = frozenset({"lb", "br"})
# fmt: off
_BLOCKS = frozenset({
    "p", "div", "section", "article", "main", "header", "footer", "aside", "nav", "body", "html",
    "quote", "blockquote", "address", "figure", "figcaption", "details", "summary", "form", "fieldset",
    "legend", "center", "hgroup", "caption", "thead", "tbody", "tfoot", "row", "tr", "cell", "td", "th",
    "item", "li", "dt", "dd", "hr", "ab", "noframes", "frameset"
})
# fmt: on
_APART = _BLOCKS | _BREAKS | _LISTS | _LEVELS.keys() | {"head", "table", "pre"}  # from the words around
# fmt: off
_NEVER_SHOWN = (
    "script", "style", "noscript", "template", "iframe", "object", "embed", "applet", "svg", "math",
    "canvas", "audio", "video", "map", "select", "option", "textarea", "button", "input", "dialog",
    "rt", "rp"  # how the word before is spoken
)
# fmt: on
HIDDEN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)  # a style
_VALUE = re.compile(r"(?<!\d)(?!(?:19|20)\d\d(?!\d))\d")  # a number that is no year: no head has one
_MAX_TERM = 120  # characters of what stands on one line with its meaning
_LINE_END = "\x00"  # stands for <br> until white space is collapsed


def compose(root: Any, composer: Composer, *, without: Set[str] = frozenset()) -> None:
    """Add the content of `root` in reading order. without: tags that are left out with their content."""
    walker = _Walker(composer, without)
    walker.walk_children(root, 0)
    walker.flush()


def drop_hidden_elements(tree: Any) -> None:
    """Drop scripts, and what the page itself hides, which is where instructions to models are smuggled in."""
    for element in list(tree.iter(*_NEVER_SHOWN)):
        if element.tag == "button" and next(element.iterancestors(*_OPENED), None) is not None:
            element.drop_tag()
        else:
            element.drop_tree()
    for element in list(tree.xpath("//body//*[@style or @hidden]")):
        hidden = element.get("hidden") is not None and element.get("role") != "tabpanel"
        if (hidden or HIDDEN.search(element.get("style", ""))) and element.getparent() is not None:
            element.drop_tree()


def text_of(element: Any) -> str:
    """Return all text of the element as one line, with a space where a line or a block begins or ends."""
    return " ".join("".join(_iter_text(element)).split())


def _iter_text(element: Any) -> Iterator[str]:
    for event, part in etree.iterwalk(element, events=("start", "end")):
        if part.tag in _APART:
            yield " "
        if event == "start":
            yield part.text or ""
        elif part is not element:
            yield part.tail or ""


class _Walker:
    """Collects inline text until a block begins or ends."""

    def __init__(self, composer: Composer, without: Set[str]) -> None:
        self._composer, self._without = composer, without
        self._inline: list[str] = []

    def flush(self) -> None:
        text, self._inline = "".join(self._inline), []
        lines = [" ".join(line.split()) for line in text.split(_LINE_END)]
        self._composer.add_paragraph("\n".join(lines))

    def walk_children(self, element: Any, depth: int) -> None:
        self._collect(element.text)
        for child in element:
            if isinstance(child.tag, str) and child.tag not in self._without:
                self._element(child, depth + 1)
            self._collect(child.tail)

    def _collect(self, text: str | None) -> None:
        if text:
            self._inline.append(text.replace(_LINE_END, ""))

    def _element(self, element: Any, depth: int) -> None:
        tag = element.tag
        level = _LEVELS.get(element.get("rend", "h2") if tag == "head" else tag)
        if depth > _MAX_DEPTH:
            self._collect(" ".join(element.itertext()))
        elif tag in _BREAKS:
            self._inline.append(_LINE_END)
        elif level is not None:
            self.flush()
            self._composer.add_heading(level, text_of(element))
        elif _is_code_block(element):
            self.flush()
            self._composer.add_code("".join(element.itertext()))
        elif tag in _LISTS:
            self.flush()
            self._list(element, depth, 0)
            self._composer.end_block()
        elif tag == "table" and not _is_layout(element):
            self.flush()
            self._table(element)
        elif tag in _BLOCKS or tag == "table":
            self.flush()
            self.walk_children(element, depth)
            self.flush()
        else:
            self.walk_children(element, depth)

    def _list(self, element: Any, depth: int, indent: int) -> None:
        number = _read_start_number(element)
        terms: list[str] = []
        for item in element:
            if not isinstance(item.tag, str) or item.tag in self._without:
                continue
            if item.tag in _LISTS:
                self._list(item, depth + 1, indent + 1)
            elif item.tag not in _ITEMS:  # <div> about the items of a <dl>, and invalid pages
                self._list(item, depth + 1, indent) if len(item) else self._line(text_of(item), "", indent)
            elif _kind_of(item) == "dt":
                terms.append(text_of(item))
            else:
                mark = self._term(terms, item, indent) or (f"{number}. " if _is_ordered(element) else "- ")
                number, terms = number + 1, []
                self._item(item, depth + 1, mark, indent)
        self._terms(terms, indent)

    def _term(self, terms: list[str], meaning: Any, indent: int) -> str:
        """Return what is written before a meaning: its terms and a colon, "- -q, --quiet: ", or "" after they
        had lines of their own: a question, what is long, and what is told by a list or a program.
        """
        term = ", ".join(filter(None, terms))
        first = next(_split_item(meaning), "") if not (meaning.text or "").strip() else meaning.text
        if 0 < len(term) <= _MAX_TERM and term[-1] not in "?!.:;…" and isinstance(first, str):
            return f"- {term}: "
        self._terms(terms, indent)
        return ""

    def _terms(self, terms: list[str], indent: int) -> None:
        for term in terms:
            self._line(term, "", indent)

    def _item(self, item: Any, depth: int, mark: str, indent: int) -> None:
        """Add an item's own text as one line, then what is nested in it."""
        if depth > _MAX_DEPTH:
            self._line(text_of(item), mark, indent)
            return
        words: list[str] = [item.text or ""]
        for part in _split_item(item):
            if isinstance(part, str):
                words.append(part)
                continue
            self._line("".join(words), mark, indent)
            mark, words = (mark if not "".join(words).strip() else ""), []
            if part.tag in _LISTS:
                self._list(part, depth + 1, indent + 1)
            else:
                self._element(part, depth + 1)
        self._line("".join(words), mark, indent)

    def _line(self, text: str, mark: str, indent: int) -> None:
        if text.strip():
            self._composer.add_line("list", f"{mark}{text}", indent=indent)

    def _table(self, table: Any) -> None:
        for caption in table.iter("caption"):
            self._composer.add_paragraph(text_of(caption))
        self._composer.end_block()
        above: dict[int, tuple[str, int]] = {}
        rows = [_read_cells(row, above) for row in table.iter(*_ROWS) if _has_cells(row)]
        if _tells_terms(table, rows):
            for term, meaning in rows:
                self._line(f"{term}: {meaning}", "- ", 0)
        else:
            for cells in join_heads(rows):
                self._composer.add_row(cells)
        self._composer.end_block()


def _has_cells(row: Any) -> bool:
    return any(cell.tag in _CELLS for cell in row)


def _read_cells(row: Any, above: dict[int, tuple[str, int]]) -> list[str]:
    """Return the texts of a row: one that goes on from above again, so that a row reads by itself, and empty
    ones for what a cell covers of the columns to its right.

    above: by column, the text that goes on there, and in how many rows; kept from row to row.
    """
    cells: list[str] = []
    for cell in row:
        if cell.tag in _CELLS:
            _go_on(cells, above)
            texts = [text_of(cell), *[""] * (_read_span(cell, "colspan") - 1)]
            if (rows := _read_span(cell, "rowspan")) > 1:
                above.update((len(cells) + place, (text, rows - 1)) for place, text in enumerate(texts))
            cells += texts
    _go_on(cells, above)
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _go_on(cells: list[str], above: dict[int, tuple[str, int]]) -> None:
    while len(cells) in above:
        place = len(cells)
        text, rows = above.pop(place)
        if rows > 1:
            above[place] = text, rows - 1
        cells.append(text)


def _read_span(cell: Any, name: str) -> int:
    span = cell.get(name, "1")
    return max(1, int(span)) if span.isascii() and span.isdigit() and len(span) < 3 else 1


def _tells_terms(table: Any, rows: list[list[str]]) -> bool:
    """Tell if a table without heads has a term and its meaning in each row, as the lists of DocBook and
    AsciiDoc may be set; or a name and its value ("Christmas Day", "December 25"), the first row too.
    """
    if any(cell.tag == "th" or cell.get("role") == "head" for cell in table.iter(*_CELLS)):
        return False
    if not rows or not all(len(cells) == 2 and 0 < len(cells[0]) <= _MAX_TERM for cells in rows):
        return False
    return _VALUE.search(rows[0][1]) is not None or any(is_sentence(meaning) for _, meaning in rows)


def _split_item(item: Any) -> Iterator[Any]:
    """Yield the inline text of an item as strings, and its lists, tables and code as elements."""
    for child in item:
        if isinstance(child.tag, str):
            if child.tag in _LISTS or child.tag == "table" or _is_code_block(child):
                yield child
            elif child.tag in _BLOCKS and any(_holds_block(part) for part in child.iter()):
                yield " " + (child.text or "")
                yield from _split_item(child)
            else:
                yield "".join(_iter_text(child))
        yield child.tail or ""


def _holds_block(element: Any) -> bool:
    return element.tag in _LISTS or element.tag in ("table", "pre", "code")


def _is_code_block(element: Any) -> bool:
    """Tell if it is <pre>, or trafilatura's <code> that stands alone or has several lines."""
    if element.tag == "pre":
        return True
    if element.tag != "code":
        return False
    parent = element.getparent()
    alone = parent is not None and parent.tag == "body"
    return alone or any("\n" in text for text in element.itertext())


def _is_layout(table: Any) -> bool:
    """Tell if a table is for layout only: it holds another, or headings in cells, or a single column."""
    if table.find(".//table") is not None or next(table.iter(*_LEVELS), None) is not None:
        return True
    return all(sum(cell.tag in _CELLS for cell in row) < 2 for row in table.iter(*_ROWS))


def _is_ordered(element: Any) -> bool:
    return bool(element.tag == "ol" or element.get("rend") == "ol")


def _read_start_number(element: Any) -> int:
    start = element.get("start", "1")
    return int(start) if start.isascii() and start.isdigit() and len(start) < 7 else 1


def _kind_of(item: Any) -> str:
    """Return "dt" or "dd" for a term or its meaning, also where trafilatura has made an item of it."""
    return str(item.get("rend", "")[:2] if item.tag == "item" else item.tag)
