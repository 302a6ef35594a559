"""From the outbox into the store outside PostgreSQL; safe to run twice, and by several workers at once.

What is sent is the truth at the time of sending, not what was noted; no transaction is open meanwhile. A
store that is down is left alone for a while, and one process at a time looks with a small batch whether it is
back.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from django.db import transaction

from documents.library import collection_states
from embeddings.external import configured, outbox
from embeddings.external.batches import Parcel, parcels_of
from embeddings.external.configured import space_of
from embeddings.external.outbox import Entry
from embeddings.models import DroppedSpace
from embeddings.protocols import VectorStore
from embeddings.work import document_status
from knowlex.base.errors import VectorStoreFailed, VectorStoreTimeout
from knowlex.base.ids import new_id
from knowlex.db.threads import release_connection, with_retries
from knowlex.runtime.liveness import Heartbeat

AT_ONCE, LEAST_AT_ONCE = 300, 10
MAX_REFUSED = 16  # calls about one batch, until the rest of it is put off
TURN_S = 1.0  # then other work has its turn
TURNS = 2  # at once, of all workers
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Outcome:
    """refused: with the reason. down: why the store cannot be used; the rest was not tried then."""

    done: list[Entry] = field(default_factory=list)
    refused: list[tuple[Sequence[Entry], str]] = field(default_factory=list)
    down: str = ""


def ship_chunks(model_id: int, chunk_ids: Sequence[UUID]) -> None:
    """Of these chunks what waits, at once; nothing while the store is down: the turns send it then.

    Raises DatabaseUnavailable.
    """
    used = configured.in_use()
    if used is None or not _may_call(used.fingerprint):
        return
    for start in range(0, len(chunk_ids), AT_ONCE):
        some = chunk_ids[start : start + AT_ONCE]
        claim = partial(outbox.claim_of, model_id, some, fingerprint=used.fingerprint)
        if _ship(claim, used.fingerprint) is None:
            return


def ship_turn() -> bool:
    """What has waited longest, for about a second; whether another turn is wanted.

    Raises DatabaseUnavailable.
    """
    used, ends = configured.in_use(), time.monotonic() + TURN_S
    while used and ship_next(used.fingerprint):
        if time.monotonic() > ends:
            return turns_due() > 0
    return False


def work_once() -> bool:
    """What a worker would do next, here; False if there is nothing to ship."""
    used = configured.in_use()
    return used is not None and ship_next(used.fingerprint) > 0


def ship_next(fingerprint: str) -> int:
    """How many entries were taken; 0 if nothing is due, or the store cannot be used.

    Raises DatabaseUnavailable.
    """
    failures = with_retries(lambda: outbox.may_call(fingerprint, probe=True))
    if failures is None or not _drop_spaces(fingerprint):
        return 0
    most = max(LEAST_AT_ONCE, AT_ONCE >> min(failures, 10))
    return _ship(partial(outbox.claim, fingerprint=fingerprint, most=most), fingerprint) or 0


def turns_due() -> int:
    """How many turns are wanted besides those that are being taken; 0 without a store, or while it is down.

    Raises DatabaseUnavailable.
    """
    used = configured.in_use()
    if used is None:
        return 0
    batches, taken = with_retries(lambda: outbox.due(used.fingerprint, batch=AT_ONCE, most=TURNS))
    return max(0, batches - taken)


def is_used() -> bool:
    return configured.in_use() is not None


def _may_call(fingerprint: str) -> bool:
    return with_retries(lambda: outbox.may_call(fingerprint, probe=False)) is not None


def _ship(claim: Callable[..., list[Entry]], fingerprint: str) -> int | None:
    """How many entries were taken; None if the store cannot be used."""
    lease = new_id()
    entries = with_retries(lambda: claim(lease=lease))
    if not entries:
        return 0
    parcels = with_retries(lambda: parcels_of(entries))
    release_connection()
    with Heartbeat(lambda: outbox.renew(lease)):
        outcome = asyncio.run(_send(configured.outside_store(), parcels))
    known = {entry for parcel in parcels for entry in parcel.entries}
    outcome.done += [entry for entry in entries if entry not in known]
    with_retries(lambda: outbox.again_if_lost(lease, outcome.done))
    with_retries(lambda: _record(lease, fingerprint, outcome))
    document_status.settle([entry.chunk_id for entry in outcome.done])
    told = {"sent": len(outcome.done), "refused": sum(len(some) for some, _ in outcome.refused)}
    log.info("vectors shipped", extra={**told, "down": outcome.down})
    return None if outcome.down else len(entries)


async def _send(store: VectorStore, parcels: Sequence[Parcel]) -> _Outcome:
    """Halves what is refused until the refused entries are known, or that takes too many calls."""
    outcome, refusals, rest = _Outcome(), 0, list(parcels)
    try:
        while rest and not outcome.down:
            some = rest.pop()
            try:
                await some.send(store)
            except VectorStoreFailed as exc:
                refusals += 1
                if isinstance(exc, VectorStoreTimeout) or not await _answers(store):
                    outcome.down = exc.message
                elif len(some.entries) == 1 or refusals >= MAX_REFUSED:
                    outcome.refused.append((some.entries, exc.message))
                else:
                    rest += some.halves()
            else:
                outcome.done += some.entries
    finally:
        await store.aclose()
    return outcome


async def _answers(store: VectorStore) -> bool:
    try:
        await store.ping()
    except VectorStoreFailed:
        return False
    return True


@transaction.atomic
def _record(lease: UUID, fingerprint: str, outcome: _Outcome) -> None:
    for entries, reason in outcome.refused:
        outbox.fail(lease, entries, reason)
    outbox.done(lease, outcome.done)
    # What was answered meanwhile, and is remembered, may lack what the store had not got yet.
    collection_states.record_changes([entry.chunk_id for entry in outcome.done])
    if outcome.down:
        outbox.store_is_down(fingerprint, outcome.down)
    else:
        outbox.store_is_up(fingerprint)


def _drop_spaces(fingerprint: str) -> bool:
    """Of removed models; False if the store cannot be used."""
    for space in with_retries(lambda: list(DroppedSpace.objects.order_by("model_id"))):
        release_connection()
        try:
            asyncio.run(_drop(configured.outside_store(), space))
        except VectorStoreFailed as exc:
            with_retries(partial(outbox.store_is_down, fingerprint, exc.message))
            return False
        with_retries(space.delete)
    return True


async def _drop(store: VectorStore, space: DroppedSpace) -> None:
    try:
        await store.drop(space_of(space.model_id, space.dimensions))
    finally:
        await store.aclose()
