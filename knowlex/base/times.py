"""Times as every face writes them."""

from datetime import UTC, datetime


def utc_timestamp(moment: datetime | None = None) -> str:
    """Write a moment, or now, as ISO 8601 in UTC with milliseconds and a Z."""
    moment = (moment or datetime.now(UTC)).astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
