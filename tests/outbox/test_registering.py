"""A start takes the store that the settings name into use, or gives it up; a model's switch waits for it."""

from collections.abc import Iterator

import pytest

from tests.conftest import MakeStack, provider_env
from tests.outbox.conftest import chroma_env
from tests.outbox.looking import Chroma, active_model, chunk_ids, compared
from tests.provider import Provider
from tests.support.api import embed, generate, ingest
from tests.support.stack import Stack
from tests.support.texts import facts_pdf
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow
NEW = "text-embedding-3-large"
SIZE = {"KNOWLEX_EMBEDDING_DIMENSIONS": "32"}


@pytest.fixture
def without(make_stack: MakeStack, provider: Provider, chroma: Chroma) -> Iterator[Stack]:
    """Thirty vectors, searched in PostgreSQL."""
    stack = make_stack(workers=2, **provider_env(provider), **SIZE)
    ingest(stack.client, facts_pdf(60))
    embed(stack.client)
    assert stack.count("embeddings_outboxentry") == 0
    yield stack
    chroma.ensure_running()


def all_there(stack: Stack, chroma: Chroma, model: int) -> bool:
    return set(chroma.points(model)) == chunk_ids(stack) != set()


def start_again(stack: Stack, **env: str) -> None:
    stack.kill_worker()
    stack.env |= env
    stack.start_worker()


def waiting(stack: Stack, model: int) -> int:
    return stack.count("embeddings_outboxentry", f"model_id = {model}")


def test_a_store_is_filled_when_it_is_new_and_is_given_up(without: Stack, chroma: Chroma, provider: Provider):
    stack, model = without, active_model(without)
    start_again(stack, **chroma_env(provider, chroma))
    assert "Vectors are searched in chroma at" in stack.log("worker")
    wait_until(lambda: all_there(stack, chroma, model), 60, "the new store to be filled")
    wait_until(lambda: not waiting(stack, model), 20, "the outbox to be empty")
    assert ", in use, 0 vectors on their way" in stack.manage("doctor")

    start_again(stack, KNOWLEX_VECTOR_STORE="pgvector")
    assert "is no longer used" in stack.log("worker")
    ingest(stack.client, facts_pdf(20, first=300))
    assert generate(stack.client).status_code == 200
    assert stack.count("embeddings_outsidestore") + stack.count("embeddings_outboxentry") == 0
    told = stack.manage("doctor", env=chroma_env(provider, chroma))
    assert "the next start takes it into use, and sends it all" in told


def test_a_model_takes_over_when_the_store_has_its_vectors_and_leaves_with_its_space(
    without: Stack, chroma: Chroma, provider: Provider
):
    stack, old = without, active_model(without)
    start_again(stack, **chroma_env(provider, chroma))
    wait_until(lambda: all_there(stack, chroma, old), 60, "the new store to be filled")
    stack.manage("embedding_model", "add", NEW, "--dimensions", "32")
    chroma.kill()
    stack.manage("embedding_model", "build", NEW)
    new = int(stack.sql("SELECT id FROM embeddings_embeddingmodel WHERE name = %s", NEW)[0]["id"])
    with pytest.raises(AssertionError, match="are not in the vector store yet"):
        stack.manage("embedding_model", "activate", NEW)
    assert active_model(stack) == old
    chroma.start()
    stack.manage("embedding_model", "activate", NEW, "--wait")
    assert (active_model(stack), all_there(stack, chroma, new)) == (new, True)
    assert stack.count("documents_document", "status <> 'completed'") == 0

    # Else it waits for the searches that began with it: 15 s after the switch they have ended.
    stack.sql("UPDATE embeddings_embeddingmodel SET deactivated_at = deactivated_at - interval '1 hour'")
    stack.manage("embedding_model", "remove", "text-embedding-3-small")
    wait_until(lambda: len(chroma.collections()) == 1, 30, "the removed model's space to go")
    assert compared(stack)[0] == 0
