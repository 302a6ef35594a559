"""A question's vector is made once, whichever process asks next."""

from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
import redis

from embeddings.search import question_vectors
from embeddings.search.question_vectors import question_vector
from embeddings.types import ModelSpec, Vector
from knowlex.base.errors import RetrievalFailed
from knowlex.embedded.services import EmbeddedValkey
from knowlex.runtime import cache as shared_cache
from knowlex.runtime.cache import SharedCache

MODEL = ModelSpec("local", "a-model", 3)
VECTOR = np.array([0.1, -0.25, 1e-7], dtype=np.float32)


class Embedder:
    """Counts what it is asked."""

    def __init__(self, vector: Vector = VECTOR) -> None:
        self.vector, self.calls = vector, 0

    async def __call__(self) -> Vector:
        self.calls += 1
        return self.vector


@pytest.fixture(autouse=True)
async def cache(
    valkey: EmbeddedValkey, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[None]:
    settings.CACHE = True
    monkeypatch.setattr(shared_cache, "shared", SharedCache())
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.flushdb()
    question_vectors.forget()
    yield
    question_vectors.forget()
    await shared_cache.shared.close()


async def restarted() -> None:
    """As another process finds it: what was being written is written."""
    await shared_cache.shared.close()
    question_vectors.forget()


async def test_it_is_the_same_vector_bit_for_bit():
    embedder = Embedder()
    assert (await question_vector("Why?", MODEL, "s", embedder)).tobytes() == VECTOR.tobytes()
    assert (await question_vector("Why?", MODEL, "s", embedder)).tobytes() == VECTOR.tobytes()
    await restarted()
    assert (await question_vector("Why?", MODEL, "s", embedder)).tobytes() == VECTOR.tobytes()
    assert embedder.calls == 1


@pytest.mark.parametrize(
    ("text", "model", "state"),
    [
        ("why?", MODEL, "s"),
        ("Why?", ModelSpec("local", "another", 3), "s"),
        ("Why?", ModelSpec("openai", "a-model", 3), "s"),
        ("Why?", ModelSpec("local", "a-model", 3, (("folder", "/models/x"),)), "s"),
        ("Why?", MODEL, "another"),
        ("Why?", MODEL, ""),
    ],
)
async def test_another_text_model_or_state_is_embedded(text: str, model: ModelSpec, state: str):
    embedder = Embedder()
    await question_vector("Why?", MODEL, "s", embedder)
    await question_vector(text, model, state, embedder)
    assert embedder.calls == 2


async def test_what_is_no_vector_is_not_used(settings: Any):
    embedder = Embedder()
    await question_vector("Why?", MODEL, "s", embedder)
    await restarted()
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        (key,) = client.keys("knowlex:cache:question_vector:*")
        digest = client.get(key)[:32]
        for strange in (b"", b"\0" * 12, np.array([1, np.nan, 0], "<f4").tobytes(), VECTOR.tobytes() + b"\0"):
            await restarted()
            client.set(key, digest + strange)
            assert (await question_vector("Why?", MODEL, "s", embedder)).tobytes() == VECTOR.tobytes()
    assert embedder.calls == 5


async def test_a_failure_is_not_kept():
    async def fails() -> Vector:
        raise RetrievalFailed("The model is away.")

    with pytest.raises(RetrievalFailed):
        await question_vector("Why?", MODEL, "s", fails)
    assert (await question_vector("Why?", MODEL, "s", Embedder())).tobytes() == VECTOR.tobytes()


async def test_the_process_keeps_the_last_thousand(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(question_vectors, "KEPT", 2)
    for text in ("a", "b", "a", "c"):
        await question_vector(text, MODEL, "s", Embedder())
    assert len(question_vectors._vectors) == 2


async def test_switched_off_every_question_is_embedded(settings: Any):
    settings.CACHE = False
    embedder = Embedder()
    for _ in range(2):
        await question_vector("Why?", MODEL, "s", embedder)
    assert embedder.calls == 2
