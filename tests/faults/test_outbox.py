"""PostgreSQL crashes while vectors are shipped to a store outside it: all arrive, and nothing stays."""

from collections.abc import Callable

import pytest

from tests.faults.conftest import Background
from tests.outbox.conftest import _chroma, chroma, chroma_env
from tests.outbox.looking import Chroma, active_model, chunk_ids
from tests.provider import Provider
from tests.support.api import embed, generate, ingest
from tests.support.invariants import assert_own_vectors
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.texts import facts_pdf
from tests.support.waiting import wait_until

__all__ = ["_chroma", "chroma"]
pytestmark = pytest.mark.slow


@pytest.fixture
def stack(make_stack: Callable[..., Stack], cluster: Postgres, provider: Provider, chroma: Chroma) -> Stack:
    return make_stack(cluster=cluster, workers=2, **chroma_env(provider, chroma))


def test_a_crash_while_vectors_are_shipped_loses_none(
    stack: Stack, chroma: Chroma, background: Background
) -> None:
    gone = ingest(stack.client, facts_pdf(100))["documentId"]
    embed(stack.client)
    ingest(stack.client, facts_pdf(200, first=1000))
    chroma.pause(on=True)
    call = background(generate, stack.client)
    wait_until(lambda: stack.count("embeddings_outboxentry", "lease IS NOT NULL"), 30, "one who ships")
    stack.postgres.restart(crash=True)
    chroma.pause(on=False)
    assert call.result(90).status_code in (200, 503)
    assert stack.client.delete(f"/api/v1/documents/{gone}").status_code == 204
    wait_until(lambda: not stack.count("embeddings_outboxentry", "true"), 60, "the outbox to be empty")
    assert set(chroma.points(active_model(stack))) == chunk_ids(stack)
    assert_own_vectors(stack)
    assert stack.count("documents_document", "status <> 'completed'") == 0
