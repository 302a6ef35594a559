"""The reader of e-books (EPUB 2 and 3): bytes -> Extraction. Runs in the sandbox only.

A book has no pages of its own; what is cited is the chapter, by the book's table of contents.
"""

import posixpath
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

from lxml import etree

from documents.extractors.composer import Composer
from documents.extractors.failures import Unreadable
from documents.extractors.html import parse_shown
from documents.extractors.markup import compose, text_of
from documents.extractors.packages import clean_fields, open_package, parse_xml
from documents.text.characters import clean_label
from documents.types import Extraction

BROKEN_EPUB = "The EPUB is damaged and cannot be read."
PROTECTED = "The e-book is protected against copying (DRM); it cannot be read."
_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document"})
_HEADINGS = tuple(f"h{level}" for level in range(1, 7))
_DEEPEST = 6
_TYPE = "{http://www.idpf.org/2007/ops}type"


class _Entry(NamedTuple):
    """An entry of the table of contents. fragment: the id of the element that it leads to, if it has one."""

    level: int
    title: str
    fragment: str


def read_epub(data: bytes) -> Extraction:
    """Read the pages in reading order, without the page of contents. Raises Unreadable."""
    with open_package(data, BROKEN_EPUB) as archive:
        try:
            book = _Book(archive)
            composer = Composer()
            for name in book.pages:
                _compose_page(book, name, composer)
        except (Unreadable, MemoryError, RecursionError):
            raise
        except Exception as exc:  # KeyError, BadZipFile, zlib.error, XMLSyntaxError…
            raise Unreadable(BROKEN_EPUB) from exc
    return composer.finish("EPUB", title=book.title, metadata=book.metadata)


class _Book:
    """A book's package: what it says of itself, its pages in order, and its table of contents by page."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        _refuse_protected(archive)
        rootfile = next(_find(parse_xml(archive.read(_CONTAINER)), "rootfile"))
        path = rootfile.get("full-path", "")
        package = parse_xml(archive.read(path))
        self._folder = posixpath.dirname(path)
        items = {item.get("id"): item for item in _find(package, "item")}
        spine = [items[ref.get("idref")] for ref in _find(package, "itemref") if ref.get("idref") in items]
        nav = next((one for one in items.values() if "nav" in one.get("properties", "").split()), None)
        self.pages = [
            self._resolve(item.get("href", ""))
            for item in spine
            if item.get("media-type") in _PAGES and item is not nav
        ]
        ncx = next(
            (one for one in items.values() if one.get("media-type") == "application/x-dtbncx+xml"), None
        )
        self.contents: dict[str, list[_Entry]] = {}
        for item, read in ((nav, _read_nav), (ncx, _read_ncx)):
            if item is not None and not self.contents:
                self._add_contents(self._resolve(item.get("href", "")), read)
        self.title, self.metadata = _read_about(package)

    def read(self, name: str) -> bytes:
        return self._archive.read(name)

    def _resolve(self, href: str, folder: str | None = None) -> str:
        base = self._folder if folder is None else folder
        return posixpath.normpath(posixpath.join(base, unquote(href)))

    def _add_contents(self, name: str, read: Any) -> None:
        if name not in self._archive.namelist():
            return
        for level, title, href in read(self.read(name)):
            page, _, fragment = href.partition("#")
            place = self._resolve(page, posixpath.dirname(name))
            if clean_label(title):
                self.contents.setdefault(place, []).append(
                    _Entry(min(level, _DEEPEST), clean_label(title), unquote(fragment))
                )


def _refuse_protected(archive: zipfile.ZipFile) -> None:
    """Refuse a book whose pages are encrypted; fonts may be."""
    if _ENCRYPTION in archive.namelist():
        for reference in _find(parse_xml(archive.read(_ENCRYPTION)), "CipherReference"):
            if reference.get("URI", "").lower().endswith((".xhtml", ".html", ".htm", ".xml")):
                raise Unreadable(PROTECTED)


def _find(root: Any, name: str) -> Iterator[Any]:
    """Yield the elements of a name in any namespace: books of version 1 to 3 have different ones."""
    return iter(root.iter(f"{{*}}{name}"))


def _read_about(package: Any) -> tuple[str, dict[str, str]]:
    def first(name: str) -> str:
        return next((text_of(element) for element in _find(package, name)), "")

    fields = {
        "author": ", ".join(text_of(element) for element in _find(package, "creator")),
        "publisher": first("publisher"),
        "language": first("language"),
        "description": first("description"),
        "date": first("date"),
    }
    return clean_label(first("title")), clean_fields(fields)


def _read_nav(data: bytes) -> Iterator[tuple[int, str, str]]:
    """Yield level, title and address of the entries of a navigation page (EPUB 3)."""
    for nav in _parse_page(data).iter("nav"):
        if "toc" in (nav.get(_TYPE) or nav.get("epub:type") or "toc"):
            for link in nav.iter("a"):
                level = sum(above.tag in ("ol", "ul") for above in link.iterancestors())
                yield max(1, level), text_of(link), link.get("href", "")
            return


def _read_ncx(data: bytes) -> Iterator[tuple[int, str, str]]:
    """Yield the same of an NCX file (EPUB 2)."""
    for point in _find(parse_xml(data), "navPoint"):
        level = 1 + sum(above.tag == point.tag for above in point.iterancestors())
        label = next(_find(point, "navLabel"), None)
        content = next(_find(point, "content"), None)
        if label is not None and content is not None:
            yield level, text_of(label), content.get("src", "")


def _compose_page(book: _Book, name: str, composer: Composer) -> None:
    """Add a page; the headings that the table of contents names are chapters, and others come below them."""
    body = _parse_page(book.read(name)).find("body")
    if body is None:
        return
    entries = book.contents.get(name, [])
    if book.contents:
        _lower_headings(body, 1 + max((entry.level for entry in entries), default=1))
    for entry in entries:
        _mark_chapter(body, entry)
    compose(body, composer)


def _parse_page(data: bytes) -> Any:
    """Return the tree without namespaces; of HTML if it is no XML or has entities: only HTML's are known."""
    try:
        page = parse_xml(data)
    except etree.LxmlError:
        return parse_shown(data)
    if next(page.iter(etree.Entity), None) is not None:
        return parse_shown(data)
    for element in page.iter(etree.Element):
        element.tag = etree.QName(element).localname
    return page


def _lower_headings(body: Any, highest: int) -> None:
    for heading in list(body.iter(*_HEADINGS)):
        heading.tag = f"h{min(_DEEPEST, highest + int(heading.tag[1]) - 1)}"


def _mark_chapter(body: Any, entry: _Entry) -> None:
    """Make the heading of an entry one of its level; write one where the book has none there."""
    target = body
    if entry.fragment:
        target = next((one for one in body.iter(etree.Element) if one.get("id") == entry.fragment), body)
    heading = _find_heading(body, target)
    if heading is not None and _is_same_title(text_of(heading), entry.title):
        heading.tag = f"h{entry.level}"
        return
    written = etree.Element(f"h{entry.level}")
    written.text = entry.title
    if target is body:
        written.tail, body.text = body.text, None
        body.insert(0, written)
    else:
        target.addprevious(written)


def _find_heading(body: Any, target: Any) -> Any:
    """Return the heading around the target, or the first one from there on; None if there is none."""
    around = next((one for one in target.iterancestors(*_HEADINGS)), None)
    if around is not None:
        return around
    reached = False
    for element in body.iter(etree.Element):
        reached = reached or element is target
        if reached and element.tag in _HEADINGS:
            return element
    return None


def _is_same_title(text: str, title: str) -> bool:
    ours, theirs = ("".join(filter(str.isalnum, one.casefold())) for one in (text, title))
    return bool(ours) and (ours in theirs or theirs in ours)
