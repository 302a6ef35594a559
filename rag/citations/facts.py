"""The facts of a text that can be compared: numbers with their units, months and names. Plain Python.

A number is read as everything that it may mean in some language's way of writing: `2.018` is 2.018 or 2018,
`5 m` is 5 metres or 5 million, `one in five` and `a fifth` are 20 %. The words that decide are in `data/`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product

from rag.citations.tokens import (
    FRACTIONS,
    MEASURES,
    ROMAN,
    SCALES,
    SHORT_SCALES,
    UNITS,
    WORD,
    WORDS_FOR_NUMBERS,
    Fact,
    Token,
    join_spelled,
    table,
    tokenize,
    years_of,
)

CACHED_TEXTS = 8192  # texts of a sentence's length
_HEDGES = frozenset(table("hedges"))
_OPENERS = frozenset(table("sentence_openers"))
_PERIODS = frozenset(["quarter", "quarters"])  # of a year, but for "a quarter"
_RANGE_SIGNS = frozenset("-–—/")
_ROUNDED = 0.06  # how far "about 50" may be from what it rounds
_NOUNS_ARE_CAPITAL = frozenset({"de", "lb"})
_PARTS = re.compile(r"[-‐‑–/.&’']+")
_SENTENCE_ENDS = frozenset('.!?:\n"“”„«»')
_NAME = re.compile(WORD)
_NUMBER_WITHIN = re.compile(r"(?<!\d)\d{1,9}(?!\d)")
_ODD = re.compile(r"\d|(?<=[^\W_])[A-Z]")  # within a word: COVID-19, BSkyB
_DEGREES = frozenset({"celsius", "fahrenheit"})
_NO_NAMES = WORDS_FOR_NUMBERS | {word.lower() for word in ROMAN} | _DEGREES
_COUNTS = re.compile(rf"\d|\b(?:{'|'.join(_NO_NAMES)})|hundert|tausend|[zß]ig\b", re.IGNORECASE)


def is_same(claimed: Fact, stated: Fact) -> bool:
    """Tell whether two numbers, or two months, are one after conversion, and rounding where it is hinted at.

    An ordinal is no count, but "the second" is II.
    """
    if claimed.kind != stated.kind:
        return False
    if claimed.ordinal != stated.ordinal and claimed.spelled and stated.spelled:
        return False
    if claimed.may_be_metres == stated.may_be_metres:
        return _is_same_number(claimed, stated)
    return any(_is_same_number(*pair) for pair in product(_list_meanings(claimed), _list_meanings(stated)))


def _list_meanings(fact: Fact) -> tuple[Fact, ...]:
    if not fact.may_be_metres:
        return (fact,)
    return fact._replace(unit="m"), fact._replace(values=tuple(value * 1e6 for value in fact.values))


def _is_same_number(claimed: Fact, stated: Fact) -> bool:
    factor = _convert(claimed.unit, stated.unit)
    if factor is None or (claimed.per and stated.per and claimed.per != stated.per):
        return False
    scales = [(claimed.scale, stated.scale)]
    if claimed.scale != stated.scale and 1.0 in scales[0]:
        scales.append((1.0, 1.0))  # the rows of a table leave out the scale that its head names
    readings: Iterable[tuple[float, float]] = product(claimed.values, stated.values)
    if len(claimed.values) == len(stated.values):
        readings = zip(claimed.values, stated.values, strict=True)  # both texts write numbers in the same way
    return any(
        _is_equal(claimed_value * scale, stated_value * stated_scale / factor, rounded=claimed.rounded)
        for claimed_value, stated_value in readings
        for scale, stated_scale in scales
    )


def _convert(from_unit: str, to_unit: str) -> float | None:
    """Return what a value in `from_unit` is to be multiplied by; None for units of two kinds."""
    if from_unit == to_unit or not from_unit or not to_unit or {from_unit, to_unit} == {"gbp", "lb"}:
        return 1.0
    if "cent" in (from_unit, to_unit) and not {from_unit, to_unit}.isdisjoint(("usd", "eur")):
        return 0.01 if from_unit == "cent" else 100.0
    (kind, worth), (to_kind, to_worth) = (
        MEASURES.get(from_unit, ("", 1.0)),
        MEASURES.get(to_unit, ("", 1.0)),
    )
    return worth / to_worth if kind and kind == to_kind else None


def _is_equal(claimed: float, stated: float, *, rounded: bool) -> bool:
    difference, size = abs(claimed - stated), abs(stated)
    if difference <= 1e-6 * size or claimed == stated:
        return True
    if rounded and difference <= _ROUNDED * size:
        return True
    if claimed.is_integer() and abs(claimed) < 10_000:
        return False  # a year or a count
    digits = f"{abs(claimed):.12g}".partition("e")[0].replace(".", "").strip("0")
    return len(digits) > 0 and float(f"{stated:.{len(digits)}g}") == claimed


def facts_of(text: str, language: str = "") -> tuple[Fact, ...]:
    """Return the numbers, months and names of a text, in order."""
    return tuple(sorted((*numbers_of(text), *names_of(text, language)), key=lambda fact: fact.start))


@lru_cache(maxsize=CACHED_TEXTS)
def numbers_of(text: str) -> tuple[Fact, ...]:
    """Return the numbers and months of a text, in order."""
    facts = _find_numbers(join_spelled(list(tokenize(text)))) if _COUNTS.search(text) else ()
    return tuple(fact._replace(text=text[fact.start : fact.end]) for fact in facts)


@lru_cache(maxsize=CACHED_TEXTS)
def numbers_read_in(text: str) -> tuple[Fact, ...]:
    """Return the numbers of a text, and what else may be read as one: 22 or 2022 in "FY22", 1 in "Charles I".

    A claim that says so is found in such a text, and such a claim need not be.
    """
    numbers = numbers_of(text)
    read = {place for fact in numbers for place in range(fact.start, fact.end)}
    return numbers + tuple(
        Fact("number", word[0], word.start(), word.end(), values)
        for word in _NAME.finditer(text)
        if word.start() not in read and (values := _read_within(word[0]))
    )


def _read_within(word: str) -> tuple[float, ...]:
    if word in ROMAN or word.lower() in SCALES:
        return (ROMAN.get(word) or SCALES[word.lower()],)  # "a hundred"
    return tuple(value for digits in _NUMBER_WITHIN.findall(word) for value in years_of(digits))


@lru_cache(maxsize=CACHED_TEXTS)
def names_of(text: str, language: str = "") -> tuple[Fact, ...]:
    """Return the names of a text, in order: words with capital letters that follow each other.

    A word that only begins a sentence names nothing by itself, unless there is a digit or a capital letter
    within. language: of the text; where nouns are written with a capital letter, neither does any other word.
    """
    runs: list[list[re.Match[str]]] = []
    opening: set[int] = set()  # places of words that begin a sentence
    done = 0
    for word in _NAME.finditer(text):
        gap, lower = text[done : word.start()], word[0].lower()
        begins = not done or not _SENTENCE_ENDS.isdisjoint(gap)
        done = word.end()
        if lower == word[0] or lower in _NO_NAMES or (begins and lower in _OPENERS):
            continue
        if begins:
            opening.add(word.start())
        if runs and runs[-1][-1].end() + len(gap) == word.start() and not gap.strip():
            runs[-1].append(word)
        else:
            runs.append([word])
    names = []
    for run in runs:
        begin, end = run[0].start(), run[-1].end()
        named = run[1:] if begin in opening and len(run) > 1 else run
        least = 2 if language in _NOUNS_ARE_CAPITAL else 1
        parts = _collect_parts(named)  # none of the "S" in "the S strain"
        if parts and (
            _ODD.search(named[0][0], 1) or (len(named) >= least and named[0].start() not in opening)
        ):
            names.append(Fact("name", text[begin:end], begin, end, name=parts))
    return tuple(names)


def _collect_parts(run: Sequence[re.Match[str]]) -> tuple[str, ...]:
    return tuple(part for word in run for part in name_parts(word[0]))


def _find_numbers(items: Sequence[Token]) -> Iterator[Fact]:
    """Yield numbers and months with the scales, units and hedges around them."""
    index = 0
    while index < len(items):
        fact, item = items[index].fact, items[index]
        if fact is None:
            if (
                item.lower in FRACTIONS
                and _lower_at(items, index + 1) in ("a", "an")
                and (unit := UNITS.get(_lower_at(items, index + 2), ""))
            ):
                yield Fact(
                    "number", item.text, item.start, item.end, (FRACTIONS[item.lower] / 100,), unit=unit
                )
            elif item.lower in FRACTIONS and (
                item.lower not in _PERIODS
                or _lower_at(items, index - 1) in ("a", "ein", "un", "about", "over")
            ):
                yield Fact(
                    "number", item.text, item.start, item.end, (FRACTIONS[item.lower],),
                    unit="%", rounded=True, spelled=True,
                )  # fmt: skip
            index += 1
        elif fact.kind == "month":
            yield fact
            index += 1
        else:
            fact = _complete(fact, items, index)
            whole, index = _read_fraction(fact, items, index)
            if whole is None:
                whole, index = _read_unit(fact, items, index)
            yield whole


def _complete(fact: Fact, items: Sequence[Token], index: int) -> Fact:
    """Add the number that the end of a range may be short for: 1918 for the 18 of "1914-18"."""
    lower = items[index - 2].fact if index > 1 and items[index - 1].text in _RANGE_SIGNS else None
    if lower and lower.text.isdigit() and fact.text.isdigit() and len(fact.text) < len(lower.text):
        whole = float(lower.text[: -len(fact.text)] + fact.text)
        return fact._replace(values=(*fact.values, whole))
    return fact


def _read_fraction(fact: Fact, items: Sequence[Token], index: int) -> tuple[Fact | None, int]:
    """Read "a third", "two thirds" or "one in five"; return (None, place) for any other number."""
    behind = items[index + 1] if index + 1 < len(items) else None
    after = behind.text.lower() if behind else ""
    if (
        fact.ordinal
        and fact.text.lower() in FRACTIONS
        and _lower_at(items, index - 1) in ("a", "about", "ein")
    ):
        return _make_percent(fact, FRACTIONS[fact.text.lower()], fact.end), index + 1
    if not fact.spelled or fact.ordinal or behind is None:
        return None, index
    if after in FRACTIONS and (fact.values[0] == 1) != after.endswith("s"):
        return _make_percent(fact, fact.values[0] * FRACTIONS[after], behind.end), index + 2
    whole_index = index + (3 if after == "out" else 2)
    whole = items[whole_index].fact if after in ("in", "out", "von") and whole_index < len(items) else None
    if whole and whole.spelled and not whole.ordinal and whole.values[0] > fact.values[0]:
        return _make_percent(fact, 100 * fact.values[0] / whole.values[0], whole.end), whole_index + 1
    return None, index


def _make_percent(fact: Fact, value: float, end: int) -> Fact:
    return fact._replace(values=(value,), unit="%", rounded=True, ordinal=False, spelled=True, end=end)


def _read_unit(fact: Fact, items: Sequence[Token], index: int) -> tuple[Fact, int]:
    """Return the number with what follows it: "5 million dollars", "20 per cent", "$850-950 million"."""
    taken, scale, values = index + 1, fact.scale, fact.values
    ranged = _find_range_end(items, taken)
    look = taken if ranged is None else ranged + 1  # "67 to 71 cents": both are of cents
    while (word := _lower_at(items, look)) in SCALES or (fact.unit and word in SHORT_SCALES):
        scale *= SCALES.get(word) or SHORT_SCALES[word]
        look += 1
    end = items[look - 1].end if ranged is None else fact.end
    unit, word, metres = fact.unit, _lower_at(items, look), fact.may_be_metres
    if not unit and not fact.ordinal:
        words = 1
        if word in ("per", "percentage"):
            following, words = _lower_at(items, look + 1), 2
            unit = "%" if following == "cent" else "pp" if following.startswith("point") else ""
        elif (following := _lower_at(items, look + 1)) in _DEGREES:
            unit, words = UNITS[following], 2
        elif word == "m":
            metres = True
        elif word in SHORT_SCALES and not fact.spelled:
            values += tuple(value * SHORT_SCALES[word] for value in fact.values)
        elif items[look : look + 1] and ranged is not None and (upper := items[ranged].fact):
            unit = upper.unit or UNITS.get(word, "")
        elif word != "in":
            unit = UNITS.get(word.partition("/")[0], "")
        if unit and ranged is None:
            look, end = look + words, items[min(look + words, len(items)) - 1].end
    before = {_lower_at(items, index - 1), _lower_at(items, index - 2)}
    rounded = fact.rounded or not _HEDGES.isdisjoint(before)
    fact = fact._replace(
        values=values,
        scale=scale,
        unit=unit,
        per=_find_rate(word, items, look),
        may_be_metres=metres,
        end=end,
        rounded=rounded,
        noun=fact.noun or _find_noun(items, look),
    )
    return fact, look if ranged is None else taken


def _find_rate(word: str, items: Sequence[Token], index: int) -> str:
    """Return the unit that a number is counted by: year for "£180 a year", litre for "mg/l"; "" without."""
    _, _, by = word.partition("/")
    if not by and _lower_at(items, index) in ("a", "an", "per", "each", "every", "je", "pro", "par", "por"):
        by = _lower_at(items, index + 1)
    return UNITS.get(by, "")


def _find_range_end(items: Sequence[Token], index: int) -> int | None:
    """Return the place of the upper number of a range whose sign stands at `index`; None without."""
    if _lower_at(items, index) in ("-", "–", "—", "to", "bis", "and") and index + 1 < len(items):
        upper = items[index + 1].fact
        if upper and upper.kind == "number" and not upper.spelled:
            return index + 1
    return None


def _find_noun(items: Sequence[Token], index: int) -> str:
    word = _lower_at(items, index)
    return word if len(word) > 3 and word[0].isalpha() else ""


def _lower_at(items: Sequence[Token], index: int) -> str:
    return items[index].lower if 0 <= index < len(items) else ""


@lru_cache(maxsize=CACHED_TEXTS)
def name_parts(word: str) -> tuple[str, ...]:
    """Return the parts of a word in lower case, without "'s": COVID-19 is covid and 19."""
    return tuple(part for part in _PARTS.split(word.lower()) if part and part != "s")
