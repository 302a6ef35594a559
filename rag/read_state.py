"""The state of all that a question reads, found by one statement on the primary and on a replica."""

import hashlib
from collections.abc import Iterable

from django.conf import settings

from documents.library import collection_states
from knowlex.db.pool import Row
from knowlex.db.replica import Told
from rag.types.question import Question

# It changes as soon as searches go another way: by another model, calibration or index.
_SEARCH_STATE = """
    (SELECT md5(row(m.id, m.provider, m.name, m.dimensions, m.options, m.calibration, i.number, i.kind,
        i.storage, i.rows, i.lists, i.effort, i.serves, i.exact_below)::text)
    FROM embeddings_embeddingmodel m LEFT JOIN embeddings_vectorindex i ON i.model_id = m.id WHERE m.active)
"""
# Columns of a statement over documents_collection c, which has c.id besides.
STATES = f"{collection_states.STATE} AS state, {_SEARCH_STATE} AS search"
# Whether some document of it is not public: read with the state, it is as old, and a later one changes both.
HAS_RESTRICTED = """
    EXISTS (
        SELECT FROM documents_document d WHERE d.collection_id = c.id AND d.readers IS NOT NULL
    ) AS has_restricted
"""
_OF_COLLECTIONS = f"SELECT c.id, {STATES} FROM documents_collection c WHERE c.id = ANY(%s)"  # noqa: S608


def digest_states(rows: Iterable[Row]) -> str:
    """Return a digest, whatever the order; "" where nothing is read."""
    states = sorted(f"{row['id']} {row['state']} {row['search']}" for row in rows)
    return hashlib.sha256("\n".join(states).encode()).hexdigest() if states else ""


def expected_state(question: Question) -> Told | None:
    """Return what a replica must have for this question; None if there is none, or only the primary may
    be asked.
    """
    if not settings.DATABASE_READ or not question.state:
        return None
    return Told(_OF_COLLECTIONS, [list(question.collection_ids)], question.state, digest_states)
