"""What the inside of a citation's brackets names: documents, pages, sections. Plain Python."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rag.service.places import Place

_LIKE = str.maketrans(
    {"_": " ", "–": "-", "—": "-", "‑": "-", "−": "-", **dict.fromkeys("\"'`*“”‘’«»", None)}
)
_ESCAPE = re.compile(r"\\(?=[_*.#-])")  # Markdown's
_EXTENSION = re.compile(r"\.[a-z0-9]{1,5}$")
_PAGE_WORD = r"\b(?:pages?|pp?|pgs?|seiten?|s|p[áa]ginas?|p[áa]gs?)"
_ITEM = r"\d{1,6}(?:\s?(?:-|to|bis|a)\s?\d{1,6})?"
_ITEMS = rf"(?P<pages>{_ITEM}(?:\s?(?:,|;|&|and|und|y|et)\s?{_ITEM})*)(?!\w)"
_PAGES = re.compile(rf"{_PAGE_WORD}\s?[.:=#]{{0,2}}\s?(?:no\.?|nr\.?)?\s?{_ITEMS}")
_ONLY_PAGES = re.compile(rf"{_ITEMS}\Z")
_RANGE = re.compile(r"(\d+)(?:\s?(?:-|to|bis|a)\s?(\d+))?")
_SECTION = re.compile(
    r"(?:\b(?:sections?|secs?|sect|chapters?|ch|abschnitt|kapitel)\b\.?|§)\s?[:=]?\s?(?P<title>[^;]+)"
)
_PLACEHOLDER = re.compile(r"(?:document|doc|file|source)s?(?: ?name)?[ ,:]+")
_ALONE = re.compile(rf"{_PAGE_WORD}\b|sections?\b|secs?\b|§")
_SEPARATORS = " ,;:.#|/-"
_BEFORE_NAME = re.compile(
    r"(?:\A|[,;&|/(:]|\band|\bund|\bet|\by|\bsee|\bfrom|\bsources?|\bsiehe|\bdocuments?|\bin)\s?\Z"
)
_ELSEWHERE = re.compile(
    rf"[,;:]\s?(?:{_PAGE_WORD}\.?\s?\d|(?:sections?|secs?|chapters?)\b|§)|\.(?:pdf|docx?|md|html?|txt)\b|\Asources?:"
)


class Named(NamedTuple):
    """document: "" for any. pages: first and last of each stretch. section: as `like` writes it. whole: all
    of the document is meant.
    """

    document: str = ""
    pages: tuple[tuple[int, int], ...] = ()
    section: str = ""
    whole: bool = False

    def fits(self, place: Place, last_page: int | None) -> bool:
        if self.document and self.document != place.document:
            return False
        if self.pages and place.page is not None:
            last = last_page or place.page
            return any(first <= last and place.page <= final for first, final in self.pages)
        if self.section and place.section:
            return _same_title(self.section, like(place.section))
        return self.whole


class Known:
    """The documents that markers may name: by their names, the last parts of paths, without extensions."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._paged: dict[str, bool] = {}
        self._titles: dict[str, set[str]] = {}
        for place in places:
            self._paged[place.document] = self._paged.get(place.document, False) or place.page is not None
            self._titles.setdefault(place.document, set()).add(like(place.section))
        self._keys: dict[str, list[str]] = {}
        for document in self._paged:
            for key in _keys(document):
                self._keys.setdefault(key, []).append(document)
        self._longest_first = sorted(self._keys, key=len, reverse=True)

    def named_in(self, inside: str) -> list[Named]:
        """What it names; [] where it is no citation, a Named that nothing fits where it is one of nothing."""
        text = like(_ESCAPE.sub("", inside))
        found = list(self._names(text))
        if not found:
            return self._without_name(text)
        ends = [start for start, _, _ in found[1:]] + [len(text)]
        return [
            self._placed(document, text[end:until])
            for (_, end, documents), until in zip(found, ends, strict=True)
            for document in documents
        ]

    def _names(self, text: str) -> Iterator[tuple[int, int, list[str]]]:
        """(start, end, documents) of each name, from left to right."""
        place = 0
        while place < len(text):
            key = self._name_at(text, place)
            if key:
                yield place, place + len(key), self._keys[key]
            place += len(key) or 1

    def _name_at(self, text: str, place: int) -> str:
        if text[place].isspace() or (place and not _BEFORE_NAME.search(text, max(0, place - 12), place)):
            return ""
        for key in self._longest_first:
            if text.startswith(key, place) and _ends(text, place + len(key)):
                return key
        return ""

    def _placed(self, document: str, rest: str) -> Named:
        """A page is worth nothing where the document has none: then the whole of it is meant."""
        rest = rest.strip(_SEPARATORS)
        pages, section = _pages_in(rest), _section_in(rest)
        if pages and self._paged[document]:
            return Named(document, pages)
        if section and self._titles[document] != {""}:
            return Named(document, section=section)
        if rest and rest in self._titles[document]:
            return Named(document, section=rest)
        return Named(document, whole=True)

    def _without_name(self, text: str) -> list[Named]:
        """A page or a section alone may be of any document that was found."""
        text = _PLACEHOLDER.sub("", text, count=1) if _PLACEHOLDER.match(text) else text
        pages, section = _pages_in(text), _section_in(text)
        if _ALONE.match(text) and (pages or section):
            return [Named(pages=pages, section="" if pages else section)]
        return [NOTHING] if _ELSEWHERE.search(text) else []


NOTHING = Named("\0")  # a document of this name is nowhere


def like(text: str) -> str:
    """For comparing: small letters, plain dashes, no quotation marks, single spaces."""
    return " ".join(text.lower().translate(_LIKE).split())


def _keys(document: str) -> set[str]:
    name = like(document)
    last = re.split(r"[/\\]", name)[-1]
    stems = {_EXTENSION.sub("", one) for one in (name, last)}
    return {key for key in (name, last, *stems) if len(key) > 1 or key == name}


def _ends(text: str, place: int) -> bool:
    """Whether a name may end there: not in the midst of a word, not before another extension."""
    rest = text[place : place + 2]
    return not rest or not (rest[0].isalnum() or (rest[0] == "." and rest[1:].isalnum()))


def _pages_in(text: str) -> tuple[tuple[int, int], ...]:
    found = list(_PAGES.finditer(text)) or [one for one in (_ONLY_PAGES.match(text),) if one]
    stretches = (stretch for one in found for stretch in _RANGE.findall(one["pages"]))
    return tuple((int(first), int(last or first)) for first, last in stretches)


def _section_in(text: str) -> str:
    """Its title, where something says that it is one."""
    found = _SECTION.search(text)
    return found["title"].strip(_SEPARATORS) if found else ""


def _same_title(one: str, other: str) -> bool:
    return one == other or one.startswith(other) or other.startswith(one)
