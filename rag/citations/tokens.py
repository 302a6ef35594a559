"""The tokens of a text that facts are read from: numbers, months, other words and marks. Plain Python."""

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Literal, NamedTuple
from unicodedata import numeric

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
SCALES = {word: float(worth) for word, worth in table("scales").items()}
FRACTIONS = {word: float(percent) for word, percent in table("fractions").items()}
_MONTHS = {word: float(month) for word, month in table("months").items()}
_NO_MONTHS = frozenset({"march", "may", "mai", "mar", "sept"})  # in lower case, but behind a day
_ONES = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
ROMAN = {
    tens + ones: 10.0 * ten + one
    for ten, tens in enumerate(("", "X", "XX"))
    for one, ones in enumerate(_ONES)
}
DOUBTFUL_ROMAN = frozenset({"", "I", "V", "X"})  # other words, or letters, too
_NO_UNITS = frozenset({"m", "s", "am", "pm"})  # or not for sure
SHORT_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9}
_DIGITS = r"\d{1,40}(?:[.,'’\u00a0\u202f\u2009]\d{1,40}|[ ]\d{3}(?!\d)){0,12}"
WORD = r"[^\W\d_](?:[\w’'+]|[-‐‑/.&](?=\w))*|(?<!\d)\d++[^\W\d_]\w*"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_TOKEN = re.compile(
    rf"""
      (?P<date>\b(?:
          \d{{4}}(?P<iso>[-/.]){_MONTH}(?P=iso){_DAY}(?!\d)
        | {_DAY}\.[ ]?{_MONTH}\.(?:[ ]?\d{{4}}\b|\d\d(?![\w]|\.\d)|(?!\w))
        | (?={_DAY}[/-]{_MONTH}[/-]|{_MONTH}[/-]{_DAY}[/-])
          \d\d?(?P<sign>[/-])\d\d?(?P=sign)(?:\d{{4}}|(?<=/)\d\d)(?![\w/-])))
    | (?P<afternoon>(?<![\w:.])\d{{1,2}}(?=(?:[:.]\d\d)?[ ]?[pP]\.?[mM]\b))
    | (?:(?P<currency>(?:US)?[$€£¥])[ ]?)?(?P<digits>(?<![^\W_]){_DIGITS})
      (?P<part>[ ]?[¼-¾⅐-⅞]|[ ][1-9]/[2-9](?![\d/]))?(?P<suffix>[ ]?[%‰°](?:[CF]\b)?|[^\W\d_]{{1,12}}(?!\w))?
    | (?P<word>{WORD})
    | (?P<dash>[-–—/](?=\d))
    | (?P<mark>[.!?:;,()|\"“”„«»\n])
    """,
    re.VERBOSE,
)
_UNSPACED = re.compile(rf"(?![\d万萬亿億])[{UNSPACED}]")
_JOINTS = {"and": 100.0, "und": 100.0, "y": 10.0, "et": 10.0}  # within a number, behind no less than that
_BEHIND_DAY = re.compile(r"\d\.? \Z")
_SIGNS = re.compile(r"[.,'’ \u00a0\u202f\u2009]")
WORDS_FOR_NUMBERS = frozenset((*_NUMBERS, *_ORDINALS, *FRACTIONS, *_MONTHS))


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
            yield from _read_date(match[0], start)
        elif match["afternoon"]:
            hour = float(match[0])
            yield Token(match[0], start, end, Fact("number", match[0], start, end, (hour, hour % 12 + 12)))
        elif match["digits"]:
            yield _read_digits(match)
        elif match["word"]:
            is_month = match[0].lower() not in _NO_MONTHS or _BEHIND_DAY.search(
                spaced, max(0, start - 4), start
            )
            yield Token(match[0], start, end, _read_spelled(match[0], start, end, bool(is_month)))
        else:
            yield Token(match[0], start, end)


def _read_date(text: str, start: int) -> Iterator[Token]:
    """Yield a day, a month and a year for "2024-03-31", "31.03.2024" or "3/31/24". Of "6/3/2024" either may
    be the day, and "3.5." at a sentence's end may be a decimal.
    """
    parts = re.findall(r"\d+", text)
    one, other, *year = reversed(parts) if len(parts[0]) == 4 else parts
    either = [(one, other)] if "." in text or len(parts[0]) == 4 else [(one, other), (other, one)]
    days, months = zip(
        *((float(day), float(month)) for day, month in either if int(month) <= 12), strict=True
    )
    kinds: list[tuple[Kind, tuple[float, ...]]] = [("number", days), ("month", months)]
    if year:
        kinds.append(("number", years_of(year[0])))
    else:
        text = text.rstrip(".")
        kinds[0] = ("number", (*days, float(".".join(parts))))
    for kind, values in kinds:
        yield Token(text, start, start + len(text), Fact(kind, text, start, start + len(text), values))


def years_of(digits: str) -> tuple[float, ...]:
    """Return the number that digits write, and the years that they may be short for."""
    number = float(digits)
    return (number, 1900 + number, 2000 + number) if len(digits) == 2 else (number,)


def _read_digits(match: re.Match[str]) -> Token:
    text = match[0].strip()
    start, end = match.end() - len(match[0].lstrip()), match.end()
    suffix = (match["suffix"] or "").strip().lower()
    part = (match["part"] or "").strip()
    more = float(Fraction(part)) if "/" in part else numeric(part) if part else 0.0
    values = tuple(value + more for value in _readings(match["digits"]))
    unit = UNITS.get((match["currency"] or "").removeprefix("US"), "")
    ordinal = suffix in ("st", "nd", "rd", "th")
    scale = 1.0
    if suffix in SCALES or (suffix in SHORT_SCALES and unit):
        scale = SCALES.get(suffix) or SHORT_SCALES[suffix]
    elif suffix in SHORT_SCALES and suffix != "m":
        values = (*values, *(value * SHORT_SCALES[suffix] for value in values))
    elif suffix in UNITS and suffix not in _NO_UNITS:
        unit = UNITS[suffix]
    elif suffix and suffix not in _NO_UNITS and not ordinal:
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


def _read_spelled(word: str, start: int, end: int, is_month: bool) -> Fact | None:
    """Read a number or a month in letters: "three", "third", "twenty-five", "six-carbon", "II", "May"."""
    lower = word.lower()
    if lower in _MONTHS and (is_month or word[0].isupper()):
        return Fact("month", word, start, end, (_MONTHS[lower],))
    if word in ROMAN and word not in DOUBTFUL_ROMAN:
        return Fact("number", word, start, end, (ROMAN[word],))
    if lower in _ORDINALS:
        return Fact("number", word, start, end, (_ORDINALS[lower],), spelled=True, ordinal=True)
    if (compound := _read_compound(lower)) is not None:
        return Fact("number", word, start, end, (compound,), spelled=True)
    head, _, tail = lower.partition("-")
    if head not in _NUMBERS:
        return None
    value, unit, ordinal = _NUMBERS[head], "", tail in _ORDINALS
    if tail in FRACTIONS and not (ordinal and value >= 20):
        percent = (value * FRACTIONS[tail],)
        return Fact("number", word, start, end, percent, unit="%", rounded=True, spelled=True)
    if tail in _NUMBERS or ordinal:
        value, tail = value + (_NUMBERS.get(tail) or _ORDINALS[tail]), ""
    elif tail.partition("-")[0] in UNITS:
        unit = UNITS[tail.partition("-")[0]]
    return Fact("number", word, start, end, (value,), unit=unit, spelled=True, ordinal=ordinal, noun=tail)


def _read_compound(word: str) -> float | None:
    """Read "zwei", "fünfundzwanzig" or "zweihundertfünfzig"; None for any other word."""
    if word in _NUMBERS or word in SCALES:
        return _NUMBERS.get(word)
    for scale in ("tausend", "hundert"):
        head, found, tail = word.partition(scale)
        if found:
            count, more = _read_compound(head) if head else 1.0, _read_compound(tail) if tail else 0.0
            return None if count is None or more is None else count * SCALES[scale] + more
    ones, _, tens = word.removeprefix("und").rpartition("und")
    one = 1.0 if ones == "ein" else _NUMBERS.get(ones, 10.0)
    return one + _NUMBERS[tens] if one < 10 and _NUMBERS.get(tens, 0.0) >= 20 else None


def join_spelled(tokens: Sequence[Token]) -> list[Token]:
    """Join the words of one number: "two thousand five hundred", "one hundred and fifty", "treinta y cinco".

    One word with its scales, "two hundred", stays as it is.
    """
    joined: list[Token] = []
    done = 0
    while done < len(tokens):
        value, end = _add_up(tokens, done) if not (joined and joined[-1].fact) else (0.0, done + 1)
        token, behind = tokens[done], tokens[end - 1].end
        if end - done > 1:
            fact = Fact("number", token.text, token.start, behind, (value,), spelled=True)
            token = Token(token.text, token.start, behind, fact)
        joined.append(token)
        done = end
    return joined


def _add_up(tokens: Sequence[Token], start: int) -> tuple[float, int]:
    """Return the number that several words from there on name, and the place behind them."""
    total = part = 0.0
    room = limit = 1e15  # what is added, or multiplied, comes to less
    largest, counts, end = 1.0, 0, start
    for place in range(start, len(tokens)):
        value, word = _count_at(tokens, place), tokens[place].lower
        if value:
            scale = SCALES.get(tokens[place + 1].lower, 1.0) if place + 1 < len(tokens) else 1.0
            if value >= room or (value * scale >= room and scale <= largest):
                break  # "one hundred and two hundred"
            part, counts, end = part + value, counts + 1, place + 1
            room = 100.0 if value % 100 == 0 else 10.0 if value >= 20 and value % 10 == 0 else 1.0
        elif word in SCALES and place == end and 0 < (part or place == start) * SCALES[word] < limit:
            room = scale = SCALES[word]
            counts, end, largest = counts or 1, place + 1, max(largest, scale)
            part = (part or 1.0) * scale
            if scale >= 1000:
                total, part, limit = total + part, 0.0, scale
        elif not start < end == place or _JOINTS.get(word, limit) > room:
            break
    return (total + part, end) if counts > 1 else (0.0, start + 1)


def _count_at(tokens: Sequence[Token], place: int) -> float:
    """Return what the word there counts; 0 for any other."""
    fact = tokens[place].fact
    counts = fact and fact.kind == "number" and fact.spelled and not (fact.ordinal or fact.unit or fact.noun)
    return fact.values[0] if fact and counts else 0.0
