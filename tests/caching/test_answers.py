"""What is kept and found again, in a real Valkey."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest
import redis

from knowlex.embedded.services import EmbeddedValkey
from knowlex.runtime import cache as shared_cache
from knowlex.runtime.cache import REST_S, TIMEOUT_S, SharedCache
from knowlex.runtime.metrics import REGISTRY
from rag.answering import cache as answers
from rag.types.answer import Answer, Usage
from rag.types.question import Question
from tests.caching.test_codec import answer
from tests.caching.valkey import paused
from tests.rag.factory import question

ASKED = question("What is it?", state="s1")


@pytest.fixture(autouse=True)
async def cache(
    valkey: EmbeddedValkey, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[SharedCache]:
    """Switched on, and empty at the start."""
    settings.CACHE = True
    fresh = SharedCache()
    monkeypatch.setattr(shared_cache, "shared", fresh)
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.flushdb()
    yield fresh
    await fresh.close()


async def kept(asked: Question, **fields: Any) -> Answer | None:
    """Remember an answer to the question, and recall it when it is written."""
    answers.remember(asked, answer(question=asked, **fields))
    await shared_cache.shared.close()
    return await answers.recall(asked)


async def test_an_answer_is_found_again_with_the_question_that_is_asked_now():
    assert await answers.recall(ASKED) is None
    assert await kept(ASKED) is not None
    now = replace(ASKED, deadline=5.0)
    found = await answers.recall(now)
    assert found is not None
    assert found.question is now
    assert (found.text, found.cited, set(found.stage_ms)) == (answer().text, (1, 2), {"cache"})


async def test_who_asks_at_once_finds_it_though_it_is_not_written_yet():
    answers.remember(ASKED, answer(question=ASKED))
    assert await answers.recall(ASKED) is not None


async def test_several_are_kept_at_once(cache: SharedCache, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(shared_cache.SLOTS, "answer", 2**60)  # else one may take another's place
    asked = [question(f"What is {n}?", state="s1") for n in range(3 * shared_cache.AT_ONCE)]
    for one in asked:
        answers.remember(one, answer(question=one))
    await cache.close()
    assert cache._on_the_way == {}
    assert all([await answers.recall(one) for one in asked])


async def test_what_a_loop_leaves_behind_is_forgotten(cache: SharedCache):
    answers.remember(ASKED, answer(question=ASKED))
    writing = cache._waiting.get().writing
    assert writing is not None
    writing.cancel()
    await asyncio.wait([writing])
    assert await answers.recall(ASKED) is None


@pytest.mark.parametrize(
    "change",
    [
        {"text": "what is it?"},
        {"text": "What is it"},
        {"original": "And that?"},
        {"state": "s2"},
        {"state": ""},
        {"collection_ids": ()},
        {"top_k": 6},
        {"max_tokens": 5},
        {"min_relevance": 0.7},
        {"mode": "dense"},
        {"filters": answer().question.filters},
        {"rerank": False},
        {"rewrite": True},
    ],
)
async def test_another_question_is_another_question(change: dict[str, Any]):
    assert await kept(ASKED) is not None
    assert await answers.recall(replace(ASKED, **change)) is None


async def test_another_release_answers_anew(monkeypatch: pytest.MonkeyPatch):
    assert await kept(ASKED) is not None
    monkeypatch.setattr(answers, "_PROGRAM", "another")
    monkeypatch.setattr(answers, "_configuration", answers._Configuration())
    assert await answers.recall(ASKED) is None


def test_the_program_is_another_when_its_code_or_data_is(tmp_path: Path):
    package = ModuleType("package")
    package.__path__ = [str(tmp_path / "package")]
    code, data = tmp_path / "package/code.py", tmp_path / "package/model/weights.bin"
    compiled = tmp_path / "package/__pycache__/code.pyc"
    for path in (code, data, compiled):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one")
    first = answers.digest_of_program(package)
    compiled.write_text("two")
    assert answers.digest_of_program(package) == first
    code.write_text("two")
    second = answers.digest_of_program(package)
    data.rename(data.with_name("other.bin"))
    assert len({first, second, answers.digest_of_program(package)}) == 3


async def test_another_model_answers_anew(settings: Any):
    assert await kept(ASKED) is not None
    part = {"class": "rag.synthesizers.ollama.OllamaSynthesizer", "options": {"model_name": "another"}}
    settings.KNOWLEX = settings.KNOWLEX | {"SYNTHESIZER": part}
    assert await answers.recall(ASKED) is None


async def test_only_answers_are_kept_and_only_whole_ones():
    assert await kept(ASKED, answered=False, text="", cited=(), reason="below_threshold") is None
    assert await kept(ASKED, rewriting="failed") is None
    assert await kept(ASKED, usage=Usage(cut=True)) is None
    assert await kept(replace(ASKED, state="")) is None


async def test_a_reranker_that_failed_leaves_nothing(settings: Any):
    part = {
        "class": "rag.rerankers.http.HttpReranker",
        "options": {"base_url": "http://127.0.0.1:9", "model_name": "m"},
    }
    settings.KNOWLEX = settings.KNOWLEX | {"RERANKER": part}
    assert await kept(ASKED, reranker="sentence") is None
    assert await kept(ASKED, reranker="http") is not None


async def test_values_of_others_are_misses(settings: Any):
    await kept(ASKED)
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        (key,) = client.keys("knowlex:cache:answer:*")
        value = client.get(key)
        for strange in (
            b"",
            b"x" * 40,
            value[:32],
            value[:-5],
            value[:32] + b"jnull",
            b"\0" * 32 + value[32:],
        ):
            client.set(key, strange)
            assert await answers.recall(ASKED) is None
        client.set(key, value)
        assert await answers.recall(ASKED) is not None
        client.delete(key)
        client.lpush(key, "a list")
        assert await answers.recall(ASKED) is None
        assert await kept(ASKED) is not None  # it takes that place, at once


async def test_it_ends_with_its_time_and_can_be_off(settings: Any):
    settings.ANSWER_CACHE_S = 77
    await kept(ASKED)
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        (key,) = client.keys("knowlex:cache:*")
        assert 0 < client.ttl(key) <= 77
    settings.ANSWER_CACHE_S = 0
    assert await answers.recall(ASKED) is None
    assert await kept(replace(ASKED, text="Other?")) is None


async def test_switched_off_nothing_is_connected(settings: Any):
    settings.CACHE = False
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert await kept(ASKED) is None
    assert shared_cache.shared._valkey._clients.take() is None


async def test_hits_and_misses_are_counted():
    def counted(result: str) -> float:
        labels = {"kind": "answer", "result": result}
        return REGISTRY.get_sample_value("knowlex_cache_lookups_total", labels) or 0.0

    before = {result: counted(result) for result in ("hit", "miss")}
    await answers.recall(ASKED)
    await kept(ASKED)
    assert {result: counted(result) - before[result] for result in before} == {"hit": 1, "miss": 1}


@pytest.fixture
def stopped(valkey: EmbeddedValkey, settings: Any) -> Iterator[psutil.Process]:
    """A Valkey that accepts connections and never answers."""
    with paused(settings.REDIS_URL) as process:
        yield process


async def test_a_valkey_that_hangs_costs_one_timeout_and_is_left_alone(stopped: psutil.Process):
    started = time.monotonic()
    assert await answers.recall(ASKED) is None
    assert time.monotonic() - started < TIMEOUT_S + 3.0
    started = time.monotonic()
    for _ in range(100):
        assert await answers.recall(ASKED) is None
        answers.remember(ASKED, answer(question=ASKED))
    assert time.monotonic() - started < 50 * TIMEOUT_S  # it rests: else it would be 100 timeouts


async def test_after_its_rest_it_is_used_again(stopped: psutil.Process, cache: SharedCache):
    assert await answers.recall(ASKED) is None
    os.kill(stopped.pid, signal.SIGCONT)
    cache._valkey._rests_until -= REST_S
    assert await kept(ASKED) is not None
