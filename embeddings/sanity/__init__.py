"""Are the stored data as they must be? Each check is one look at all of one kind of row, or at all files.

Everything that concerns the database alone is read in one snapshot, so that work under way looks neither
half done nor broken. Nothing is repaired here: each finding says what its repair is.
"""

import time
from collections.abc import Iterator

from django.db import connection, transaction

from embeddings.sanity import files, statements, texts, vectors
from embeddings.sanity.types import Check, Finding
from embeddings.work.queue import execute
from knowlex.db.threads import release_connection

SETTLING_S = 8.0  # a sweep every 3 s, and its work
_AGAIN_S = 0.5
__all__ = ["Finding", "sanity"]


def sanity(*, deep: bool = False) -> Iterator[Finding]:
    """One Finding for each check, broken or not, as it is made.

    deep: also read every stored file, and embed a sample of chunks anew with the configured model.
    Raises DatabaseUnavailable, EmbedderError (deep), StorageUnavailable.
    """
    later: list[Check] = []
    with transaction.atomic():
        execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        for check in statements.checks():
            finding = _looked(check)
            if finding.broken and check.settles:
                later.append(check)
            else:
                yield finding
        yield from texts.findings()
        sample = vectors.sample() if deep else []
    yield from _settled(later)
    yield from files.findings(deep=deep)
    if deep:
        release_connection()
        yield vectors.finding(sample)


def _settled(checks: list[Check]) -> Iterator[Finding]:
    """What is still broken after a while; rows that change hands all the time may be others than before."""
    ends = time.monotonic() + SETTLING_S
    for check in checks:
        while (finding := _looked(check)).broken and time.monotonic() < ends:
            time.sleep(_AGAIN_S)
        yield finding


def _looked(check: Check) -> Finding:
    with connection.cursor() as cursor:
        cursor.execute(check.bounded(), check.params)
        count, sample = cursor.fetchone()
    return check.finding(count, sample)
