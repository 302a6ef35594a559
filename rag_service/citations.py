"""Sources named in an answer: `[document_name, page X]` read as the `[n]` of the pipeline, and written.

Models vary the form: "p.5", "pp. 5-6", "section Y", "§ 2", several in one bracket, other brackets, the name
in other case or without its extension. A marker that names nothing retrieved is taken out. All is linear in
the reply. Plain Python.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rag.types.context import Context
from rag.types.retrieval import Passage

NAMELESS = "document"
LONGEST = 200  # characters of a name or a title
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+|\s+")
_TO_ROUND = str.maketrans("[]【】［］〔〕{}<>;", "()()()()()(),")

_SPACE = r"(?P<space>[ \t]{0,4})"
_SQUARE = r"\\?[\[【［〔](?P<square>[^\[\]【】［］〔〕]{1,400})[\]】］〕]"
_ROUND = r"[(（](?P<round>[^()（）\[\]]{1,400})[)）]"
_MARKER = re.compile(rf"{_SPACE}(?:{_SQUARE}|{_ROUND})(?P<colon>[ \t]*[:：](?=\s))?")
_NUMBERS = re.compile(r"[\s\d,;&–—-]+|\^\d+")  # which the pipeline reads itself
_NUMBERED = re.compile(r"\[\d{1,4}\](?:[ \t]?\[\d{1,4}\])*")
_LINE_BEGINS = re.compile(r"(?:\A|\n)[ \t>*•-]*\Z")

_PLAIN = str.maketrans(
    {"_": " ", "–": "-", "—": "-", "‑": "-", "−": "-", **dict.fromkeys("\"'`*“”‘’«»", None)}
)
_ESCAPE = re.compile(r"\\(?=[_*.#-])")  # Markdown's
_EXTENSION = re.compile(r"\.[a-z0-9]{1,5}$")
_PAGE = r"\b(?:pages?|pp?|pgs?|seiten?|p[áa]ginas?)"
_RANGE = r"(\d{1,6})(?:\s?(?:-|to)\s?(\d{1,6}))?"
_RANGES = rf"{_RANGE}(?:\s?(?:,|;|&|and)\s?{_RANGE})*(?!\w)"
_PAGES = re.compile(rf"{_PAGE}\s?[.:]?\s?{_RANGES}|\A{_RANGES}\Z")
_TITLE = re.compile(
    r"(?:\b(?:sections?|secs?|chapters?|ch|abschnitt|kapitel)\b\.?|§)\s?:?\s?(?P<title>[^;]+)"
)
_PLACEHOLDER = re.compile(r"(?:document|doc|file|source)s?(?: ?name)?[ ,:]+")
_PLACE = re.compile(rf"{_PAGE}\b|sections?\b|secs?\b|§")
_ELSEWHERE = re.compile(  # of a citation of what was not retrieved
    rf"[,;:]\s?(?:{_PAGE}\.?\s?\d|(?:sections?|secs?|chapters?)\b|§)|\.(?:pdf|docx?|md|html?|txt)\b|\Asources?:"
)
_BEFORE_NAME = r"(?:^|[,;&|/(:]|\b(?:and|from|see|in|sources?|documents?)\b)\s?"
_SEPARATORS = " ,;:.#|/-"


class NamedSource(NamedTuple):
    """A place in a document, fit to stand in brackets. section: "" for none. page: from 1, or None."""

    document: str
    page: int | None
    section: str

    @classmethod
    def of(cls, passage: Passage) -> "NamedSource":
        section = make_label(passage.section or passage.chapter)
        return cls(make_label(passage.document_name) or NAMELESS, passage.page_number, section)

    @property
    def label(self) -> str:
        """How it stands in the prompt: `[safety_manual.pdf, p.5]`."""
        return self._write("p.")

    @property
    def marker(self) -> str:
        """How it is cited: `[safety_manual.pdf, page 5]`, or `[policy.md, section Annual Leave]`."""
        return self._write("page ")

    def _write(self, page: str) -> str:
        if self.page is not None:
            return f"[{self.document}, {page}{self.page}]"
        return f"[{self.document}, section {self.section}]" if self.section else f"[{self.document}]"


class SourceReference(NamedTuple):
    """What a marker names. document: "" for any. pages: (first, last). section: as `normalize` writes it.

    Without pages and section all of the document is meant, and without a document nothing.
    """

    document: str = ""
    pages: tuple[tuple[int, int], ...] = ()
    section: str = ""

    def includes(self, source: NamedSource, last_page: int | None) -> bool:
        if self.document and self.document != source.document:
            return False
        if self.pages and source.page is not None:
            end = last_page or source.page
            return any(first <= end and source.page <= last for first, last in self.pages)
        if self.section and source.section:
            title = normalize(source.section)
            return self.section.startswith(title) or title.startswith(self.section)
        return bool(self.document) and not self.pages and not self.section


class MarkerReader:
    """Reads the markers of one question's reply. Blocks are numbered from 1."""

    def __init__(self, context: Context) -> None:
        self._blocks: list[list[tuple[NamedSource, int | None]]] = []
        self._paged: set[str] = set()
        self._titles: dict[str, set[str]] = defaultdict(set)
        for block in context.blocks:
            passages = [context.passages[part.passage] for part in block.parts]
            self._blocks.append([(NamedSource.of(passage), passage.last_page) for passage in passages])
        for source in (source for block in self._blocks for source, _ in block):
            self._titles[source.document].add(normalize(source.section))
            if source.page is not None:
                self._paged.add(source.document)
        self._documents: dict[str, list[str]] = defaultdict(list)
        for document in self._titles:
            for spelling in _spellings(document):
                self._documents[spelling].append(document)
        longest_first = sorted(self._documents, key=len, reverse=True)
        names = "|".join(map(re.escape, longest_first))
        self._name = re.compile(rf"{_BEFORE_NAME}(?P<name>{names})(?!\w|\.\w)")

    def number_markers(self, reply: str) -> str:
        """Write `[n]`, n being the number of a block, for every marker that names blocks."""
        return _MARKER.sub(self._number, reply)

    def _number(self, match: re.Match[str]) -> str:
        inside, colon = match["square"] or match["round"], match["colon"] or ""
        if _NUMBERS.fullmatch(inside):
            return match[0]
        references = self._references(inside)
        if references is None:
            return match[0]
        if match["round"] and not all(reference.document for reference in references):
            return match[0]
        numbers = [
            number
            for reference in references
            for number, block in enumerate(self._blocks, start=1)
            if any(reference.includes(source, last_page) for source, last_page in block)
        ]
        if colon and _LINE_BEGINS.search(match.string, max(0, match.start() - 20), match.start()):
            colon = ""  # "[manual.pdf, page 5]: All personnel ..." is how the prompt writes its sources
        if not numbers:
            return colon
        return match["space"] + "".join(f"[{number}]" for number in dict.fromkeys(numbers)) + colon

    def _references(self, inside: str) -> list[SourceReference] | None:
        """Return what a marker names, [] for one that names nothing retrieved, None for what is no marker."""
        text = normalize(_ESCAPE.sub("", inside))
        names = list(self._name.finditer(text)) if self._documents else []
        if not names:
            return _references_without_name(text)
        ends = [name.start() for name in names[1:]] + [len(text)]
        return [
            self._reference(document, text[name.end() : end].strip(_SEPARATORS))
            for name, end in zip(names, ends, strict=True)
            for document in self._documents[name["name"]]
        ]

    def _reference(self, document: str, location: str) -> SourceReference:
        """A page means nothing where the document has none: then the whole of it is meant."""
        pages, section = _parse_pages(location), _parse_section(location)
        if pages and document in self._paged:
            return SourceReference(document, pages)
        if section and self._titles[document] != {""}:
            return SourceReference(document, section=section)
        if location in self._titles[document] - {""}:
            return SourceReference(document, section=location)
        return SourceReference(document)


def write_markers(text: str, passages: Sequence[Passage]) -> str:
    """Write the marker of its passage (1-based) for each `[n]` of a checked answer, none twice in a row."""

    def write(run: re.Match[str]) -> str:
        numbers = (int(number) for number in re.findall(r"\d+", run[0]))
        return " ".join(dict.fromkeys(NamedSource.of(passages[n - 1]).marker for n in numbers))

    return _NUMBERED.sub(write, text)


def make_label(text: str) -> str:
    """Make it one line without brackets: nothing in a name can end a marker, or look like another one."""
    return _UNFIT.sub(" ", text).translate(_TO_ROUND).strip()[:LONGEST].strip()


def normalize(text: str) -> str:
    """Write it for comparing: small letters, plain dashes, no quotation marks, single spaces."""
    return " ".join(text.lower().translate(_PLAIN).split())


def _references_without_name(text: str) -> list[SourceReference] | None:
    """A page or a section alone may be of any document that was found."""
    text = _PLACEHOLDER.sub("", text, count=1) if _PLACEHOLDER.match(text) else text
    pages, section = _parse_pages(text), _parse_section(text)
    if _PLACE.match(text) and (pages or section):
        return [SourceReference(pages=pages, section="" if pages else section)]
    return [] if _ELSEWHERE.search(text) else None


def _spellings(document: str) -> Iterator[str]:
    """Yield its name, the last part of its path, and both without extension."""
    name = normalize(document)
    file_name = re.split(r"[/\\]", name)[-1]
    spellings = {name, file_name, _EXTENSION.sub("", name), _EXTENSION.sub("", file_name)}
    return (spelling for spelling in spellings if len(spelling) > 1 or spelling == name)


def _parse_pages(text: str) -> tuple[tuple[int, int], ...]:
    ranges = (pair for match in _PAGES.finditer(text) for pair in re.findall(_RANGE, match[0]))
    return tuple((int(first), int(last or first)) for first, last in ranges)


def _parse_section(text: str) -> str:
    """Return the title behind a word that announces one."""
    match = _TITLE.search(text)
    return match["title"].strip(_SEPARATORS) if match else ""
