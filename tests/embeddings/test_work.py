"""The work queue in PostgreSQL: who gets what, what becomes of leases, what is stored."""

import json
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from documents.access import FULL
from documents.models import Chunk, Document
from embeddings import queue, services
from embeddings.models import Embedding, EmbeddingModel, EmbeddingRequest, EmbeddingRun
from embeddings.types import EmbeddedText
from embeddings.vectors.rows import store_vectors, vector_text
from embeddings.work import document_status
from knowlex.base.errors import NotFound
from knowlex.base.ids import new_id
from tests.provider import vector_of

pytestmark = pytest.mark.usefixtures("configure", "transactional_db")
HINT = new_id()  # a task's id only says that there is work


def texts(count: int, of: str = "lighthouse") -> list[str]:
    return [f"{of} number {n}" for n in range(count)]


def take(lease: UUID | None = None) -> list[UUID]:
    with transaction.atomic():
        return [c.chunk_id for c in queue.claim(model_id=services.active_model().pk, lease=lease or new_id())]


def let_leases_end() -> None:
    EmbeddingRequest.objects.filter(lease__isnull=False).update(
        leased_until=timezone.now() - timezone.timedelta(seconds=1)
    )


def work() -> int:
    """What a worker does while there is work."""
    done = 0
    while EmbeddingRequest.objects.waiting().filter(lease=None).exists():
        done += services.embed_batch(HINT)
    return done


def test_batches_hold_at_most_20_texts_and_every_text_is_asked_for_once(add_document, provider):
    add_document(texts(45))
    requested = services.request_embeddings(access=FULL)
    assert (requested.requested, len(requested.batches)) == (45, 3)
    assert work() == 45
    assert max(len(call.texts) for call in provider.calls("embeddings")) == 20
    assert set(provider.asked().values()) == {1}
    assert EmbeddingRequest.objects.count() == 0
    assert EmbeddingRun.objects.get(pk=requested.run_id).embedded == 45


def test_every_chunk_is_stored_with_the_vector_of_its_own_text(add_document):
    add_document(texts(25))
    services.request_embeddings(access=FULL)
    assert work() == 25
    for row in Embedding.objects.select_related("chunk"):
        assert np.allclose(np.array(row.vector), vector_of(row.chunk.content, 32), atol=1e-6)


def test_a_hint_that_comes_twice_finds_nothing_to_do(add_document):
    add_document(texts(3))
    (batch,) = services.request_embeddings(access=FULL).batches
    assert services.embed_batch(batch) == 3
    assert services.embed_batch(batch) == 0


def test_a_second_call_asks_for_nothing_that_is_asked_for_already(add_document):
    document = add_document(texts(30))
    services.request_embeddings(access=FULL)
    again = services.request_embeddings(document, access=FULL)
    assert again.requested == 0
    assert len(again.batches) == 1  # a hint all the same, should the first have been lost
    work()
    assert services.request_embeddings(access=FULL).batches == ()


def test_an_unknown_document_or_one_without_chunks_is_not_found(add_document):
    for document_id in (new_id(), add_document([])):
        with pytest.raises(NotFound, match=f"Document not found: {document_id}"):
            services.request_embeddings(document_id, access=FULL)


def test_the_shortest_run_is_served_first(add_document):
    add_document(texts(60, "a book"))
    services.request_embeddings(access=FULL)
    take()
    small = add_document(texts(2, "a note"))
    services.request_embeddings(small, access=FULL)
    assert set(take(UUID(int=1))) == set(Chunk.objects.filter(document_id=small).values_list("id", flat=True))


def test_one_call_for_all_takes_the_first_chunks_of_every_document_first(add_document):
    add_document(texts(60, "a book"))
    small = add_document(texts(2, "a note"))
    services.request_embeddings(access=FULL)
    assert set(Chunk.objects.filter(document_id=small).values_list("id", flat=True)) <= set(take())


def test_two_workers_never_hold_the_same_chunk(add_document):
    add_document(texts(45))
    services.request_embeddings(access=FULL)
    held = [take() for _ in range(4)]
    assert [len(batch) for batch in held] == [20, 20, 5, 0]
    assert len({chunk for batch in held for chunk in batch}) == 45


def test_a_lease_that_is_renewed_is_left_alone_and_one_that_ends_is_free_again(add_document):
    add_document(texts(3))
    services.request_embeddings(access=FULL)
    lease = new_id()
    take(lease)
    let_leases_end()
    queue.renew(lease)
    assert services.sweep() == ([], 0)
    let_leases_end()
    assert len(services.sweep()[0]) == 1
    assert len(take()) == 3


def test_what_a_dead_worker_comes_back_with_is_thrown_away(add_document):
    add_document(texts(2))
    services.request_embeddings(access=FULL)
    model, late = services.active_model(), new_id()
    with transaction.atomic():
        chunks = queue.claim(model_id=model.pk, lease=late)
    let_leases_end()
    services.sweep()
    work()
    with transaction.atomic():
        stored = store_vectors(
            lease=late, model_id=model.pk, chunks=chunks, embedded=[EmbeddedText(np.ones(32, np.float32))] * 2
        )
    assert stored == 0
    assert EmbeddingRun.objects.get().embedded == 2


def test_from_the_third_time_on_each_text_goes_alone(add_document):
    add_document(texts(4))
    services.request_embeddings(access=FULL)
    sizes = []
    for _ in range(3):
        sizes.append(len(take()))
        let_leases_end()
        services.sweep()
    assert sizes == [4, 4, 1]
    assert EmbeddingRequest.objects.values("batch").distinct().count() == 4


def test_a_text_that_ends_its_worker_five_times_is_given_up_with_a_reason(add_document):
    add_document(texts(1))
    run = services.request_embeddings(access=FULL).run_id
    for _ in range(queue.MAX_ATTEMPTS):
        assert len(take()) == 1
        let_leases_end()
        services.sweep()
    request = EmbeddingRequest.objects.get()
    assert "5 times" in request.error
    assert request.failed_at is not None
    assert EmbeddingRun.objects.get(pk=run).failed == 1
    assert take() == []
    assert services.request_embeddings(access=FULL).requested == 1


def test_a_chunk_that_has_its_vector_already_is_not_embedded_again(add_document, provider):
    """Its request was made between another worker's look and its commit."""
    add_document(texts(1))
    services.request_embeddings(access=FULL)
    work()
    chunk, model = Chunk.objects.get(), services.active_model()
    run = EmbeddingRun.objects.create(requested=1)
    EmbeddingRequest.objects.create(chunk=chunk, model=model, run=run, batch=new_id())
    assert services.embed_batch(HINT) == 0
    assert EmbeddingRequest.objects.count() == 0
    assert len(provider.calls("embeddings")) == 1


def test_a_document_deleted_while_it_is_embedded_does_not_come_back(add_document):
    gone, kept = add_document(texts(3, "gone")), add_document(texts(3, "kept"))
    services.request_embeddings(access=FULL)
    model, lease = services.active_model(), new_id()
    with transaction.atomic():
        chunks = queue.claim(model_id=model.pk, lease=lease)
    Document.objects.filter(pk=gone).delete()
    with transaction.atomic():
        found = [EmbeddedText(vector_of(chunk.content, 32)) for chunk in chunks]
        assert store_vectors(lease=lease, model_id=model.pk, chunks=chunks, embedded=found) == 3
    assert set(Embedding.objects.values_list("chunk__document_id", flat=True)) == {kept}
    assert EmbeddingRequest.objects.count() == 0


def test_a_refused_text_is_found_by_halving_and_the_others_are_embedded(add_document, provider):
    add_document([*texts(19), "this one is poison"])
    run = services.request_embeddings(access=FULL).run_id
    provider.rule("status", status=400, contains="poison", message="not this one", on="embeddings")
    assert work() == 19
    failed = EmbeddingRequest.objects.get()
    assert failed.chunk.content == "this one is poison"
    assert "not this one" in failed.error
    assert len(provider.calls("embeddings")) <= 11
    assert EmbeddingRun.objects.filter(pk=run, embedded=19, failed=1).exists()


def test_a_failing_embedder_fails_its_batch_and_the_next_call_asks_for_it_again(add_document, provider):
    add_document(texts(25))
    services.request_embeddings(access=FULL)
    rule = provider.rule("status", status=500, on="embeddings", times=2)
    services.embed_batch(HINT)
    assert rule.used == 2
    assert services.embed_batch(HINT) + EmbeddingRequest.objects.failed().count() == 25
    again = services.request_embeddings(access=FULL)
    assert again.requested == EmbeddingRequest.objects.count() > 0
    work()
    assert Embedding.objects.count() == 25


def test_a_refused_key_costs_one_call_a_batch(add_document, provider):
    add_document(texts(40))
    services.request_embeddings(access=FULL)
    provider.rule("status", status=401, on="embeddings")
    work()
    assert len(provider.calls("embeddings")) == 2
    assert EmbeddingRequest.objects.failed().count() == 40


def test_the_size_of_an_unknown_model_is_learned_once(add_document, configure, provider):
    configure(model_name="house-made", dimensions=None)
    add_document(texts(2))
    services.request_embeddings(access=FULL)
    work()
    assert EmbeddingModel.objects.get(active=True).dimensions == 1536
    add_document(texts(2, "more"))
    services.request_embeddings(access=FULL)
    provider.rule("wrong_length", on="embeddings")
    work()
    assert EmbeddingRequest.objects.failed().count() == 2
    assert "size" in EmbeddingRequest.objects.first().error


def test_old_runs_are_forgotten_unless_something_of_them_is_left(add_document):
    add_document(texts(1))
    finished = services.request_embeddings(access=FULL).run_id
    work()
    add_document(texts(1, "more"))
    services.request_embeddings(access=FULL)
    EmbeddingRun.objects.update(created_at=F("created_at") - timezone.timedelta(days=8))
    services.forget_old_runs()
    assert EmbeddingRun.objects.count() == 1
    assert not EmbeddingRun.objects.filter(pk=finished).exists()


def test_nine_digits_bring_a_float32_back_exactly():
    vector = np.random.default_rng(3).normal(size=384).astype(np.float32)
    with connection.cursor() as cursor:
        cursor.execute("SELECT (%s::vector)::float4[]", [vector_text(vector)])
        assert np.array_equal(np.array(cursor.fetchone()[0], dtype=np.float32), vector)


def test_a_book_gets_one_claim_of_four_however_many_small_documents_keep_coming(add_document):
    book = add_document(texts(100, "page"))
    services.request_embeddings(book, access=FULL)
    of_book = set(Chunk.objects.filter(document=book).values_list("id", flat=True))
    turns = []
    for number in range(12):
        small = add_document(texts(2, f"note {number}"))
        services.request_embeddings(small, access=FULL)
        turns.append(set(take(UUID(int=number + 1))) <= of_book)
    assert turns == [False, False, False, True] * 3


def test_looking_for_what_has_ended_does_not_slow_down_with_the_square_of_what_waits(add_document):
    """With statistics from when the queue was empty, as they are when thousands come at once."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE embeddings_embeddingrequest, documents_chunk, documents_document")
    for number in range(60):
        services.request_embeddings(add_document(texts(40, f"{number}")), access=FULL)
    with connection.cursor() as cursor:
        cursor.execute(
            f"EXPLAIN (ANALYZE, FORMAT JSON) {document_status._SETTLED_OF_ALL}",
            {"model": services.active_model().pk},
        )
        plan = cursor.fetchone()[0]
    assert rows_read(plan) < 60 * 40 * 3


def rows_read(plan: Any) -> float:
    """All rows that any part of the plan gave, in all its runs."""
    if isinstance(plan, str):
        plan = json.loads(plan)
    if isinstance(plan, list):
        return sum(rows_read(part) for part in plan)
    own = plan.get("Actual Rows", 0) * plan.get("Actual Loops", 1)
    return own + rows_read(plan.get("Plans", [])) + (rows_read(plan["Plan"]) if "Plan" in plan else 0)
