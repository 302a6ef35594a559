"""Decoding of text in any encoding. Runs in the sandbox only."""

import codecs
import re
from itertools import pairwise

import charset_normalizer

from documents.extractors.failures import Unreadable

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like UTF-16's
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 32 * 1024
_HEAD = 8_000  # a NUL in here tells binary data, as git has it
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
# What browsers take these labels for (WHATWG Encoding): everybody writes the left and means the right.
_BROWSER_ENCODINGS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "tis-620": "cp874",
}
# fmt: off
_LABELS = frozenset({
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp866",
    "cp874", "cp932", "cp949", "gb18030", "big5", "big5hkscs", "euc_jp", "iso2022_jp", "koi8-r",
    "koi8-u", "mac-roman", "iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-7",
    "iso8859-8", "iso8859-10", "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16"
})
_CANDIDATES = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r", "cp932",
    "euc_jp", "gb18030", "big5", "euc_kr", "cp874"
]
# fmt: on
_CYRILLIC = ("cp1251", "koi8_r")
_WESTERN = frozenset("àâäáãåæçèéêëìíîïñòóôöõøùúûüœßÀÂÄÁÃÅÆÇÈÉÊËÍÎÏÑÓÔÖÕØÙÚÛÜŒ“”‘’„‚–—…•€£§©®°«»¿¡·´µ½\xa0™")


class UndecodableText(Unreadable):
    """The bytes are no text in any encoding."""

    def __init__(self) -> None:
        super().__init__("The file is no text in any known encoding.")


def decode(data: bytes, *, label: str = "") -> str:
    """Decode by byte order mark, as UTF-8, by HTML's label, or by guess. Raises UndecodableText."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if looks_binary(data):
        raise UndecodableText
    named = _find_encoding(label)
    if named == "iso2022_jp":  # its bytes are plain ASCII
        return data.decode(named, "replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _decode_damaged_utf8(data) or _decode_by_label(data, named) or _decode_by_guess(data)


def looks_binary(data: bytes) -> bool:
    """Tell if bytes without a byte order mark have an early NUL, or many characters that no text has."""
    head = data[:_HEAD]
    controls = len(_CONTROLS.findall(head))
    return b"\x00" in head or controls > max(2, len(head) / 50)


def has_byte_order_mark(data: bytes) -> bool:
    return any(data.startswith(mark) for mark, _ in _BOMS)


def _find_encoding(label: str) -> str:
    """Return Python's name of an encoding; "" if it is unknown, or no text's (UTF-7, base64 and the like)."""
    try:
        name = codecs.lookup(label.strip().lower()).name if label.strip().isascii() else ""
    except (LookupError, ValueError):
        return ""
    name = _BROWSER_ENCODINGS.get(name, name)
    return name if name in _LABELS else ""


def _decode_damaged_utf8(data: bytes) -> str:
    """Decode UTF-8 with a few bytes broken, for example by a cut; "" if it is something else."""
    text = data.decode("utf-8", "replace")
    sample = text[:_SAMPLE] if "\ufffd" in text[:_SAMPLE] else text
    lost = sample.count("\ufffd")
    return text if sum(not character.isascii() for character in sample) > 10 * lost else ""


def _decode_by_label(data: bytes, encoding: str) -> str:
    if not encoding:
        return ""
    text = data.decode(encoding, "replace")
    return text if 100 * text.count("\ufffd") < len(text) else ""


def _decode_by_guess(data: bytes) -> str:
    """Decode by charset-normalizer, which knows languages by their letters.

    A few accents are too little for it.
    """
    first = next(re.finditer(rb"[\x80-\xff]", data)).start()  # there is one, or it would be UTF-8
    sample = data[max(0, first - 200) : first + _SAMPLE]
    for western in ("cp1252", "iso8859-15"):
        if _is_western(sample.decode(western, "replace")):
            return data.decode(western, "replace")
    best = charset_normalizer.from_bytes(sample, cp_isolation=_CANDIDATES).best()
    if best is None:
        raise UndecodableText
    encoding = best.encoding
    if encoding in _CYRILLIC:
        encoding = min(_CYRILLIC, key=lambda name: _count_inner_capitals(sample.decode(name, "replace")))
    return data.decode(encoding, "replace")


def _count_inner_capitals(text: str) -> int:
    """Count capitals after small letters.

    Either Cyrillic encoding reads the other's letters in the wrong case.
    """
    return sum(first.islower() and second.isupper() for first, second in pairwise(text))


def _is_western(text: str) -> bool:
    """Tell if there are only letters and marks of Western European languages, with few accents."""
    letters = [character for character in text if character.isalpha()]
    high = {character for character in text if not character.isascii()}
    accented = sum(not character.isascii() for character in letters)
    return high <= _WESTERN and 3 * accented <= len(letters)
