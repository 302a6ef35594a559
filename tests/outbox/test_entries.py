"""The outbox in PostgreSQL: what triggers note, who takes it, and what becomes of it."""

from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.utils import timezone

from embeddings import services
from embeddings.external import configuration, delivery, outbox
from embeddings.models import DroppedSpace, Embedding, OutboxEntry, OutsideStore
from embeddings.types import NearestChunk, Point, Space, StoredChunk, Vector
from knowlex.base.errors import VectorStoreFailed
from knowlex.base.ids import new_id
from knowlex.db.threads import execute
from knowlex.runtime.components import component
from tests.embeddings.conftest import AddDocument, add_document, configure

__all__ = ["add_document", "configure"]
pytestmark = pytest.mark.usefixtures("configure", "transactional_db")


class PickyStore:
    """Holds points in a dictionary; down, and what it refuses, are for the test to say."""

    def __init__(self, **_: Any) -> None:
        self.points: dict[UUID, Point] = {}
        self.down, self.refused, self.calls = False, set[UUID](), 0
        self.before_put: list[Any] = []

    async def nearest(
        self, space: Space, vector: Vector, *, collections: Sequence[UUID], limit: int
    ) -> list[NearestChunk]:
        return []

    async def put(self, space: Space, points: Sequence[Point]) -> None:
        self.calls += 1
        for work in self.before_put:
            work()
        if self.down or self.refused & {point.chunk_id for point in points}:
            raise VectorStoreFailed("The vector store does not like it.")
        self.points |= {point.chunk_id: point for point in points}

    async def remove(self, space: Space, chunk_ids: Sequence[UUID]) -> None:
        if self.down:
            raise VectorStoreFailed("The vector store does not like it.")
        for chunk_id in chunk_ids:
            self.points.pop(chunk_id, None)

    async def list_chunks(self, space: Space) -> AsyncIterator[Sequence[StoredChunk]]:
        yield []

    async def drop(self, space: Space) -> None:
        self.points.clear()

    async def ping(self) -> None:
        if self.down:
            raise VectorStoreFailed("It is down.")

    async def aclose(self) -> None:
        """Nothing is open."""


@pytest.fixture
def store(settings: Any, monkeypatch: pytest.MonkeyPatch) -> PickyStore:
    """Registered as the store in use."""
    monkeypatch.setitem(configuration.EXTERNAL_STORES, __name__, "picky")
    part = {"class": f"{__name__}.PickyStore", "options": {"url": "http://picky:1"}}
    settings.KNOWLEX = settings.KNOWLEX | {"VECTOR_STORE": part}
    configuration.register_store()
    configuration.fill_outbox()
    return component("VECTOR_STORE", PickyStore)


def embed(add_document: AddDocument, texts: Sequence[str]) -> list[UUID]:
    """With vectors stored, and nothing shipped; the chunks in their order."""
    document = add_document(texts)
    services.document_status.request_document(document)
    while services.work_once():
        pass
    rows = Embedding.objects.filter(chunk__document_id=document).order_by("chunk__chunk_index")
    return list(rows.values_list("chunk_id", flat=True))


def waiting() -> set[UUID]:
    return set(OutboxEntry.objects.values_list("chunk_id", flat=True))


def let_time_pass() -> None:
    """For what was put off, and for leases."""
    ago = timezone.now() - timezone.timedelta(seconds=1)
    OutboxEntry.objects.filter(leased_until__isnull=False).update(leased_until=ago)
    OutsideStore.objects.filter(retry_at__isnull=False).update(retry_at=ago)


def test_what_the_store_refuses_is_found_noted_and_put_off_and_the_rest_arrives(
    add_document: AddDocument, store: PickyStore
):
    store.down = True
    chunks = embed(add_document, [f"text {n}" for n in range(20)])
    store.down, store.refused = False, {chunks[7]}
    let_time_pass()
    while delivery.deliver_once():
        pass
    assert set(store.points) == set(chunks) - {chunks[7]}
    (entry,) = OutboxEntry.objects.all()
    assert (entry.chunk_id, entry.lease, entry.error) == (
        chunks[7],
        None,
        "The vector store does not like it.",
    )
    assert not OutsideStore.objects.get().failures
    store.refused.clear()
    assert not delivery.deliver_once(), "it is put off"
    let_time_pass()
    assert delivery.deliver_once()
    assert (len(store.points), waiting()) == (20, set())


def test_a_store_that_is_down_is_left_alone_for_a_while(add_document: AddDocument, store: PickyStore):
    store.down = True
    chunks = embed(add_document, ["one", "two"])
    calls = store.calls
    assert OutsideStore.objects.get().failures == 1
    assert not delivery.deliver_once()
    embed(add_document, ["three"])
    assert store.calls == calls
    assert delivery.count_due_turns() == 0
    store.down = False
    let_time_pass()
    assert delivery.count_due_turns() == 1
    assert delivery.deliver_for_a_turn() is False
    assert set(chunks) < set(store.points)
    assert not OutsideStore.objects.get().failures


def test_what_changes_while_it_is_sent_is_sent_again(add_document: AddDocument, store: PickyStore):
    (chunk,) = embed(add_document, ["one"])
    Embedding.objects.filter(chunk_id=chunk).update(vector=[1.0] + [0.0] * 31)
    store.before_put.append(lambda: in_another_session(lambda: execute("DELETE FROM embeddings_embedding")))
    assert delivery.deliver_once()
    store.before_put.clear()
    assert waiting() == {chunk} == set(store.points)
    assert delivery.deliver_once()
    assert (waiting(), store.points) == (set(), {})


def test_what_was_sent_under_a_lease_that_had_ended_is_looked_at_again(
    add_document: AddDocument, store: PickyStore
):
    (chunk,) = embed(add_document, ["one"])
    Embedding.objects.filter(chunk_id=chunk).update(vector=[1.0] + [0.0] * 31)
    store.before_put.append(
        lambda: in_another_session(
            lambda: execute("UPDATE embeddings_outboxentry SET lease = gen_random_uuid()")
        )
    )
    assert delivery.deliver_once()
    store.before_put.clear()
    let_time_pass()
    assert waiting() == {chunk}
    assert delivery.deliver_once()
    assert waiting() == set()


def test_whoever_tells_how_it_went_waits_for_nobody_who_is_changing_a_vector(
    add_document: AddDocument, store: PickyStore
):
    """Else two that hold what the other wants would wait for each other; it is taken again later."""
    store.down = True
    chunks = embed(add_document, [f"text {n}" for n in range(3)])
    let_time_pass()
    used, lease = configuration.configured_store(), new_id()
    assert used
    entries = outbox.claim(fingerprint=used.fingerprint, lease=lease, limit=3)
    refused = [entry for entry in entries if entry.chunk_id != chunks[2]]
    with transaction.atomic():
        Embedding.objects.filter(chunk_id=chunks[0]).delete()
        in_another_session(lambda: outbox.fail(lease, refused, "refused"))
        in_another_session(lambda: outbox.done(lease, entries))
    known = dict(OutboxEntry.objects.values_list("chunk_id", "error"))
    assert known == {chunks[0]: "", chunks[1]: "refused"}
    assert OutboxEntry.objects.get(chunk_id=chunks[0]).lease == lease


def test_two_workers_never_take_the_same_entry(add_document: AddDocument, store: PickyStore):
    store.down = True
    embed(add_document, [f"text {n}" for n in range(30)])
    let_time_pass()
    used = configuration.configured_store()
    assert used
    taken = [outbox.claim(fingerprint=used.fingerprint, lease=new_id(), limit=12) for _ in range(4)]
    assert [len(some) for some in taken] == [12, 12, 6, 0]
    assert len({entry.chunk_id for some in taken for entry in some}) == 30


def test_another_store_is_told_everything_and_a_worker_of_the_old_one_takes_nothing(
    add_document: AddDocument, store: PickyStore, settings: Any
):
    chunks = embed(add_document, ["one", "two"])
    former = configuration.configured_store()
    assert former
    part = settings.KNOWLEX["VECTOR_STORE"] | {"options": {"url": "http://user:secret@picky:2"}}
    settings.KNOWLEX = settings.KNOWLEX | {"VECTOR_STORE": part}
    told = str(configuration.register_store())
    assert "instead of picky at http://picky:1" in told
    assert "secret" not in told + OutsideStore.objects.get().place
    configuration.fill_outbox()
    assert waiting() == set(chunks)
    assert outbox.claim(fingerprint=former.fingerprint, lease=new_id(), limit=5) == []
    assert configuration.register_store() is None


def test_the_same_store_with_another_password_key_or_limit_is_told_nothing_anew(
    store: PickyStore, settings: Any
):
    part = settings.KNOWLEX["VECTOR_STORE"]
    changed = {"url": "http://user:secret@picky:1", "api_key": "another", "timeout_s": 9.0}
    settings.KNOWLEX = settings.KNOWLEX | {"VECTOR_STORE": part | {"options": changed}}
    assert configuration.register_store() is None


def test_without_a_store_nothing_is_noted_and_giving_one_up_empties_the_outbox(
    add_document: AddDocument, store: PickyStore, settings: Any
):
    store.down = True
    embed(add_document, ["one"])
    DroppedSpace.objects.create(model_id=99, dimensions=0, created_at=timezone.now())
    settings.KNOWLEX = {role: part for role, part in settings.KNOWLEX.items() if role != "VECTOR_STORE"}
    assert "is no longer used: vectors are searched in PostgreSQL" in str(configuration.register_store())
    embed(add_document, ["two"])
    counts = [model.objects.count() for model in (OutsideStore, OutboxEntry, DroppedSpace)]
    assert counts == [0, 0, 0]


def test_going_over_to_a_store_in_memory_is_told_as_that(store: PickyStore, settings: Any):
    part = {"class": "embeddings.stores.memory.MemoryStore"}
    settings.KNOWLEX = settings.KNOWLEX | {"VECTOR_STORE": part}
    assert "vectors are searched in each process's memory" in str(configuration.register_store())


def in_another_session(work: Callable[[], object]) -> None:
    """Raises OperationalError if it has to wait for a lock."""

    def run() -> None:
        execute("SET lock_timeout = '2s'")
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(run).result()
