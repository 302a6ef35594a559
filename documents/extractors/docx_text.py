"""Paragraphs of a Word document: their kind by style (heading, list item, code) and their text."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_lowercase
from typing import Any, NamedTuple

from docx.opc.constants import RELATIONSHIP_TYPE
from lxml import etree

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# The names of Word's own styles are English in every file, whatever Word's language; LibreOffice and others
# translate some, but give them their outline level.
_HEADING = re.compile(r"heading\s*(\d)", re.IGNORECASE)
_CODE = re.compile(r"\b(?:code|preformatted|source|listing|verbatim)\b", re.IGNORECASE)
_LISTED = re.compile(r"list (bullet|number)(?: (\d))?", re.IGNORECASE)
_CONTENTS = re.compile(r"toc \d|table of figures", re.IGNORECASE)
_ITEM_SIGNS: dict[str, Sequence[str]] = {
    "Letter": ascii_lowercase,
    "Roman": ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv"),
}
_BULLETS = frozenset({"bullet", "none"})
_PLACE = re.compile(r"%([1-9])")  # of a level's number, in what is shown before an item
_LETTER = re.compile(r"\A([^\W\d_]+)\.\Z")
_MAX_CHAIN = 20


def w(name: str) -> str:
    return _W + name


class Numbering(NamedTuple):
    """How the items of a level are numbered. form: Word's name of it, such as "lowerLetter".

    text: "%1.%2" for the numbers of two levels. is_legal: both as figures, whatever their forms.
    """

    form: str = "decimal"
    start: int = 1
    text: str = "%1."
    is_legal: bool = False

    def sign(self, number: int) -> str:
        signs = _ITEM_SIGNS.get(self.form[5:], ())
        if not 0 < number <= len(signs):
            return f"{number:02}" if self.form == "decimalZero" else str(number)
        sign = signs[number - 1]
        return sign.upper() if self.form.startswith("upper") else sign


@dataclass(frozen=True, slots=True)
class ListItem:
    """An item of a list. list_id: numbers count up within it. indent: 0 for the outermost."""

    list_id: str
    indent: int
    numbering: "Numbering | None"


@dataclass(frozen=True, slots=True)
class ParagraphKind:
    """The kind of a paragraph. level: of a heading, 0 for none. is_contents: of a table of contents.

    item: of a heading, too, if it is numbered.
    """

    level: int = 0
    is_contents: bool = False
    is_code: bool = False
    item: ListItem | None = None


class ParagraphStyles:
    """Classifies paragraphs by their own properties and their styles, and counts list items."""

    def __init__(self, document: Any) -> None:
        styles = _find_part(document, RELATIONSHIP_TYPE.STYLES)
        self._elements = {style.get(w("styleId"), ""): style for style in styles.iter(w("style"))}
        self._numbering = _read_numbering(document)
        self._default = next((key for key, style in self._elements.items() if _is_default(style)), "")
        self._kinds: dict[str, ParagraphKind] = {}
        self._counters: dict[str, dict[int, int]] = defaultdict(dict)

    def classify(self, paragraph: Any) -> ParagraphKind:
        """Return the paragraph's kind; its own properties go before those of its style."""
        style_id = _read_value(paragraph, "pPr", "pStyle") or self._default
        kind = self._kinds.get(style_id)
        if kind is None:
            kind = self._kinds[style_id] = self._classify_style(style_id)
        level = _read_outline_level(paragraph)
        if number_id := _read_value(paragraph, "pPr", "numPr", "numId"):
            kind = replace(kind, is_contents=False, item=self._make_item(number_id, paragraph))
        return kind if level is None else replace(kind, is_contents=False, level=level)

    def mark(self, item: ListItem) -> str:
        """Return what a reader sees before the item, "3. " or "§ 3 ", and count it; "- " without number."""
        numbering = item.numbering
        if numbering is None:
            return "- "
        counters = self._counters[item.list_id]
        for deeper in [indent for indent in counters if indent > item.indent]:
            del counters[deeper]
        counters[item.indent] = counters.get(item.indent, numbering.start - 1) + 1

        def sign(place: re.Match[str]) -> str:
            indent = int(place[1]) - 1
            one = self._numbering.get((item.list_id, indent)) or Numbering()
            number = counters.get(indent, one.start)
            return str(number) if numbering.is_legal else one.sign(number)

        shown = _PLACE.sub(sign, numbering.text).strip()
        # "c. " would end a sentence, and "1" alone begins no item.
        shown = f"{shown}." if shown.isdecimal() else _LETTER.sub(r"\1)", shown)
        return f"{shown} "

    def _classify_style(self, style_id: str) -> ParagraphKind:
        kind, is_numbered = ParagraphKind(), False
        for style in self._chain(style_id):
            name = _read_value(style, "name")
            level = _read_outline_level(style)
            heading = _HEADING.fullmatch(name)
            listed = _LISTED.fullmatch(name)
            number_id = _read_value(style, "pPr", "numPr", "numId")
            if number_id and not is_numbered:
                kind, is_numbered = ParagraphKind(item=self._make_item(number_id, style)), True
            if level == 0 or _CONTENTS.fullmatch(name):
                return ParagraphKind(is_contents=level is None)
            if heading or level or name.lower() == "title":
                return replace(kind, level=level or (int(heading[1]) if heading else 1))
            if _CODE.search(name):
                return ParagraphKind(is_code=True)
            if listed:
                numbering = Numbering() if listed[1].lower() == "number" else None
                return ParagraphKind(item=ListItem(name, int(listed[2] or 1) - 1, numbering))
        return kind

    def _chain(self, style_id: str) -> list[Any]:
        """Return the style and those that it is based on."""
        chain: list[Any] = []
        while (style := self._elements.get(style_id)) is not None and len(chain) < _MAX_CHAIN:
            chain.append(style)
            style_id = _read_value(style, "basedOn")
        return chain

    def _make_item(self, number_id: str, element: Any) -> ListItem | None:
        """Return the list item; None for number 0, which takes a paragraph out of its style's list."""
        if number_id == "0":
            return None
        level = _read_value(element, "pPr", "numPr", "ilvl") or "0"
        indent = int(level) if level in "012345678" else 0
        return ListItem(number_id, indent, self._numbering.get((number_id, indent)))


def _is_default(style: Any) -> bool:
    return style.get(w("type")) == "paragraph" and style.get(w("default")) in ("1", "true")


def _read_value(element: Any, *path: str) -> str:
    """Return the w:val at the path, "" if there is none."""
    value = element.find("/".join(map(w, path)))
    return "" if value is None else value.get(w("val"), "")


def _read_outline_level(element: Any) -> int | None:
    """Return the heading level by w:outlineLvl (0 to 8); 0 for body text (9), None without one."""
    value = _read_value(element, "pPr", "outlineLvl")
    if not value.isdigit() or len(value) > 1:
        return None
    return 0 if value == "9" else int(value) + 1


def _find_part(document: Any, relation: str) -> Any:
    """Return the root of a part, or an empty element: for a missing one python-docx opens its template."""
    try:
        return document.part.part_related_by(relation).element
    except KeyError:
        return etree.Element("none")


def _read_numbering(document: Any) -> dict[tuple[str, int], Numbering | None]:
    """Map (number id, level) to how its items are numbered, by the numbering part, if they are."""
    numbering = _find_part(document, RELATIONSHIP_TYPE.NUMBERING)
    formats: dict[str, dict[int, Numbering | None]] = {}
    for abstract in numbering.iter(w("abstractNum")):
        levels = formats.setdefault(abstract.get(w("abstractNumId"), ""), {})
        for level in abstract.iter(w("lvl")):
            indent = level.get(w("ilvl"), "")
            if indent.isdigit() and len(indent) == 1:
                form, text = _read_value(level, "numFmt"), level.find(w("lvlText"))
                shown = f"%{int(indent) + 1}." if text is None else text.get(w("val"), "")
                is_none = form in _BULLETS or not shown.strip()
                is_legal = level.find(w("isLgl")) is not None
                start = _read_start(level, "start")
                first = 1 if start is None else start
                levels[int(indent)] = None if is_none else Numbering(form, first, shown, is_legal)
    numbered: dict[tuple[str, int], Numbering | None] = {}
    for number in numbering.iter(w("num")):
        list_id = number.get(w("numId"), "")
        for indent, one in formats.get(_read_value(number, "abstractNumId"), {}).items():
            numbered[list_id, indent] = one
        for override in number.iter(w("lvlOverride")):
            level = override.get(w("ilvl"), "")
            key = list_id, int(level) if level.isdigit() else 0
            start = _read_start(override, "startOverride")
            if (one := numbered.get(key)) and start is not None:
                numbered[key] = one._replace(start=start)
    return numbered


def _read_start(element: Any, name: str) -> int | None:
    start = _read_value(element, name)
    return int(start) if start.isdecimal() and len(start) < 4 else None


_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_SIGNS = {
    w("tab"): "\t",
    w("ptab"): "\t",
    w("br"): "\n",
    w("cr"): "\n",
    w("noBreakHyphen"): "-",
}
# What was deleted or moved away, field codes, ruby readings, and the fallback form of newer content.
_LEFT_OUT = frozenset(
    {w("del"), w("moveFrom"), w("delText"), w("instrText"), w("pPr"), w("rPr"), w("rt"), _MC + "Fallback"}
)
_VANISH = f"{w('rPr')}/{w('vanish')}"
_NOTES = {w("footnoteReference"): "footnote", w("endnoteReference"): "endnote"}
_MAX_DEPTH = 200


@dataclass(slots=True)
class InlineContent:
    """A paragraph's text, the text boxes anchored in it (as elements), and the keys of its notes."""

    parts: list[str] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)


# What Symbol has from these places on; of Wingdings boxes, bullets, and the arrows that Word makes of "-->".
# fmt: off
_SYMBOLS = {
    first + place: sign
    for first, signs in {
        0x20: " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_",
        0x61: "αβχδεφγηιϕκλµνοπθρστυϖωξψζ{|}∼",
        0xA0: "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…", 0xC0: "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑", 0xF1: "〉∫",
    }.items()
    for place, sign in enumerate(signs)
}
_WINGDINGS = {
    0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "❑", 0x75: "◆", 0x76: "❖",
    0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xFB: "✗",
    0xFC: "✓", 0xFD: "☒", 0xFE: "☑"
}
# fmt: on
_FONTS = {"Symbol": _SYMBOLS, "Wingdings": _WINGDINGS}
_UNKNOWN_SIGN = "\ufffd"


def _read_symbol(element: Any) -> str:
    """Return a sign that is given by its place in a font, whose places lie at U+F000."""
    try:
        place = int(element.get(w("char"), ""), 16)
    except ValueError:
        return _UNKNOWN_SIGN
    if signs := _FONTS.get(element.get(w("font"))):
        return signs.get(place & 0xFF, _UNKNOWN_SIGN)
    return chr(place) if 0 < place < 0xD800 else _UNKNOWN_SIGN


def read_inline(paragraph: Any) -> InlineContent:
    content = InlineContent()
    _collect_inline(paragraph, content, 0)
    return content


def read_cell_text(cell: Any) -> str:
    """Return all text of a cell in one line: its paragraphs, text boxes, and tables inside of it."""
    return " ".join(" ".join(read_inline(paragraph).text for paragraph in _iter_paragraphs(cell)).split())


def read_cell_notes(cell: Any) -> list[tuple[str, str]]:
    """Return the keys of the notes in a cell."""
    return [note for paragraph in _iter_paragraphs(cell) for note in read_inline(paragraph).notes]


def read_notes(document: Any, relation: str, kind: str) -> dict[tuple[str, str], str]:
    """Map (kind, id) to a note's text; {} where the document has none."""
    try:
        part = document.part.part_related_by(relation)
    except KeyError:
        return {}
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    notes = etree.fromstring(part.blob, parser)
    return {(kind, note.get(w("id"), "")): read_cell_text(note) for note in notes.iter(w(kind))}


def _iter_paragraphs(parent: Any) -> Iterator[Any]:
    for child in parent.iterchildren():
        if child.tag not in _LEFT_OUT:
            if child.tag == w("p"):
                yield child
            yield from _iter_paragraphs(child)


def _collect_inline(parent: Any, content: InlineContent, depth: int) -> None:
    for child in parent.iterchildren():
        tag = child.tag
        if tag in _LEFT_OUT or depth > _MAX_DEPTH or _is_hidden(child):
            continue
        if tag == w("t") or tag == _MATH + "t":
            content.parts.append((child.text or "") + "".join(part.tail or "" for part in child))
        elif tag in _SIGNS:
            content.parts.append(_SIGNS[tag])
        elif tag == w("sym"):
            content.parts.append(_read_symbol(child))
        elif tag in _NOTES:
            content.notes.append((_NOTES[tag], child.get(w("id"), "")))
        elif tag == w("txbxContent"):
            content.boxes.append(child)
        else:
            _collect_inline(child, content, depth + 1)


def _is_hidden(run: Any) -> bool:
    """Tell if Word neither shows nor prints a run."""
    vanish = run.find(_VANISH) if run.tag == w("r") else None
    return vanish is not None and vanish.get(w("val")) not in ("0", "false", "off")
