"""The text of Word's paragraphs. For the sandbox only."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from documents.extractors.wordstyles import w

_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_SIGNS = {
    w("tab"): "\t",
    w("ptab"): "\t",
    w("br"): "\n",
    w("cr"): "\n",
    w("noBreakHyphen"): "-",
}
# What was deleted or moved away, field codes, ruby readings, the old form of what stands beside it.
_LEFT_OUT = frozenset(
    {w("del"), w("moveFrom"), w("delText"), w("instrText"), w("pPr"), w("rPr"), w("rt"), _MC + "Fallback"}
)
_NOTES = {w("footnoteReference"): "footnote", w("endnoteReference"): "endnote"}
_MAX_DEPTH = 200


@dataclass(slots=True)
class Inline:
    """A paragraph's text, the text boxes anchored in it (as elements), the keys of its notes."""

    parts: list[str] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)


def inline(paragraph: Any) -> Inline:
    found = Inline()
    _gather(paragraph, found, 0)
    return found


def cell_text(cell: Any) -> str:
    """All in one line: its paragraphs, text boxes, and tables inside of it."""
    return " ".join(" ".join(inline(paragraph).text for paragraph in _paragraphs(cell)).split())


def notes_of(document: Any, relation: str, kind: str) -> dict[tuple[str, str], str]:
    """(kind, id) -> the note's text; {} where the document has none."""
    try:
        part = document.part.part_related_by(relation)
    except KeyError:
        return {}
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    notes = etree.fromstring(part.blob, parser)
    return {(kind, note.get(w("id"), "")): cell_text(note) for note in notes.iter(w(kind))}


def _paragraphs(parent: Any) -> Iterator[Any]:
    for child in parent.iterchildren():
        if child.tag not in _LEFT_OUT:
            if child.tag == w("p"):
                yield child
            yield from _paragraphs(child)


def _gather(parent: Any, found: Inline, depth: int) -> None:
    for child in parent.iterchildren():
        tag = child.tag
        if tag in _LEFT_OUT or depth > _MAX_DEPTH:
            continue
        if tag == w("t") or tag == _MATH + "t":
            found.parts.append((child.text or "") + "".join(part.tail or "" for part in child))
        elif tag in _SIGNS:
            found.parts.append(_SIGNS[tag])
        elif tag in _NOTES:
            found.notes.append((_NOTES[tag], child.get(w("id"), "")))
        elif tag == w("txbxContent"):
            found.boxes.append(child)
        else:
            _gather(child, found, depth + 1)
