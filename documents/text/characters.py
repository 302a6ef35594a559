"""Normalization of characters, so that text is fit for PostgreSQL, JSON and a reader's eye."""

import re
import unicodedata
from pathlib import PurePosixPath

# U+0000 and lone surrogates cannot be stored; the rest is invisible or has no meaning in text.
# Zero-width joiners (U+200C, U+200D) stay: Persian, Indic scripts and emoji are spelt with them.
_UNFIT = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ufdd0-\ufdef\ud800-\udfff"
    "\U000e0000-\U000e007f]+"
)
LINE_END = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Shapes rather than letters: ligatures, Hebrew and Arabic presentation forms, Kangxi radicals.
_SHAPES = re.compile("[\u2f00-\u2fd5\ufb00-\ufb4f\ufb50-\ufdcf\ufdf0-\ufdfb\ufe70-\ufefc]+")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Cn", "Zs", "Zl", "Zp"})
_CONTROL_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_BLANK_LETTERS = "\u2800\u3164\u115f\u1160\uffa0"
MAX_FILENAME = 255


def clean_characters(text: str) -> str:
    """Return text with line feeds only, composed (NFC), without characters that cannot be stored or seen.

    White space within a line is left alone: in Markdown it means something.
    """
    if not text.isascii():
        text = _SHAPES.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
    text = _UNFIT.sub("", LINE_END.sub("\n", text))
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def clean_label(text: str, *, max_chars: int = 500) -> str:
    """Return a title, an author or a heading as one line."""
    return " ".join(clean_characters(text[: 4 * max_chars]).split())[:max_chars]


def has_text(text: str) -> bool:
    """Tell if anything in `text` can be seen: white space, format and filler characters cannot."""
    return any(
        character not in _BLANK_LETTERS and unicodedata.category(character) not in _INVISIBLE
        for character in text
    )


def is_control_character(character: str) -> bool:
    """Tell if a character ends lines, turns their direction or is otherwise no part of a name."""
    return unicodedata.category(character) in _CONTROL_CATEGORIES or character in _BIDI


def clean_filename(name: str) -> str:
    """Return the base name without what cannot be stored or misleads a reader; at most 255 characters.

    The extension survives shortening. A name of which nothing is left is called "document".
    """
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(
        " " if unicodedata.category(c) == "Zs" else c for c in base if not is_control_character(c)
    ).strip()
    if len(kept) > MAX_FILENAME:
        suffix = PurePosixPath(kept).suffix[:MAX_FILENAME]
        kept = kept[: MAX_FILENAME - len(suffix)] + suffix
    return "document" if kept in {"", ".", ".."} else kept
