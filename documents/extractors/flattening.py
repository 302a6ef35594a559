"""The text of a page that is nested too deeply for any parser: its tags taken out, nothing lost."""

import html
import re

from documents.extractors.composing import Composer

_UNSHOWN = re.compile(
    r"<!--(?>.*?(?:-->|\Z))|<(?P<tag>script|style|noscript|template|title|head)\b(?>.*?(?:</(?P=tag)\s*>|\Z))",
    re.IGNORECASE | re.DOTALL,
)
_INLINE = re.compile(
    r"</?(?:a|b|i|u|s|em|strong|span|font|code|sub|sup|small|big|mark|q)\b[^<>]*>", re.IGNORECASE
)
_TAG = re.compile(r"</?[a-z!?][^<>]*>", re.IGNORECASE)


def compose_flat(page: str, composer: Composer) -> None:
    """Adds a paragraph for what stands between two tags that are not of a line's own."""
    shown = _TAG.sub("\n", _INLINE.sub("", _UNSHOWN.sub("", page).replace("\n", " ")))
    for line in shown.split("\n"):
        if not line.isspace():
            composer.paragraph(html.unescape(line))
