"""The reader of Word documents: bytes -> Extraction. Runs in the sandbox only.

python-docx opens the package and knows its styles; the text is taken from the XML, since its paragraphs leave
out what was inserted under revision, content controls, text boxes and footnotes.
"""

from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from typing import Any

from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.part import PartFactory
from docx.package import Package
from docx.parts.document import DocumentPart

from documents.extractors.composer import Composer
from documents.extractors.docx_text import (
    ParagraphStyles,
    read_cell_notes,
    read_cell_text,
    read_inline,
    read_notes,
    w,
)
from documents.extractors.failures import Unreadable
from documents.extractors.packages import open_package, read_properties, refuse_strict, without_lost_relations
from documents.text.tables import join_heads
from documents.types import Extraction

BROKEN_DOCX = "The DOCX is damaged and cannot be read."
_MAX_DEPTH = 50
# python-docx knows documents only, not templates, nor either of them with macros.
_OTHER_TYPES = (
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    "application/vnd.ms-word.document.macroEnabled.main+xml",
    "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
)
PartFactory.part_type_for.update(dict.fromkeys(_OTHER_TYPES, DocumentPart))
_TRANSPARENT = frozenset({w("sdt"), w("sdtContent"), w("customXml"), w("ins"), w("moveTo"), w("smartTag")})


def read_docx(data: bytes) -> Extraction:
    """Read a document without headers, footers, comments and deleted text. Raises Unreadable."""
    try:
        with open_package(data, BROKEN_DOCX) as archive:
            refuse_strict(archive, "_rels/.rels")
            data = without_lost_relations(archive, data)
        document = Package.open(BytesIO(data)).main_document_part.document
        composer = Composer()
        _BodyReader(document, composer).walk(document.element.body, 0)
        title, metadata = read_properties(document.core_properties)
    except (Unreadable, MemoryError, RecursionError):
        raise
    except Exception as exc:  # KeyError, ValueError, XMLSyntaxError… for what is not as it should be
        raise Unreadable(BROKEN_DOCX) from exc
    return composer.finish("DOCX", title=title, metadata=metadata)


class _BodyReader:
    """Composes paragraphs and tables in reading order."""

    def __init__(self, document: Any, composer: Composer) -> None:
        self._composer = composer
        self._styles = ParagraphStyles(document)
        self._notes = {
            **read_notes(document, RELATIONSHIP_TYPE.FOOTNOTES, "footnote"),
            **read_notes(document, RELATIONSHIP_TYPE.ENDNOTES, "endnote"),
        }

    def walk(self, parent: Any, depth: int) -> None:
        for child in parent:
            if depth > _MAX_DEPTH:
                self._composer.add_paragraph(read_cell_text(child))
            elif child.tag == w("p"):
                self._paragraph(child, depth)
            elif child.tag == w("tbl"):
                self._table(child, depth)
            elif child.tag in _TRANSPARENT:
                self.walk(child, depth + 1)

    def _paragraph(self, paragraph: Any, depth: int) -> None:
        content = read_inline(paragraph)
        kind = self._styles.classify(paragraph)
        text = content.text
        if kind.is_contents:
            return
        if kind.level:
            if kind.item and kind.item.numbering and text.strip():
                text = self._styles.mark(kind.item) + text
            self._composer.add_heading(kind.level, text)
        elif kind.is_code:
            self._composer.add_code(text, joined=True)
        elif kind.item is not None and text.strip():
            self._composer.add_line("list", self._styles.mark(kind.item) + text, indent=kind.item.indent)
        else:
            self._composer.add_paragraph(text)
        for box in content.boxes:
            self.walk(box, depth + 1)
        for note in content.notes:
            self._composer.add_paragraph(self._notes.get(note, ""))

    def _table(self, table: Any, depth: int) -> None:
        rows = list(_iter_rows(table))
        if all(len(row) < 2 for row in rows):  # a frame around text, not a table
            for row in rows:
                for cell in row:
                    self.walk(cell, depth + 1)
            return
        self._composer.end_block()
        above: dict[int, str] = {}
        for cells in join_heads([_read_cells(row, above) for row in rows]):
            self._composer.add_row(cells)
        self._composer.end_block()
        for cell in chain.from_iterable(rows):
            for note in read_cell_notes(cell):
                self._composer.add_paragraph(self._notes.get(note, ""))


def _iter_rows(table: Any) -> Iterator[list[Any]]:
    """Yield the cells of each row that is not deleted, also those inside content controls."""
    for row in _iter_elements(table, w("tr")):
        if row.find(f"{w('trPr')}/{w('del')}") is None:
            yield list(_iter_elements(row, w("tc")))


def _iter_elements(parent: Any, tag: str) -> Iterator[Any]:
    for child in parent.iterchildren():
        if child.tag == tag:
            yield child
        elif child.tag in _TRANSPARENT:
            yield from _iter_elements(child, tag)


def _read_cells(row: list[Any], above: dict[int, str]) -> list[str]:
    """Return the texts of a row.

    A cell merged downwards is repeated in each row, so that a row reads by itself; what a cell covers of the
    columns to its right is empty, where another one follows.

    above: by column, the text of the merged cell that goes on there; kept from row to row.
    """
    texts: list[str] = []
    column = 0
    for cell in row:
        span = cell.find(f"{w('tcPr')}/{w('gridSpan')}")
        merge = cell.find(f"{w('tcPr')}/{w('vMerge')}")
        if merge is not None and merge.get(w("val")) != "restart":
            text = above.get(column, "")
        else:
            text = read_cell_text(cell)
            above[column] = text if merge is not None else ""
        texts += [""] * (column - len(texts)) + [text]
        width = span.get(w("val"), "1") if span is not None else "1"
        column += int(width) if width.isdigit() and len(width) < 3 else 1
    return texts
