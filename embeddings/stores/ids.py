"""Ids of chunks as stores give them back."""

from uuid import UUID


def chunk_id_of(text: object) -> UUID | None:
    """None for one that is not ours: somebody else has put it there."""
    try:
        return UUID(str(text))
    except ValueError:
        return None
