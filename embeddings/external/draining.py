"""The outbox emptied while somebody waits for it: by this process, beside the workers."""

import time
from collections.abc import Iterator

from embeddings.external import delivery
from embeddings.models import DroppedSpace, OutboxEntry, OutsideStore
from knowlex.base.errors import VectorStoreFailed
from knowlex.db.threads import with_retries

POLL_S = 0.2
PATIENCE_S = 60.0  # with what a worker has in hand


def drain_outbox() -> Iterator[int]:
    """How many entries are left, now and then, until there is none.

    Raises VectorStoreFailed if the store is down, or refuses what is left; DatabaseUnavailable.
    """
    since, last = time.monotonic(), -1
    while left := with_retries(_count_left):
        if left != last:
            since, last = time.monotonic(), left
            yield left
        if delivery.deliver_once():
            continue
        if reason := with_retries(_explain_standstill):
            raise VectorStoreFailed(f"{reason.rstrip('.')}. {left} entries stay in the outbox.")
        if time.monotonic() - since > PATIENCE_S:
            raise VectorStoreFailed(f"Nothing was shipped for {PATIENCE_S:.0f} s; {left} entries are left.")
        time.sleep(POLL_S)


def _count_left() -> int:
    return OutboxEntry.objects.count() + DroppedSpace.objects.count()


def _explain_standstill() -> str:
    """Why nothing goes on; "" if that is not known."""
    store = OutsideStore.objects.first()
    if store is None or store.failures:
        return store.error if store else "There is no vector store in use any more."
    refused = OutboxEntry.objects.exclude(error="").first()
    return refused.error if refused and not OutboxEntry.objects.filter(error="").exists() else ""
