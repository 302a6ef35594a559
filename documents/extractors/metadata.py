"""What a file says about itself, cleaned: authors put anything there, U+0000 included."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone

from documents.extractors.cleaning import clean_label

_NAMES = {"Author": "author", "Subject": "subject", "Keywords": "keywords", "Creator": "creator"}
_DATES = {"CreationDate": "created", "ModDate": "modified"}
_DATE = re.compile(
    r"(?:D:)?(?P<year>\d{4})(?P<month>\d\d)?(?P<day>\d\d)?(?P<hour>\d\d)?(?P<minute>\d\d)?(?P<second>\d\d)?"
    r"(?:(?P<sign>[+-])(?P<off_hours>\d\d)'?(?P<off_minutes>\d\d)?|Z)?"
)


def pdf_metadata(raw: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """(title, the rest under our names); dates in ISO 8601, what is empty or unusable is left out."""
    found = {ours: clean_label(raw.get(theirs, "")) for theirs, ours in _NAMES.items()}
    found |= {ours: pdf_date(raw.get(theirs, "")) for theirs, ours in _DATES.items()}
    return clean_label(raw.get("Title", "")), {name: value for name, value in found.items() if value}


def pdf_date(raw: str) -> str:
    """ "D:20240131120000+01'00'" -> "2024-01-31T12:00:00+01:00"; "" if it is no date (ISO 32000-1, 7.9.4)."""
    found = _DATE.match(raw.strip())
    if found is None:
        return ""
    part = {name: int(value) for name, value in found.groupdict(default="0").items() if name != "sign"}
    offset = timedelta(hours=part["off_hours"], minutes=part["off_minutes"])
    try:
        zone = timezone(-offset if found["sign"] == "-" else offset) if found["sign"] else UTC
        moment = datetime(
            part["year"],
            part["month"] or 1,
            part["day"] or 1,
            part["hour"],
            part["minute"],
            part["second"],
            tzinfo=zone,
        )
    except ValueError:
        return ""
    return moment.isoformat()
