"""Dates as they are compared: "April 3rd, 2004" and "3 April 2004" are one. Plain Python."""

from collections.abc import Iterator, Sequence

from documents.abbreviations import MONTHS
from rag.checking.words import Token

DAYS = 31
YEAR = 4  # digits
ENGLISH = """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    """
MONTHS_LOWER = frozenset(ENGLISH.split()) | MONTHS


def with_dates(tokens: Sequence[Token]) -> Iterator[Token]:
    """The day before the month, without what binds them and the comma behind."""
    place = 0
    if MONTHS_LOWER.isdisjoint([token.text for token in tokens]):
        yield from tokens
        return
    while place < len(tokens):
        day, taken = _month_first(tokens, place)
        if not taken:
            day, taken = _day_first(tokens, place)
        if not taken:
            yield tokens[place]
            place += 1
            continue
        month = next(token for token in tokens[place : place + taken] if _is_month(token))
        first = tokens[place].first
        yield day._replace(first=first)
        yield month._replace(first=False)
        place += taken
        if _is_comma(tokens, place) and _is_year(tokens, place + 1):
            place += 1


def date_before(tokens: Sequence[Token], year: int) -> int:
    """Where the date begins that ends with this year; the year's own place if it ends none."""
    month, day = year - 1, year - 2
    if month < 0 or not _is_year(tokens, year) or not _is_month(tokens[month]):
        return year
    return day if day >= 0 and _day(tokens[day]) else month


def _month_first(tokens: Sequence[Token], place: int) -> tuple[Token, int]:
    token, day = tokens[place], tokens[place + 1] if place + 1 < len(tokens) else None
    if day is None or token.kind not in ("name", "stop") or not _is_month(token):
        return token, 0
    dated = _day(day)
    has_year = _is_year(tokens, place + 2) or (_is_comma(tokens, place + 2) and _is_year(tokens, place + 3))
    return (dated, 2) if dated and has_year else (token, 0)


def _day_first(tokens: Sequence[Token], place: int) -> tuple[Token, int]:
    """ "3 April", "3rd of April"."""
    dated = _day(tokens[place])
    if dated:
        for taken in (2, 3):
            words = tokens[place + 1 : place + taken]
            if len(words) == taken - 1 and _is_month(words[-1]) and (taken == 2 or words[0].text == "of"):
                return dated, taken
    return tokens[place], 0


def _is_month(token: Token) -> bool:
    return token.text in MONTHS_LOWER


def _day(token: Token) -> Token | None:
    number = token.number
    if number is None or token.kind != "number" or not number.value.isdigit() or number.unit:
        return None
    if not 1 <= len(number.value) <= 2 or not 1 <= int(number.value) <= DAYS:
        return None
    return token._replace(number=number._replace(ordinal=False))


def _is_year(tokens: Sequence[Token], place: int) -> bool:
    number = tokens[place].number if 0 <= place < len(tokens) else None
    return number is not None and number.value.isdigit() and len(number.value) == YEAR


def _is_comma(tokens: Sequence[Token], place: int) -> bool:
    return place < len(tokens) and tokens[place].text == ","
