"""Waiting for work that nobody takes up."""

import pytest

from documents.access import FULL
from embeddings import services
from embeddings.models import EmbeddingRequest
from embeddings.work import waiting
from knowlex.base.errors import DependencyUnavailable, EmbeddingIncomplete
from knowlex.base.ids import new_id
from knowlex.db import pool
from tests.embeddings.conftest import in_thread

pytestmark = pytest.mark.usefixtures("configure", "transactional_db")


@pytest.fixture(autouse=True)
async def _pool():
    yield
    await pool.close_pool()


async def test_without_workers_the_wait_ends_and_the_work_stays(add_document, monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE_S", 0.3)
    await in_thread(add_document, ["one", "two"])
    requested = await in_thread(services.request_embeddings, access=FULL)
    with pytest.raises(DependencyUnavailable, match=r"2 chunk\(s\) stay queued"):
        await services.wait_until_done(requested)
    assert await in_thread(EmbeddingRequest.objects.count) == 2


async def test_failures_are_counted_with_a_reason_and_both_numbers(add_document, provider):
    await in_thread(add_document, ["one", "two", "poison"])
    requested = await in_thread(services.request_embeddings, access=FULL)
    provider.rule("status", status=400, contains="poison", message="no poison here.", on="embeddings")
    await in_thread(services.embed_batch, new_id())
    with pytest.raises(EmbeddingIncomplete) as caught:
        await services.wait_until_done(requested)
    assert caught.value.message == (
        "Embedded 2 chunk(s); 1 could not be embedded: The embedding model refuses the text (HTTP 400): "
        "no poison here. Call generate again to retry them."
    )
    assert caught.value.details == {"embedded": 2, "failed": 1, "left": 1}


async def test_requests_made_later_are_not_waited_for(add_document):
    await in_thread(add_document, ["one"])
    requested = await in_thread(services.request_embeddings, access=FULL)
    await in_thread(services.embed_batch, new_id())
    await in_thread(add_document, ["two"])
    await in_thread(services.request_embeddings, access=FULL)
    assert await services.wait_until_done(requested) == 1
