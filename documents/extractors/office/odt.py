"""The reader of OpenDocument texts: bytes -> Extraction. Runs in the sandbox only."""

from collections.abc import Iterator
from typing import Any

from documents.extractors.composer import Composer
from documents.extractors.failures import PasswordNeeded, Unreadable
from documents.extractors.packages import clean_fields, open_package, parse_xml
from documents.text.characters import clean_label
from documents.types import Extraction

BROKEN_ODT = "The ODT is damaged and cannot be read."
_MAX_DEPTH = 100
_MAX_REPEATED = (
    50  # equal cells or rows in a table; blank ones to the edge of the paper are counted by the million
)
_OASIS = "urn:oasis:names:tc:opendocument:xmlns"
_TEXT, _TABLE = f"{{{_OASIS}:text:1.0}}", f"{{{_OASIS}:table:1.0}}"
_OFFICE, _DRAW, _META = f"{{{_OASIS}:office:1.0}}", f"{{{_OASIS}:drawing:1.0}}", f"{{{_OASIS}:meta:1.0}}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_LEFT_OUT = frozenset(
    {
        f"{_TEXT}tracked-changes",
        f"{_OFFICE}annotation",
        f"{_OFFICE}forms",
        f"{_OFFICE}scripts",
        f"{_TEXT}sequence-decls",
        f"{_TEXT}table-of-content",
        f"{_TEXT}note-citation",
        f"{_TEXT}ruby-text",
    }
)
_LINES = frozenset({f"{_TEXT}p", f"{_TEXT}h"})
_BOX = f"{_DRAW}text-box"
_ASIDE = (f"{_TEXT}note", f"{_OFFICE}annotation")  # what their lines say stands in another, or is left out


def read_odt(data: bytes) -> Extraction:
    """Read a text without headers, footers, comments and deleted text. Raises Unreadable."""
    with open_package(data, BROKEN_ODT) as archive:
        try:
            if b"encryption-data" in archive.read("META-INF/manifest.xml"):
                raise PasswordNeeded
            composer = Composer()
            for body in parse_xml(archive.read("content.xml")).iter(f"{_OFFICE}text"):
                _compose(body, composer, 0)
            title, metadata = _read_meta(
                archive.read("meta.xml") if "meta.xml" in archive.namelist() else b""
            )
        except (Unreadable, MemoryError, RecursionError):
            raise
        except Exception as exc:  # KeyError, BadZipFile, zlib.error, XMLSyntaxError…
            raise Unreadable(BROKEN_ODT) from exc
    return composer.finish("ODT", title=title, metadata=metadata)


def _read_meta(data: bytes) -> tuple[str, dict[str, str]]:
    if not data:
        return "", {}
    meta = parse_xml(data)
    names = {
        "author": f"{_META}initial-creator",
        "subject": f"{_DC}subject",
        "keywords": f"{_META}keyword",
        "description": f"{_DC}description",
        "language": f"{_DC}language",
        "created": f"{_META}creation-date",
        "modified": f"{_DC}date",
    }
    fields = {name: meta.findtext(f".//{tag}") for name, tag in names.items()}
    fields["author"] = fields["author"] or meta.findtext(f".//{_DC}creator")
    return clean_label(meta.findtext(f".//{_DC}title") or ""), clean_fields(fields)


def _compose(parent: Any, composer: Composer, depth: int, indent: int = 0) -> None:
    for child in parent:
        tag = child.tag
        if tag in _LEFT_OUT:
            continue
        if depth > _MAX_DEPTH:
            composer.add_paragraph(_read_inline(child))
        elif tag == f"{_TEXT}h":
            composer.add_heading(_read_level(child), _read_inline(child))
        elif tag == f"{_TEXT}p":
            composer.add_paragraph(_read_inline(child))
            for box in _iter_boxes(child):
                _compose(box, composer, depth + 1)
        elif tag == f"{_TEXT}list":
            _compose_list(child, composer, depth, indent)
            if not indent:
                composer.end_block()
        elif tag == f"{_TABLE}table":
            _compose_table(child, composer, depth)
        else:
            _compose(child, composer, depth + 1)


def _compose_list(items: Any, composer: Composer, depth: int, indent: int) -> None:
    """Add the items of a list; whether they are numbered is a matter of styles, and not told."""
    for item in items:
        mark = "- "
        for part in item:
            if part.tag == f"{_TEXT}list" and depth < _MAX_DEPTH:
                _compose_list(part, composer, depth + 1, indent + 1)
            elif part.tag == f"{_TEXT}h":  # a heading is numbered as a list is
                composer.add_heading(_read_level(part), _read_inline(part))
            elif (text := _read_inline(part)).strip():
                composer.add_line("list", mark + text, indent=indent)
                mark = ""


def _compose_table(table: Any, composer: Composer, depth: int) -> None:
    rows = [
        [cell for cell in row if cell.tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")]
        for row in _iter_rows(table)
    ]
    if all(len(row) < 2 for row in rows):  # a frame around text, not a table
        for row in rows:
            for cell in row:
                _compose(cell, composer, depth + 1)
        return
    composer.end_block()
    above: dict[int, tuple[str, int]] = {}
    for row in rows:
        cells = _read_cells(row, above)
        while cells and not cells[-1]:
            cells.pop()
        composer.add_row(cells)
    composer.end_block()


def _read_cells(row: list[Any], above: dict[int, tuple[str, int]]) -> list[str]:
    """Return the texts of a row, with those of cells that go on from above, so that a row reads by itself.

    above: by column, the text that goes on there, and in how many rows; kept from row to row.
    """
    cells: list[str] = []
    for cell in row:
        own, rows = _read_cell(cell), _count(cell, "rows-spanned")
        for _ in range(_count_repeated(cell, "columns")):
            text, left = above.pop(len(cells), ("", 0))
            if cell.tag != f"{_TABLE}covered-table-cell" or not left:
                text, left = own, rows
            if left > 1:
                above[len(cells)] = text, left - 1
            cells.append(text)
    return cells


def _iter_rows(table: Any) -> Iterator[Any]:
    """Yield the rows of a table, those of tables inside of it apart."""
    for child in table:
        if child.tag == f"{_TABLE}table-row":
            yield from [child] * _count_repeated(child, "rows")
        elif child.tag in (f"{_TABLE}table-header-rows", f"{_TABLE}table-rows", f"{_TABLE}table-row-group"):
            yield from _iter_rows(child)


def _count_repeated(element: Any, what: str) -> int:
    return min(_count(element, f"{what}-repeated"), _MAX_REPEATED)


def _count(element: Any, what: str) -> int:
    count = element.get(f"{_TABLE}number-{what}", "1")
    return int(count) if count.isascii() and count.isdigit() and len(count) < 10 else 1


def _read_cell(cell: Any) -> str:
    lines = (line for line in cell.iter(*_LINES) if next(line.iterancestors(*_ASIDE), None) is None)
    return " ".join(" ".join(map(_read_inline, lines)).split())


def _read_level(heading: Any) -> int:
    level = heading.get(f"{_TEXT}outline-level", "1")
    return max(1, int(level)) if level.isascii() and level.isdigit() and len(level) < 3 else 1


def _read_inline(element: Any) -> str:
    """Return the text of a paragraph, its notes in brackets, without its text boxes.

    libxml2 refuses what is nested deeper than 256 elements.
    """
    parts = [_one_line(element.text)]
    for child in element:
        tag = child.tag
        if tag == f"{_TEXT}s":
            parts.append(" ")
        elif tag == f"{_TEXT}tab":
            parts.append("\t")
        elif tag == f"{_TEXT}line-break":
            parts.append("\n")
        elif tag == f"{_TEXT}note":
            parts.append(f" ({_read_inline(child).strip()})")
        elif tag not in _LEFT_OUT and tag != _BOX:
            parts.append(_read_inline(child))
        parts.append(_one_line(child.tail))
    return "".join(parts)


def _iter_boxes(element: Any) -> Iterator[Any]:
    """Yield the text boxes in a paragraph; what is inside of them is theirs."""
    for child in element:
        if child.tag == _BOX:
            yield child
        else:
            yield from _iter_boxes(child)


def _one_line(text: str | None) -> str:
    return (text or "").replace("\n", " ")
