"""Numbers of a text with their units, so that "2.5 million" is 2,500,000 and "three" is 3. Plain Python."""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from rag.checking.vocabulary import ORDINALS, SCALES, UNITS, WORTH

POINT_GROUPS = frozenset(
    ("de", "fr", "es", "it", "pt", "nl", "ru", "pl", "tr", "sv", "da", "no", "fi", "cs", "id")
)
ENGLISH = ("", "en")
NO_ENGLISH_NUMBERS = frozenset(("once", "elf", "sept"))  # eleven and seven in other languages
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


def in_words(word: str, language: str = "") -> str | None:
    """ "three" -> "3", "twenty" -> "20"; None for any other word, such as the English "once"."""
    value = WORTH.get(word) if language not in ENGLISH or word not in NO_ENGLISH_NUMBERS else None
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


# Units of one kind, as a multiple of the smallest. What is not exact is left out.
_MULTIPLES: Mapping[str, tuple[str, Decimal]] = {
    unit: (kind, Decimal(worth))
    for kind, units in {
        "time": {"ms": "0.001", "s": "1", "min": "60", "h": "3600", "day": "86400", "week": "604800"},
        "months": {"month": "1", "year": "12"},
        "length": {"mm": "1", "cm": "10", "m": "1000", "km": "1000000"},
        "mass": {"µg": "1", "mg": "1000", "g": "1000000", "kg": "1000000000", "t": "1000000000000"},
        "volume": {"ml": "1", "l": "1000"},
        "power": {"w": "1", "kw": "1000", "mw": "1000000", "gw": "1000000000"},
        "frequency": {"hz": "1", "mhz": "1000000", "ghz": "1000000000"},
    }.items()
    for unit, worth in units.items()
}


def same_measure(one: Number, other: Number) -> bool:
    """ "Two weeks" and "14 days", "0.5 l" and "500 ml"; "£5" and "5 pounds"."""
    if {one.unit, other.unit} == {"gbp", "lb"}:
        return one.value == other.value
    kind, worth = _MULTIPLES.get(one.unit, ("", Decimal(0)))
    strange, theirs = _MULTIPLES.get(other.unit, ("?", Decimal(0)))
    if kind != strange or one.unit == other.unit:
        return False
    try:
        return Decimal(one.value) * worth == Decimal(other.value) * theirs
    except ArithmeticError:
        return False
