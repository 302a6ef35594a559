"""Queries are kept for some days, and then they go with all that belongs to them."""

from django.conf import settings

from knowlex.db.threads import execute, with_retries

AT_ONCE, BATCHES = 500, 4

_FORGET = """
    DELETE FROM rag_query WHERE id IN (
        SELECT id FROM rag_query WHERE created_at < now() - make_interval(days => %s)
        ORDER BY created_at LIMIT %s FOR UPDATE SKIP LOCKED
    ) RETURNING 1
"""


def forget_old_queries() -> int:
    """Some of those that are older than the settings say, a few thousand at most. Returns how many went."""
    count = 0
    for _ in range(BATCHES):
        gone = len(with_retries(lambda: execute(_FORGET, [settings.QUERY_RETENTION_DAYS, AT_ONCE])))
        count += gone
        if gone < AT_ONCE:
            break
    return count
