"""Identifiers: UUID version 7, so that primary keys sort by the time they were made."""

import re
from uuid import UUID

import uuid_utils.compat

from knowlex.base.errors import InvalidInput

_CANONICAL = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


def new_id() -> UUID:
    """Return a fresh UUID version 7 (RFC 9562), as the standard library's type."""
    return uuid_utils.compat.uuid7()


def parse_id(text: str, *, field: str) -> UUID:
    """Return the UUID that `text` spells in the canonical form, 8-4-4-4-12 hex digits.

    Raises InvalidInput naming `field`. Stricter than UUID(), which also takes braces, `urn:uuid:` and digits
    without dashes.
    """
    if not _CANONICAL.fullmatch(text):
        raise InvalidInput(f"{field} is not a valid UUID.", field=field)
    return UUID(text)
