"""The reader of web pages: bytes -> Extraction. Runs in the sandbox only, and never uses the network.

trafilatura finds the main content and what the page says about itself; where it finds next to nothing, or is
at a loss, the whole page's text is taken, without navigation.
"""

import html
import re
from copy import deepcopy
from dataclasses import replace
from typing import Any

import lxml.html
from trafilatura import bare_extraction
from trafilatura.metadata import extract_metadata

from documents.extractors.composer import Composer
from documents.extractors.decoding import decode, has_byte_order_mark
from documents.extractors.failures import MAX_TEXT_BYTES, NO_WORDS, TOO_MUCH_TEXT, Unreadable
from documents.extractors.job import OutOfTime, cpu_limit
from documents.extractors.markup import compose, drop_hidden_elements, text_of
from documents.text.characters import clean_label
from documents.types import Extraction

_INVISIBLE = re.compile(
    r"<!--(?>.*?(?:-->|\Z))|<(?P<tag>script|style|noscript|template|title|head)\b(?>.*?(?:</(?P=tag)\s*>|\Z))",
    re.IGNORECASE | re.DOTALL,
)
_INLINE = re.compile(
    r"</?(?:a|b|i|u|s|em|strong|span|font|code|sub|sup|small|big|mark|q)\b[^<>]*>", re.IGNORECASE
)
_TAG = re.compile(r"</?[a-z!?][^<>]*>", re.IGNORECASE)


def compose_flat(page: str, composer: Composer) -> None:
    """Add a paragraph for all text between two block tags, without a tree."""
    shown = _TAG.sub("\n", _INLINE.sub("", _INVISIBLE.sub("", page).replace("\n", " ")))
    for line in shown.split("\n"):
        if not line.isspace():
            composer.add_paragraph(html.unescape(line))


_MAIN_CPU_S = 8.0
_ABOUT_CPU_S = 3.0
_TOO_DEEP = "The page is nested so deeply that its headings, lists and tables could not be told apart."
_SUBSET = re.compile(
    r"\A(.{0,9999}?<!doctype[^<>\[]{0,500})\[[^\[\]]{0,99999}\]\s*>", re.IGNORECASE | re.DOTALL
)
_CHARSET = re.compile(
    rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})|<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})",
    re.IGNORECASE,
)
_HEADINGS = tuple(f"h{level}" for level in range(1, 7))
_BOXES = frozenset({"div", "header", "hgroup"})
_AROUND = ("nav", "footer", "aside", "menu")
_ENOUGH = 200  # characters; less than this may be all there is, or nothing of it
_MIN_SHARE = 0.1  # of the whole page's text that the main content must have


def read_html(data: bytes) -> Extraction:
    """Read a page's main content, or all its text where that is too little. Raises Unreadable."""
    if len(data) > 2 * MAX_TEXT_BYTES:
        raise Unreadable(TOO_MUCH_TEXT)
    page = _SUBSET.sub(r"\1>", _decode_page(data), count=1)
    tree, whole_tree = _parse(page)
    if not whole_tree:
        composer = Composer()
        compose_flat(page, composer)
        return replace(composer.finish("HTML"), warnings=(_TOO_DEEP,))
    title, metadata = _read_metadata(tree)
    drop_hidden_elements(tree)
    whole = _compose_whole_page(tree).finish("HTML", title=title, metadata=metadata)
    content = _compose_main_content(tree)
    if content is None or not content.length:
        return whole
    main = content.finish("HTML", title=title, metadata=metadata)
    return main if _is_enough(main.text, whole.text) else whole


def parse_shown(data: bytes, *, label: str = "") -> Any:
    """Return the tree of a page, without what is not shown. Raises Unreadable where there is nothing.

    label: of its encoding, where the page names none itself.
    """
    tree, _ = _parse(_SUBSET.sub(r"\1>", _decode_page(data, label), count=1))
    drop_hidden_elements(tree)
    return tree


def _is_enough(main: str, whole: str) -> bool:
    """Tell if the main content is no rest of the page, nor all of it glued to a paragraph, which is all
    that trafilatura makes of a page where it finds nothing.
    """
    if len(main) < _ENOUGH and 2 * len(main) < len(whole):
        return False
    *above, last = main.split("\n\n")
    if len(above) < 2 and last not in whole and len(last) < 2 * len(whole):
        return False
    return len(main) >= _MIN_SHARE * len(whole)


def _decode_page(data: bytes, label: str = "") -> str:
    charset = None if has_byte_order_mark(data) else _CHARSET.search(data[:4096])
    if charset is None:
        return decode(data, label=label)
    return decode(data, label=(charset[1] or charset[2] or b"").decode("ascii", "replace"))


def _parse(text: str) -> tuple[Any, bool]:
    """Return the tree, and whether it is complete: libxml2 stops at level 2,048, or at 256 if not huge.

    Raises Unreadable where there is nothing at all.
    """
    parser = lxml.html.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=True
    )
    try:
        tree = lxml.html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
        return tree, not any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)
    except lxml.etree.LxmlError as exc:  # nothing but comments, for example
        raise Unreadable(NO_WORDS) from exc


def _read_metadata(tree: Any) -> tuple[str, dict[str, str]]:
    """Return title and metadata from the head, Open Graph and JSON-LD; no dates are guessed from the text."""
    fields = {"language": tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or ""}
    title = tree.findtext(".//title") or ""
    about = _call_guarded(lambda: extract_metadata(deepcopy(tree), extensive=False), _ABOUT_CPU_S)
    if about is not None:
        title = about.title or title
        fields |= {"author": about.author, "date": about.date, "description": about.description}
        fields |= {"site": about.sitename, "tags": ", ".join(about.tags or [])}
    cleaned = {name: clean_label(value or "") for name, value in fields.items()}
    return clean_label(title), {name: value for name, value in cleaned.items() if value}


def _compose_whole_page(tree: Any) -> Composer:
    """Compose all the text of the page without navigation; with it, if there is nothing else."""
    body = tree.find("body")
    if body is None:
        body = tree
    for around in (_AROUND, ()):
        composer = Composer()
        compose(body, composer, without=frozenset(around))
        if composer.length:
            break
    return composer


def _compose_main_content(tree: Any) -> Composer | None:
    """Compose the main content; None where there is none."""
    prepared = deepcopy(tree)
    _unwrap_headings(prepared)
    for block in list(prepared.iter("pre")):  # else it is taken for a quotation
        if block.find("code") is None:
            block.tag, wrapper = "code", lxml.html.Element("pre")
            block.getparent().replace(block, wrapper)
            wrapper.append(block)
            wrapper.tail, block.tail = block.tail, None
    content = _call_guarded(lambda: _find_main(prepared), _MAIN_CPU_S)
    if content is None or content.body is None:
        return None
    composer = Composer()
    _prepend_title(tree, content.body, composer)
    compose(content.body, composer)
    return composer


def _find_main(tree: Any) -> Any:
    """Return what trafilatura takes for the main content. Where it knows none of the page's boxes it collects
    paragraphs and no headings; then all of the page is told to be an article.
    """
    content = _extract(deepcopy(tree))
    body = tree.find("body")
    if content is None or content.body is None or body is None:
        return content
    if next(content.body.iter("head"), None) is None and next(tree.iter(*_HEADINGS), None) is not None:
        body.tag = "article"
        body.addprevious(whole := lxml.html.Element("body"))
        whole.append(body)
        return _extract(tree) or content
    return content


def _extract(tree: Any) -> Any:
    return bare_extraction(tree, include_comments=False, include_tables=True, favor_recall=True)


def _unwrap_headings(tree: Any) -> None:
    """Put each heading in the place of the boxes that hold nothing else, which DocBook's pages have three of:
    trafilatura drops them with the heading.
    """
    for heading in list(tree.iter(*_HEADINGS)):
        box = heading.getparent()
        while box is not None and box.tag in _BOXES and len(box) == 1 and _is_bare(box, heading):
            heading.tail, box.tail = box.tail, None
            box.getparent().replace(box, heading)
            box = heading.getparent()


def _is_bare(box: Any, heading: Any) -> bool:
    return not (box.text or "").strip() and not (heading.tail or "").strip()


def _prepend_title(tree: Any, body: Any, composer: Composer) -> None:
    """Add the page's only first-level heading if it stands outside of the main content."""
    shown = list(tree.iter("h1"))
    if len(shown) == 1 and not any(head.get("rend") == "h1" for head in body.iter("head")):
        composer.add_heading(1, text_of(shown[0]))


def _call_guarded(call: Any, cpu_s: float) -> Any:
    """Return what `call` returns; None if it fails or takes too long, as a page can be read without it."""
    try:
        with cpu_limit(cpu_s):
            return call()
    except (OutOfTime, RecursionError):
        return None
    except Exception:  # noqa: BLE001 - of a stranger's page these libraries raise whatever comes to hand
        return None
