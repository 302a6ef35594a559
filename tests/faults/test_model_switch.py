"""Another embedding model while people search, ask and upload: nothing fails, no answer mixes two models."""

import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.conftest import MakeStack, provider_env, wait_until
from tests.platform.talk import ingested, text
from tests.provider import Provider
from tests.support import processes
from tests.support.api import NO_ANSWER, ask, embed, ingest, search
from tests.support.environment import PROJECT
from tests.support.stack import Stack
from tests.support.texts import fact, facts_pdf, question

OLD, NEW = "text-embedding-3-small", "text-embedding-3-large"
SIZE = "32"  # both: vectors of two models could be compared, and would lie far apart


@pytest.fixture
def library(make_stack: MakeStack, provider: Provider) -> Stack:
    """Some 200 chunks with vectors of the old model."""
    env = provider_env(provider) | {"KNOWLEX_EMBEDDING_DIMENSIONS": SIZE}
    stack = make_stack(workers=2, **env)
    ingest(stack.client, facts_pdf(400))
    embed(stack.client)
    stack.manage("embedding_model", "add", NEW, "--dimensions", SIZE)
    return stack


def vectors(stack: Stack, model: str) -> int:
    return stack.count(
        "embeddings_embedding",
        f"model_id = (SELECT id FROM embeddings_embeddingmodel WHERE name = '{model}')",
    )


class Load:
    """Searches, asks and uploads until it is left; `wrong` is what should not have been."""

    def __init__(self, stack: Stack, content: str) -> None:
        self._stack, self._content, self._over = stack, content, threading.Event()
        self.wrong: list[Any] = []
        self.done = 0

    def __enter__(self) -> "Load":
        self._pool = ThreadPoolExecutor(4)
        works: list[Callable[[httpx.Client, int], None]] = [
            self._search,
            self._search,
            self._ask,
            self._upload,
        ]
        self._futures = [self._pool.submit(self._repeat, work) for work in works]
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for future in self._futures:
            future.result(60)
        self._pool.shutdown()

    def _repeat(self, work: Callable[[httpx.Client, int], None]) -> None:
        number = 0
        with httpx.Client(base_url=self._stack.url, timeout=60) as client:
            while not self._over.is_set():
                work(client, number)
                number += 1
                self.done += 1

    def _search(self, client: httpx.Client, _: int) -> None:
        """A stored text lies at distance 0 from itself, unless question and vectors are of two models."""
        reply = search(client, self._content)
        if reply.status_code != 200 or reply.json()[0]["score"] > 1e-5:
            self.wrong.append((reply.status_code, reply.text[:300]))

    def _ask(self, client: httpx.Client, number: int) -> None:
        reply = ask(client, question(number % 400))
        if reply.status_code != 200 or NO_ANSWER in reply.text:
            self.wrong.append((reply.status_code, reply.text[:300]))

    def _upload(self, client: httpx.Client, number: int) -> None:
        ingested(client, text(fact(1000 + number), f"upload{number}.txt"))


@pytest.mark.slow
def test_a_switch_under_constant_load_fails_no_query_and_mixes_no_answer(library: Stack) -> None:
    first = search(library.client, fact(7)).json()[0]
    with Load(library, first["content"]) as load:
        library.manage("embedding_model", "build", NEW)
        library.manage("embedding_model", "activate", NEW, "--wait")
        switched = load.done
        wait_until(lambda: load.done > switched + 50, 60, "queries after the switch")
        told = library.manage("embedding_model", "rollback")
        back = load.done
        wait_until(lambda: load.done > back + 50, 60, "queries after going back")
    assert load.wrong == []
    assert f"Searches use {OLD} now" in told
    whole = library.count("documents_chunk")
    wait_until(lambda: vectors(library, NEW) == vectors(library, OLD) == whole, 30, "all vectors of both")
    assert not library.count("documents_document", "status <> 'completed'")


@pytest.mark.slow
def test_a_build_goes_on_after_command_and_workers_were_killed(library: Stack, provider: Provider) -> None:
    provider.rule("slow", on="embeddings", model=NEW, seconds=0.3)
    command = [sys.executable, "manage.py", "embedding_model", "build", NEW]
    process = processes.start(command, env=library.env, log=library.folder / "build.log", pass_fds=[])
    wait_until(lambda: vectors(library, NEW) > 20, 30, "the first vectors")
    processes.kill_group(process)
    library.kill_worker()
    assert vectors(library, NEW) < library.count("documents_chunk")
    provider.reset()
    library.start_worker()
    wait_until(lambda: vectors(library, NEW) == library.count("documents_chunk"), 60, "the rest")
    assert "ready" in library.manage("embedding_model", "list")


def refusal(stack: Stack, **env: str) -> str:
    """What a worker says that does not start."""
    command = [sys.executable, "-m", "celery", "-A", "knowlex", "worker", "--concurrency", "1"]
    done = subprocess.run(
        command, cwd=PROJECT, env=stack.env | env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    return done.stdout + done.stderr


@pytest.mark.slow
def test_settings_that_name_another_model_refuse_to_start_and_say_what_to_type(library: Stack) -> None:
    told = refusal(
        library, KNOWLEX_EMBEDDER="local", KNOWLEX_EMBEDDING_MODEL="", KNOWLEX_EMBEDDING_DIMENSIONS=""
    )
    for words in (
        f"{OLD} (openai, {SIZE} dimensions)",
        "embedding_model add all-MiniLM-L6-v2",
        "build",
        "activate",
    ):
        assert words in told
    without_key = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": "", "KNOWLEX_EMBEDDING_DIMENSIONS": ""}
    assert "OPENAI_API_KEY is not set" in refusal(library, **without_key)


def test_f52_a_worker_with_another_model_than_the_stored_vectors_is_refused(provider_server: Stack) -> None:
    ingest(provider_server.client, facts_pdf(3))
    embed(provider_server.client)
    told = refusal(provider_server, KNOWLEX_EMBEDDER="local", KNOWLEX_EMBEDDING_MODEL="")
    assert f"{OLD} (openai" in told
    assert "embedding_model add all-MiniLM-L6-v2" in told
    assert provider_server.client.get("/health").json()["embedding_model"] == "loaded"
