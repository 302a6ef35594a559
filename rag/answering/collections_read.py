"""Which collections a question reads, and in which state all that it reads is: one statement."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from documents.access.scopes import Access
from documents.models import DEFAULT_COLLECTION
from knowlex.base.errors import NotFound
from knowlex.db.pool import fetch_shared
from rag.answering.states import STATES, state_of

# The inner SELECTs hide the values from the planner: it would make a new plan for each question, which takes
# three times as long as what is planned.
_NAMED = f"""
    SELECT c.id, c.name, {STATES} FROM documents_collection c
    WHERE c.name = ANY((SELECT %(names)s::text[])::text[])
        OR c.id::text = ANY((SELECT %(ids)s::text[])::text[])
"""  # noqa: S608 - constants only
_READABLE = f"""
    SELECT c.id, {STATES} FROM documents_collection c
    WHERE %(allowed)s::uuid[] IS NULL OR c.id = ANY(%(allowed)s)
"""  # noqa: S608 - constants only


@dataclass(frozen=True, slots=True)
class Reading:
    """collection_ids: in the order in which they were named. state: as in `rag.types.question.Question`.

    The state is as old as the ids: what a search finds afterwards is of this state, or of a newer one.
    """

    collection_ids: tuple[UUID, ...]
    state: str


async def named(names_or_ids: Sequence[str], *, access: Access, field: str = "collection") -> Reading:
    """These collections; a name goes before an id. Raises NotFound, Forbidden.

    `default` always exists: before it is made again, it is empty and has no id.
    """
    ids = [name.lower() for name in names_or_ids]
    asked = {"names": list(names_or_ids), "ids": ids}
    rows = await fetch_shared(_NAMED, asked, same=(_NAMED, *names_or_ids))
    found = {str(row["id"]): row for row in rows} | {row["name"]: row for row in rows}
    chosen = {name: found.get(name) or found.get(name.lower()) for name in names_or_ids}
    if any(row is None and name != DEFAULT_COLLECTION for name, row in chosen.items()):
        raise NotFound("Collection not found.", details={"field": field})
    read = {row["id"]: row for row in chosen.values() if row is not None}
    for collection_id in read:
        access.require_collection(collection_id, field=field)
    return Reading(tuple(read), state_of(read.values()))


async def readable(access: Access) -> Reading:
    """All that the caller may read."""
    rows = await fetch_shared(_READABLE, {"allowed": access.allowed}, same=(_READABLE, access.collection_ids))
    return Reading(tuple(row["id"] for row in rows), state_of(rows))
