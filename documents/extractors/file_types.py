"""What a file's name says of it, and how a PDF is told at a glance. Light: every process imports this."""

from typing import Literal

NameKind = Literal["markdown", "html", "text", "other"]
NAME_KINDS: tuple[NameKind, ...] = ("markdown", "html", "text", "other")

_ENDINGS: dict[str, NameKind] = {
    **dict.fromkeys(("md", "markdown", "mdown", "mkd"), "markdown"),
    **dict.fromkeys(("html", "htm", "xhtml"), "html"),
    **dict.fromkeys(("txt", "text", "log", "csv", "tsv", "json", "rst", "srt"), "text"),
}
_PDF_MAGIC = b"%PDF-"
PDF_MAGIC_WITHIN = 1024


def name_kind(filename: str) -> NameKind:
    """A name only tells kinds of text apart: everything else shows in the bytes."""
    _, dot, ending = filename.rpartition(".")
    return _ENDINGS.get(ending.lower(), "other") if dot else "other"


def opens_as_pdf(head: bytes) -> bool:
    """head: at least the first PDF_MAGIC_WITHIN bytes, or all there are."""
    return _PDF_MAGIC in head[:PDF_MAGIC_WITHIN]
