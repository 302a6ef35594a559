"""The tokens of a text that facts are read from: numbers, months, other words and marks. Plain Python."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from rag.citations.folding import UNSPACED
from rag.word_data import read_table

Kind = Literal["number", "month", "name"]
DATA = Path(__file__).parent / "data"


def table(name: str) -> dict[str, str]:
    """Return word -> key of a file in `data/`."""
    return read_table(DATA / f"{name}.txt")


def _measure(key: str) -> tuple[str, float]:
    """Read `km = length 1000000`: a measure of length, 1,000,000 times its smallest unit."""
    kind, _, worth = key.partition("=")[2].strip().partition(" ")
    return (kind, float(worth)) if kind else ("", 1.0)


_UNIT_KEYS = table("units")
UNITS: Mapping[str, str] = {word: key.partition("=")[0].strip() for word, key in _UNIT_KEYS.items()}
MEASURES = {UNITS[word]: _measure(key) for word, key in _UNIT_KEYS.items()}
_NUMBERS = {word: float(value) for word, value in table("numbers").items()}
_ORDINALS = {word: float(value) for word, value in table("ordinals").items()}
SCALES = {word: 10.0 ** int(power) for word, power in table("scales").items()}
FRACTIONS = {word: float(percent) for word, percent in table("fractions").items()}
_MONTHS = {word: float(month) for word, month in table("months").items()}
_ROMAN = {"II": 2.0, "III": 3.0, "IV": 4.0, "VI": 6.0, "VII": 7.0, "VIII": 8.0, "IX": 9.0}
SHORT_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9}
_DIGITS = r"\d{1,40}(?:[.,'\u00a0\u202f\u2009]\d{1,40}|[ ]\d{3}(?!\d)){0,12}"
_TOKEN = re.compile(
    rf"""
      (?P<date>\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}\.[ ]?\d{{1,2}}\.(?:[ ]?\d{{4}}\b)?)
    | (?:(?P<currency>(?:US)?[$€£¥])[ ]?)?(?P<digits>(?<![^\W_]){_DIGITS})
      (?P<suffix>[ ]?[%‰°](?:[CF]\b)?|[^\W\d_]{{1,12}}(?!\w))?
    | (?P<word>[^\W\d_](?:[\w’'+]|[-‐‑/.&](?=\w))*|\d+[^\W\d_]\w*)
    | (?P<dash>[-–—](?=\d))
    | (?P<mark>[.!?:;,()|\"“”„«»\n])
    """,
    re.VERBOSE,
)
_UNSPACED = re.compile(rf"(?!\d)[{UNSPACED}]")
_SIGNS = re.compile(r"[.,' \u00a0\u202f\u2009]")
WORDS_FOR_NUMBERS = (*_NUMBERS, *_ORDINALS, *FRACTIONS, *_MONTHS, *(word.lower() for word in _ROMAN))


class Fact(NamedTuple):
    """One fact of a text, `text[start:end]` of it.

    values: what a number may mean, without its scale; a month's number. scale: 1,000,000 for "million".
    unit, per: in one spelling, "" for none. may_be_metres: of "5 m", which may be 5 million, too. rounded:
    "about", or a fraction. spelled: in letters. ordinal: "third". noun: the word that a number counts.
    name: a name's parts in lower case.
    """

    kind: Kind
    text: str
    start: int
    end: int
    values: tuple[float, ...] = ()
    scale: float = 1.0
    unit: str = ""
    per: str = ""
    may_be_metres: bool = False
    rounded: bool = False
    spelled: bool = False
    ordinal: bool = False
    noun: str = ""
    name: tuple[str, ...] = ()


class Token(NamedTuple):
    """A token of a text: a number or a month with its fact, or any other word or mark."""

    text: str
    start: int
    end: int
    fact: Fact | None = None

    @property
    def lower(self) -> str:
        return "" if self.fact else self.text.lower()


def tokenize(text: str) -> Iterator[Token]:
    """Yield the tokens of a text in order; what stands between them tells nothing."""
    spaced = _UNSPACED.sub(" ", text)  # else "由129名" would be a word
    for match in _TOKEN.finditer(spaced):
        start, end = match.span()
        if match["date"]:
            yield from _read_date(match[0], start, end)
        elif match["digits"]:
            yield _read_digits(match)
        elif match["word"]:
            yield Token(match[0], start, end, _read_spelled(match[0], start, end))
        else:
            yield Token(match[0], start, end)


def _read_date(text: str, start: int, end: int) -> Iterator[Token]:
    """Yield a day, a month and a year for "2024-03-31" or "31.03.2024"."""
    parts = [float(part) for part in re.findall(r"\d+", text)]
    day, month, *year = reversed(parts) if "-" in text else parts
    kinds: tuple[tuple[Kind, float], ...] = (
        ("number", day),
        ("month", month),
        *(("number", part) for part in year),
    )
    for kind, value in kinds:
        yield Token(text, start, end, Fact(kind, text, start, end, (value,)))


def _read_digits(match: re.Match[str]) -> Token:
    text = match[0].strip()
    start, end = match.end() - len(match[0].lstrip()), match.end()
    suffix = (match["suffix"] or "").strip().lower()
    values = _readings(match["digits"])
    unit = UNITS.get((match["currency"] or "").removeprefix("US"), "")
    ordinal = suffix in ("st", "nd", "rd", "th")
    scale = 1.0
    if suffix in SCALES or (suffix in SHORT_SCALES and unit):
        scale = SCALES.get(suffix) or SHORT_SCALES[suffix]
    elif suffix in SHORT_SCALES and suffix != "m":
        values = (*values, *(value * SHORT_SCALES[suffix] for value in values))
    elif suffix in UNITS and suffix not in ("m", "s"):
        unit = UNITS[suffix]
    elif suffix and suffix not in ("m", "s") and not ordinal:
        return Token(text, start, end)  # "3d", "2A": a name
    metres = suffix == "m" and not unit
    fact = Fact("number", text, start, end, values, scale, unit, may_be_metres=metres, ordinal=ordinal)
    return Token(text, start, end, fact)


def _readings(digits: str) -> tuple[float, ...]:
    """Return the values that digits may mean: 1234 or 1.234 for `1,234`, 1234.5 for `1.234,5`."""
    parts, signs = _SIGNS.split(digits), _SIGNS.findall(digits)
    if not signs:
        return (float(digits),)
    joined = float("".join(parts))
    if len(parts) == 2 and signs[0] in ".,":
        decimal = float(".".join(parts))
        return (joined, decimal) if len(parts[0]) <= 3 and len(parts[1]) == 3 else (decimal,)
    if len(parts) > 2 and signs[-1] != signs[0] and signs[-1] in ".,":
        return (float("".join(parts[:-1]) + "." + parts[-1]),)
    return (joined,)


def _read_spelled(word: str, start: int, end: int) -> Fact | None:
    """Read a number or a month in letters: "three", "third", "twenty-five", "six-carbon", "II", "May"."""
    lower = word.lower()
    if lower in _MONTHS and word[0].isupper():
        return Fact("month", word, start, end, (_MONTHS[lower],))
    if word in _ROMAN:
        return Fact("number", word, start, end, (_ROMAN[word],))
    if lower in _ORDINALS:
        return Fact("number", word, start, end, (_ORDINALS[lower],), spelled=True, ordinal=True)
    head, _, tail = lower.partition("-")
    if head not in _NUMBERS:
        return None
    value, unit = _NUMBERS[head], ""
    if tail in FRACTIONS:
        percent = (value * FRACTIONS[tail],)
        return Fact("number", word, start, end, percent, unit="%", rounded=True, spelled=True)
    if tail in _NUMBERS:
        value, tail = value + _NUMBERS[tail], ""
    elif tail.partition("-")[0] in UNITS:
        unit = UNITS[tail.partition("-")[0]]
    return Fact("number", word, start, end, (value,), unit=unit, spelled=True, noun=tail)
