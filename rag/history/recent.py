"""Queries that another web server has just answered: it writes them down a moment after the answer."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID

from django.conf import settings

from rag.history.records import asked_at

WRITTEN_WITHIN_S = 0.75  # of the answer, by a server that has much to write
LOOK_AGAIN_S = 0.05


def looks(query_id: UUID) -> Iterator[float]:
    """A turn for each look at the query, with the seconds to wait after one in vain; one turn if it is old.

    An id tells when the question came, not when it was answered: that may take the whole time of a question.
    """
    age_s = (datetime.now(UTC) - asked_at(query_id)).total_seconds()
    may_be_new = -WRITTEN_WITHIN_S < age_s < settings.ANSWER_TIMEOUT_S + WRITTEN_WITHIN_S
    until = time.monotonic() + (WRITTEN_WITHIN_S if may_be_new else 0.0)
    while time.monotonic() < until:
        yield LOOK_AGAIN_S
    yield 0.0
