"""The state of all that a question reads, found by one statement on the primary and on a replica."""

import hashlib
from collections.abc import Iterable

from django.conf import settings

from documents.library import collection_states
from embeddings.search import dense
from knowlex.db.pool import Row
from knowlex.db.replica import Told
from rag.types.question import Question

# Columns of a statement over documents_collection c, which has c.id besides.
STATES = f"{collection_states.STATE} AS state, {dense.SEARCH_STATE} AS search"
_OF_COLLECTIONS = f"SELECT c.id, {STATES} FROM documents_collection c WHERE c.id = ANY(%s)"  # noqa: S608


def digest_states(rows: Iterable[Row]) -> str:
    """In whatever order; "" where nothing is read."""
    states = sorted(f"{row['id']} {row['state']} {row['search']}" for row in rows)
    return hashlib.sha256("\n".join(states).encode()).hexdigest() if states else ""


def expected_state(question: Question) -> Told | None:
    """What a replica must have for this question; None if there is none, or only the primary may be asked."""
    if not settings.DATABASE_READ or not question.state:
        return None
    return Told(_OF_COLLECTIONS, [list(question.collection_ids)], question.state, digest_states)
