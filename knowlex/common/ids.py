"""Identifiers: UUID version 7, so that primary keys sort by the time they were made."""

from uuid import UUID

import uuid_utils.compat


def new_id() -> UUID:
    """A fresh UUID version 7 (RFC 9562), as the standard library's type."""
    return uuid_utils.compat.uuid7()
