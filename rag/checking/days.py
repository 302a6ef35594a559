"""Dates in digits, spelled out as their language does: "31.03.2024" is "31 März 2024". Plain Python."""

import re
from collections.abc import Mapping, Sequence

NUMERIC = re.compile(r"\b\d{1,4}[-./]\d{1,2}[-./]")  # what may be such a date
_DATE = re.compile(
    r"\b(?:(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b"
    r"|(?P<first>\d{1,2})(?P<sign>[./])(?P<second>\d{1,2})(?P=sign)(?:(?P<last>\d{4})\b|(?![\d.])))"
)
_MONTHS: Mapping[str, Sequence[str]] = {
    language: names.split()
    for language, names in {
        "en": """
            January February March April May June July August September October November December
            """,
        "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "es": """
            enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
            """,
    }.items()
}
_ENGLISH = ("", "en")


def spelled(text: str, language: str) -> str:
    """Those that can be told; "3/4/2024" in English can not."""
    return _DATE.sub(lambda found: _spelled(found, language), text) if (language or "en") in _MONTHS else text


def _spelled(found: re.Match[str], language: str) -> str:
    if found["year"]:
        day, month, year = found["day"], found["month"], found["year"]
    else:
        day, month, year = found["first"], found["second"], found["last"] or ""
        if language in _ENGLISH and found["sign"] == "/" and int(month) > 12:
            day, month = month, day
        elif language in _ENGLISH and (int(day) <= 12 or not year):
            return found[0]
        if found["sign"] == "/" and not year:
            return found[0]
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return found[0]
    return f"{int(day)} {_MONTHS[language or 'en'][int(month) - 1]} {year}".rstrip()
