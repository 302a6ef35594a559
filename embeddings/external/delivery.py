"""Batches from the outbox to an external vector store; safe to run twice, and by several workers at once.

What is sent is the truth at the time of sending, not what was noted; no transaction is open meanwhile. A
store that is down is left alone for a while, and one process at a time looks with a small batch whether it is
back.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

import numpy as np
from django.db import transaction

from documents.library import collection_states
from embeddings.external import configuration, outbox
from embeddings.external.configuration import space_of
from embeddings.external.outbox import Entry
from embeddings.models import DroppedSpace, OutboxEntry, OutsideStore
from embeddings.protocols import VectorStore
from embeddings.types import Point, Space
from embeddings.work import document_status
from knowlex.base.errors import VectorStoreFailed, VectorStoreTimeout
from knowlex.base.ids import new_id
from knowlex.db.threads import Heartbeat, execute, release_connection, with_retries

# A version in the making goes under what it will be when it takes over: its document's collection and id.
# The columns from the chunk's id on are the fields of a Point, in their order.
_TRUTH = """
    SELECT m.id, m.dimensions, g.chunk_id, e.vector::text, d.collection_id, coalesce(d.replaces_id, d.id),
        encode(sha256(convert_to(c.content, 'UTF8')), 'hex'), c.chunk_index, d.collection_id::text, c.chapter,
        c.section, d.original_filename, c.page_number
    FROM unnest(%(models)s::smallint[], %(chunks)s::uuid[]) g (model_id, chunk_id)
    JOIN embeddings_embeddingmodel m ON m.id = g.model_id
    LEFT JOIN (embeddings_embedding e JOIN documents_chunk c ON c.id = e.chunk_id
        JOIN documents_document d ON d.id = c.document_id
    ) ON e.model_id = g.model_id AND e.chunk_id = g.chunk_id
"""


@dataclass(frozen=True, slots=True)
class DeliveryBatch:
    """Pending entries of one space. A chunk has a point, or it is gone."""

    space: Space
    entries: Sequence[Entry]
    points: dict[UUID, Point]

    async def send(self, store: VectorStore) -> None:
        """Raises VectorStoreFailed."""
        ids = [entry.chunk_id for entry in self.entries]
        if gone := [chunk_id for chunk_id in ids if chunk_id not in self.points]:
            await store.remove(self.space, gone)
        if points := [self.points[chunk_id] for chunk_id in ids if chunk_id in self.points]:
            await store.put(self.space, points)

    def halves(self) -> list["DeliveryBatch"]:
        half = len(self.entries) // 2
        return [
            DeliveryBatch(self.space, self.entries[:half], self.points),
            DeliveryBatch(self.space, self.entries[half:], self.points),
        ]


def read_batches(entries: Sequence[Entry]) -> list[DeliveryBatch]:
    """Return one batch for each model; none for a model that is gone, whose space goes as a whole."""
    scope = {"models": [e.model_id for e in entries], "chunks": [e.chunk_id for e in entries]}
    batches: dict[int, DeliveryBatch] = {}
    for model_id, dimensions, chunk_id, vector, *payload in execute(_TRUTH, scope):
        if model_id not in batches:
            own = [entry for entry in entries if entry.model_id == model_id]
            batches[model_id] = DeliveryBatch(space_of(model_id, dimensions), own, {})
        if vector is not None:
            numbers = np.fromstring(vector.strip("[]"), dtype=np.float32, sep=",")
            batches[model_id].points[chunk_id] = Point(chunk_id, numbers, *payload)
    return list(batches.values())


AT_ONCE, LEAST_AT_ONCE = 300, 10
MAX_REFUSED = 16  # calls about one batch, until the rest of it is put off
TURN_S = 1.0  # then other work has its turn
TURNS = 2  # at once, of all workers
POLL_S = 0.2
PATIENCE_S = 60.0  # with what a worker has in hand
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _DeliveryOutcome:
    """refused: with the reason. down: why the store cannot be used; the rest was not tried then."""

    done: list[Entry] = field(default_factory=list)
    refused: list[tuple[Sequence[Entry], str]] = field(default_factory=list)
    down: str = ""


def deliver_chunks(model_id: int, chunk_ids: Sequence[UUID]) -> None:
    """Deliver at once what is pending of these chunks; a store that is down gets it by a later turn.

    Raises DatabaseUnavailable.
    """
    used = configuration.configured_store()
    if used is None or with_retries(lambda: outbox.may_call(used.fingerprint, probe=False)) is None:
        return
    for start in range(0, len(chunk_ids), AT_ONCE):
        portion = chunk_ids[start : start + AT_ONCE]
        claim = partial(outbox.claim_of, model_id, portion, fingerprint=used.fingerprint)
        if _deliver(claim, used.fingerprint) is None:
            return


def deliver_for_a_turn() -> bool:
    """Deliver what has waited longest, for about a second; return whether another turn is wanted.

    Raises DatabaseUnavailable.
    """
    ends = time.monotonic() + TURN_S
    while deliver_once():
        if time.monotonic() > ends:
            return count_due_turns() > 0
    return False


def deliver_once() -> bool:
    """Deliver one batch; return False if nothing is due, or the store cannot be used.

    Raises DatabaseUnavailable.
    """
    used = configuration.configured_store()
    if used is None:
        return False
    failures = with_retries(lambda: outbox.may_call(used.fingerprint, probe=True))
    if failures is None or not _drop_spaces(used.fingerprint):
        return False
    limit = max(LEAST_AT_ONCE, AT_ONCE >> min(failures, 10))
    claim = partial(outbox.claim, fingerprint=used.fingerprint, limit=limit)
    return bool(_deliver(claim, used.fingerprint))


def drain_outbox() -> Iterator[int]:
    """Deliver until the outbox is empty; yields now and then how many entries are left.

    Raises VectorStoreFailed if the store is down, or refuses what is left; DatabaseUnavailable.
    """
    since, last_count = time.monotonic(), -1
    while count := with_retries(lambda: OutboxEntry.objects.count() + DroppedSpace.objects.count()):
        if count != last_count:
            since, last_count = time.monotonic(), count
            yield count
        if deliver_once():
            continue
        if reason := with_retries(_explain_standstill):
            raise VectorStoreFailed(f"{reason.rstrip('.')}. {count} entries stay in the outbox.")
        if time.monotonic() - since > PATIENCE_S:
            raise VectorStoreFailed(f"Nothing was shipped for {PATIENCE_S:.0f} s; {count} entries are left.")
        time.sleep(POLL_S)


def count_due_turns() -> int:
    """Count the turns wanted besides those being taken; 0 without a store, or while it is down.

    Raises DatabaseUnavailable.
    """
    used = configuration.configured_store()
    if used is None:
        return 0
    batches, taken = with_retries(lambda: outbox.due(used.fingerprint, batch=AT_ONCE, limit=TURNS))
    return max(0, batches - taken)


def _explain_standstill() -> str:
    """Explain why nothing goes on; "" if that is not known."""
    store = OutsideStore.objects.first()
    if store is None:
        return "There is no vector store in use any more."
    if store.failures:
        return store.error
    refused = OutboxEntry.objects.exclude(error="").first()
    return refused.error if refused and not OutboxEntry.objects.filter(error="").exists() else ""


def _deliver(claim: Callable[..., list[Entry]], fingerprint: str) -> int | None:
    """Return how many entries were taken; None if the store cannot be used."""
    lease = new_id()
    entries = with_retries(lambda: claim(lease=lease))
    if not entries:
        return 0
    batches = with_retries(lambda: read_batches(entries))
    release_connection()
    with Heartbeat(lambda: outbox.renew(lease)):
        outcome = asyncio.run(_send(configuration.external_store(), batches))
    of_known_models = {entry for batch in batches for entry in batch.entries}
    outcome.done += [entry for entry in entries if entry not in of_known_models]
    with_retries(lambda: outbox.again_if_lost(lease, outcome.done))
    with_retries(lambda: _record(lease, fingerprint, outcome))
    document_status.settle_documents([entry.chunk_id for entry in outcome.done])
    report = {"sent": len(outcome.done), "refused": sum(len(refused) for refused, _ in outcome.refused)}
    log.info("vectors shipped", extra={**report, "down": outcome.down})
    return None if outcome.down else len(entries)


async def _send(store: VectorStore, batches: Sequence[DeliveryBatch]) -> _DeliveryOutcome:
    """Halve what is refused until the refused entries are known, or that takes too many calls."""
    outcome, refusals, pending = _DeliveryOutcome(), 0, list(batches)
    try:
        while pending and not outcome.down:
            batch = pending.pop()
            try:
                await batch.send(store)
            except VectorStoreFailed as exc:
                refusals += 1
                if isinstance(exc, VectorStoreTimeout) or not await _is_answering(store):
                    outcome.down = exc.message
                elif len(batch.entries) == 1 or refusals >= MAX_REFUSED:
                    outcome.refused.append((batch.entries, exc.message))
                else:
                    pending += batch.halves()
            else:
                outcome.done += batch.entries
    finally:
        await store.aclose()
    return outcome


async def _is_answering(store: VectorStore) -> bool:
    try:
        await store.ping()
    except VectorStoreFailed:
        return False
    return True


@transaction.atomic
def _record(lease: UUID, fingerprint: str, outcome: _DeliveryOutcome) -> None:
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
    """Drop the spaces of removed models; return False if the store cannot be used."""
    for space in with_retries(lambda: list(DroppedSpace.objects.order_by("model_id"))):
        release_connection()
        try:
            asyncio.run(_drop_space(configuration.external_store(), space))
        except VectorStoreFailed as exc:
            with_retries(partial(outbox.store_is_down, fingerprint, exc.message))
            return False
        with_retries(space.delete)
    return True


async def _drop_space(store: VectorStore, space: DroppedSpace) -> None:
    try:
        await store.drop(space_of(space.model_id, space.dimensions))
    finally:
        await store.aclose()
