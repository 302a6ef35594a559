"""In which state a collection is: another one after every change of what a question may find in it.

Triggers (migrations/sql/collection_changes.sql) add a row with a random mark for each change; the state is
their sum. A sum, since the greatest id would miss a change that began earlier and was committed later.
"""

from collections.abc import Sequence
from uuid import UUID

from knowlex.db.threads import execute, with_retries

FOLD_ABOVE = 50  # rows of a collection
_MODULUS = 1 << 62

# Of the collection `c` of the statement that this stands in; null before its first change.
STATE = f"""
    (SELECT mod(sum(mark), {_MODULUS})::bigint FROM documents_collectionchange WHERE collection_id = c.id)
"""  # noqa: S608 - constants only
# One statement: a reader sees all rows as they were, or their sum. Rows that somebody else is folding, and
# those that come meanwhile, are left alone; those of collections that are gone go.
_FOLD = f"""
    WITH many AS (
        SELECT collection_id FROM documents_collectionchange GROUP BY collection_id
        HAVING count(*) > %(above)s
            OR NOT EXISTS (SELECT FROM documents_collection c WHERE c.id = collection_id)
    ), gone AS (
        DELETE FROM documents_collectionchange WHERE id IN (
            SELECT id FROM documents_collectionchange WHERE collection_id IN (SELECT collection_id FROM many)
            FOR UPDATE SKIP LOCKED
        ) RETURNING collection_id, mark
    )
    INSERT INTO documents_collectionchange (collection_id, mark)
    SELECT collection_id, mod(sum(mark), {_MODULUS}) FROM gone
    WHERE EXISTS (SELECT FROM documents_collection c WHERE c.id = collection_id) GROUP BY collection_id
"""  # noqa: S608 - constants only
_NOTE = """
    SELECT documents_collections_changed(ARRAY(
        SELECT DISTINCT d.collection_id
        FROM documents_chunk c JOIN documents_document d ON d.id = c.document_id
        WHERE c.id = ANY(%s) AND d.replaces_id IS NULL
    ))
"""


def record_changes(chunk_ids: Sequence[UUID]) -> None:
    """These are found otherwise from now on, though no row of theirs has changed. In a transaction."""
    if chunk_ids:
        execute(_NOTE, [list(chunk_ids)])


def fold_changes(*, above: int = FOLD_ABOVE) -> None:
    """Make one row of the many of a collection; no state changes. Raises DatabaseUnavailable."""
    with_retries(lambda: execute(_FOLD, {"above": above}))
