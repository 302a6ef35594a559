"""Folding the rows that triggers add for every change: each word of a collection has one row again."""

from django.db import transaction

from embeddings.work.queue import LEXEME_LOCK, try_lock
from knowlex.db.threads import execute, with_retries

MIN_NEW_ROWS = 20_000
# One statement: a reader sees all rows as they were, or all sums; rows that come meanwhile are left alone.
_FOLD = """
    WITH counted AS (
        SELECT DISTINCT collection_id, lexeme FROM embeddings_lexemecount
        WHERE id > %(since)s AND id <= %(until)s
    ), gone AS (
        DELETE FROM embeddings_lexemecount c USING counted
        WHERE c.collection_id = counted.collection_id AND c.lexeme = counted.lexeme AND c.id <= %(until)s
            AND EXISTS (SELECT FROM embeddings_lexemecount o WHERE o.collection_id = c.collection_id
                AND o.lexeme = c.lexeme AND o.id <> c.id AND o.id <= %(until)s)
        RETURNING c.collection_id, c.lexeme, c.chunks
    )
    INSERT INTO embeddings_lexemecount (collection_id, lexeme, chunks)
    SELECT collection_id, lexeme, sum(chunks) FROM gone GROUP BY collection_id, lexeme HAVING sum(chunks) <> 0
"""


def fold_counts(*, since: int, min_new_rows: int = MIN_NEW_ROWS) -> int:
    """Fold the words that were counted after row `since`, if enough were; returns the next call's `since`."""
    return with_retries(lambda: _fold_counts(since, min_new_rows))


@transaction.atomic
def _fold_counts(since: int, min_new_rows: int) -> int:
    until = _newest()
    if until - since < min_new_rows or not try_lock(LEXEME_LOCK):
        return since
    execute(_FOLD, {"since": since, "until": until})
    return _newest()


def _newest() -> int:
    return int(execute("SELECT coalesce(max(id), 0) FROM embeddings_lexemecount")[0][0])
