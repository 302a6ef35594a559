"""HTML within Markdown, as README files and wikis have it, turned into Markdown. In the sandbox only."""

import html
import re
from collections.abc import Sequence

import lxml.html
from markdown_it.token import Token

from documents.extractors.composer import Composer
from documents.extractors.failures import Unreadable
from documents.extractors.markup import HIDDEN, compose, drop_hidden_elements
from documents.text.characters import clean_characters
from documents.text.tables import CELLS

_SHAPED = "table|ul|ol|dl|pre|h[1-6]"  # become lines of their own
_HIDDEN = "script|style|noscript|template|svg|iframe"
_DROPPED = (
    "a|abbr|b|big|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|samp|small|span|strike|strong|sub|tt|u|wbr"
)
_BOXES = (
    "article|aside|blockquote|center|col|colgroup|dd|details|div|dt|figcaption|figure|footer|header|li|main|nav"
    "|p|picture|summary|tbody|td|tfoot|th|thead|tr"
)
# What manuals write in such brackets for something to be filled in; a tag if it has an attribute.
_NAMES = "address|audio|button|form|input|label|link|meta|section|source|time|video"
_MOST_CHARS = 200_000  # of an element
_REST = r"(?:\s[^<>]{0,2000})?/?>"
_PIECE = re.compile(
    rf"(?P<code>`[^`\n]{{1,500}}`|``[^\n]{{1,200}}?``)"
    rf"|(?P<comment><!--)"
    rf"|<(?P<shaped>{_SHAPED}){_REST}"
    rf"|<(?P<hidden>{_HIDDEN}){_REST}"
    rf"|<(?P<end>br|hr){_REST}"
    rf"|(?P<box></?(?:{_BOXES}|{_SHAPED}|{_HIDDEN}){_REST})"
    rf"|(?P<dropped></?(?:{_DROPPED}){_REST}"
    rf"|<(?:{_NAMES})\s[^<>=]{{1,50}}=[^<>]{{0,2000}}>|</(?:br|{_NAMES})\s*>)"
    rf"|(?P<entity>&(?:[a-zA-Z]{{2,20}}|\#\d{{1,7}});)",
    re.IGNORECASE,
)
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


def without_html(text: str, tokens: Sequence[Token], lines: Sequence[int]) -> str:
    """Return Markdown without the tags in it; tables, lists, headings and programs become those of Markdown.

    tokens: of its blocks. lines: where each line starts. Code keeps its tags; "<sup>" stays, which tells a
    power and the number of a note from the word before.
    """
    converting = _Converting(text)
    for token in tokens:
        if token.type in ("fence", "code_block") and token.map:
            start, stop = (lines[min(line, len(lines) - 1)] for line in token.map)
            if start >= converting.position:  # else it is the indented row of a table
                converting.go_to(start)
                converting.keep(stop)
    converting.go_to(len(text))
    return _EMPTY_LINES.sub("\n\n", clean_characters("".join(converting.parts))).strip()


class _Converting:
    """Goes through a text; `parts` is what it made of it up to `position`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._unclosed: set[str] = set()  # elements that are not looked for again
        self.position = 0
        self.parts: list[str] = []

    def keep(self, stop: int) -> None:
        if stop > self.position:
            self.parts.append(self._text[self.position : stop])
        self.position = max(self.position, stop)

    def go_to(self, stop: int) -> None:
        """Convert at least what stands before `stop`, and more if an element goes on there."""
        while self.position < stop and (piece := _PIECE.search(self._text, self.position, stop)):
            self.keep(piece.start())
            self.position = piece.end()
            self._convert(piece)
        self.keep(stop)

    def _convert(self, piece: re.Match[str]) -> None:
        kind, text = piece.lastgroup or "", self._text
        if kind == "code":
            self.parts.append(piece[0])
        elif kind == "entity":
            self.parts.append(html.unescape(piece[0]))
        elif kind == "end":
            self.parts.append(" " if self._is_in_row(piece.start()) else "\n")
        elif kind in ("box", "dropped"):
            if HIDDEN.search(piece[0]) and not piece[0].startswith("</"):
                self.position = self._leave(piece[0][1:].split()[0].lower()) or self.position
            if kind == "box":
                self._part()
        else:
            name = "!--" if kind == "comment" else piece[kind].lower()
            end = self._leave(name)
            if not end:
                self._part()
                return
            if kind == "shaped":
                shaped = _as_markdown(text[piece.start() : end])
                if self._is_in_row(piece.start()):
                    shaped = "; ".join(line.strip().removeprefix("- ") for line in shaped.split("\n") if line)
                self.parts.append(shaped)
            self.position = end

    def _part(self) -> None:
        """Keep two words apart that only a tag had between them."""
        if self.parts and not self.parts[-1][-1:].isspace():
            self.parts.append(" ")

    def _leave(self, name: str) -> int:
        """Return where the element ends that was entered; 0 if it, or one before it, is not closed."""
        end = 0 if name in self._unclosed else self._end_of(name)
        if not end:
            self._unclosed.add(name)
        return end

    def _end_of(self, name: str) -> int:
        stop = self.position + _MOST_CHARS
        if name == "!--":
            found = self._text.find("-->", self.position, stop)
            return found + len("-->") if found >= 0 else 0
        depth = 1
        tags = re.compile(rf"<(/?){name}{_REST}", re.IGNORECASE)
        for tag in tags.finditer(self._text, self.position, stop):
            depth += -1 if tag[1] else 1
            if not depth:
                return tag.end()
        return 0

    def _is_in_row(self, place: int) -> bool:
        """Tell whether it stands in a row of one of Markdown's tables, which is one line."""
        return self._text[self._text.rfind("\n", 0, place) + 1 : place].lstrip().startswith("|")


class _MarkdownComposer(Composer):
    """Builds Markdown."""

    def add_heading(self, level: int, title: str) -> None:
        self.add_paragraph(f"{'#' * level} {title}" if title.strip() else "")

    def add_row(self, cells: list[str]) -> None:
        first = self._open != "table"
        row = CELLS.join(" ".join(cell.split()).replace("|", "\\|") or " " for cell in cells)
        self.add_line("table", f"| {row} |")
        if first and self._open == "table":
            self.add_line("table", f"|{' --- |' * len(cells)}")

    def add_code(self, text: str, *, joined: bool = False) -> None:
        if text.strip():
            self._append_to_block("code", f"```\n{text.strip(chr(10)).rstrip()}\n```")
            self.end_block()


def _as_markdown(element: str) -> str:
    composer = _MarkdownComposer()
    try:
        tree = lxml.html.document_fromstring(element)
        drop_hidden_elements(tree)
        compose(tree, composer)
        return f"\n\n{composer.finish('MARKDOWN').text}\n\n"
    except (Unreadable, lxml.etree.LxmlError):  # there is nothing but pictures
        return "\n\n"
