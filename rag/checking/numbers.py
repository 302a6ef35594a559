"""Numbers of a text with their units, so that "2.5 million" is 2,500,000 and "three" is 3. Plain Python."""

from decimal import Decimal
from typing import NamedTuple

from rag.checking.vocabulary import ORDINALS, SCALES, UNITS, WORTH

POINT_GROUPS = frozenset(
    ("de", "fr", "es", "it", "pt", "nl", "ru", "pl", "tr", "sv", "da", "no", "fi", "cs", "id")
)
_LONGEST = 40  # digits


class Number(NamedTuple):
    """value: in plain notation, with its sign, or the letters of what is no quantity ("3d", "1.2.3").

    unscaled: the value before "million" and the like. unit: one spelling for each, "" for none.
    bound: "<" or ">" where it is only a limit.
    """

    value: str
    unscaled: str
    unit: str = ""
    bound: str = ""
    ordinal: bool = False


def parsed(digits: str, language: str = "") -> str:
    """The value of digits with points and commas: `1,000` is 1000, or 1 in a language like German."""
    if len(digits) > _LONGEST:
        return digits
    group, point = (".", ",") if language in POINT_GROUPS else (",", ".")
    if digits.count(point) > 1 or (point == "." and _grouped(digits, ",") is False and digits.count(",") > 1):
        whole = _grouped(digits, point)
        return plain(Decimal(digits.replace(point, ""))) if whole else digits
    if group in digits and not _grouped(digits.split(point)[0], group):
        if digits.count(group) == 1 and point not in digits:
            return plain(Decimal(digits.replace(group, ".")))  # 0,5 in English; 2.5 in German
        return digits
    return plain(Decimal(digits.replace(group, "").replace(point, ".")))


def scaled(value: str, power: int) -> str:
    try:
        return plain(Decimal(value).scaleb(power))
    except ArithmeticError:
        return f"{value}e{power}"


def plain(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") or "0" if "." in text else text


def in_words(word: str) -> str | None:
    """ "three" -> "3", "twenty" -> "20"; None for any other word."""
    value = WORTH.get(word)
    return None if value is None else str(value)


def ordinal(word: str) -> str | None:
    value = ORDINALS.get(word)
    return None if value is None else str(value)


def unit_of(word: str) -> str:
    return UNITS.get(word, "")


def power_of(word: str) -> int:
    return SCALES.get(word, 0)


def _grouped(digits: str, sign: str) -> bool:
    """Whether the sign only parts the digits in threes."""
    first, *others = digits.split(sign)
    return bool(others) and 1 <= len(first) <= 3 and all(len(part) == 3 for part in others)
