"""Checks that the stored data are as they must be. Each looks once at all of one kind of row, or at all
files.

Everything that concerns the database alone is read in one snapshot, so that work under way looks neither
half done nor broken. Nothing is repaired here: each finding says what its repair is.
"""

import time
from collections.abc import Iterator

from django.db import transaction

from embeddings.models import EmbeddingModel
from embeddings.sanity import contents, files, statements
from embeddings.sanity.types import SanityCheck, SanityFinding
from knowlex.db.threads import execute, release_connection

SETTLING_S = 8.0  # a sweep every 3 s, and its work
_AGAIN_S = 0.5
__all__ = ["SanityFinding", "check_sanity"]


def check_sanity(*, deep: bool = False) -> Iterator[SanityFinding]:
    """Yield one finding for each check, broken or not, as it is made.

    deep: also read every stored file, and embed a sample of chunks anew with the configured model.
    Raises DatabaseUnavailable, EmbedderError (deep), StorageUnavailable.
    """
    unsettled: list[SanityCheck] = []
    with transaction.atomic():
        execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        for check in (*statements.check_foreign_keys(), *statements.CHECKS):
            finding = _run(check)
            if finding.broken and check.settles:
                unsettled.append(check)
            else:
                yield finding
        yield from contents.check_texts()
        sample = contents.sample_chunks() if deep else []
    yield from _recheck(unsettled)
    yield from files.check_files(deep=deep)
    if deep:
        release_connection()
        yield contents.check_own_text(sample)


def _recheck(checks: list[SanityCheck]) -> Iterator[SanityFinding]:
    """Yield what is still broken after a while; rows that change all the time may be others than before."""
    ends = time.monotonic() + SETTLING_S
    for check in checks:
        while (finding := _run(check)).broken and time.monotonic() < ends:
            time.sleep(_AGAIN_S)
        yield finding


def _run(check: SanityCheck) -> SanityFinding:
    model_id = EmbeddingModel.objects.active().values_list("id", flat=True).first()
    count, sample = execute(check.counting_sql, {"model": model_id})[0]
    return check.finding(count, sample)
