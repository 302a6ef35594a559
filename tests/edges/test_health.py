"""/health tells the truth within 5 s, never hangs, and asks for nothing that costs."""

import socket
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.provider import Provider
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.waiting import wait_until

MakeStack = Callable[..., Stack]
KEYS = {
    "status",
    "ollama",
    "vector_store",
    "embedding_model",
    "timestamp",
    "database",
    "broker",
    "workers",
    "chat_model",
    "vector_index",
}


def health(stack: Stack) -> tuple[int, dict[str, Any]]:
    started = time.monotonic()
    response = stack.client.get("/health")
    assert time.monotonic() - started < 2.5
    return response.status_code, response.json()


def becomes(stack: Stack, **expected: object) -> tuple[int, dict[str, Any]]:
    """Waits, at most 5 s, until /health says all this."""
    return wait_until(
        lambda: next((found for found in [health(stack)] if found[1].items() >= expected.items()), None),
        5,
        f"/health to say {expected}",
    )


def test_all_well(server: Stack) -> None:
    status, body = becomes(server, status="healthy")

    assert status == 200
    assert set(body) == KEYS
    assert body["workers"] == server.workers
    assert body["vector_index"] == {"kind": "none", "searches": "exact"}
    assert (body["ollama"], body["vector_store"], body["embedding_model"]) == (
        "not_configured",
        "connected",
        "loaded",
    )


def test_health_needs_no_other_method_than_get(server: Stack) -> None:
    assert server.client.post("/health").status_code == 405
    assert server.client.head("/health").status_code == 200


def test_without_workers_it_is_degraded_and_recovers(make_stack: MakeStack) -> None:
    stack = make_stack()
    becomes(stack, status="healthy")

    stack.kill_worker()
    assert becomes(stack, workers=0)[1]["status"] == "degraded"

    stack.start_worker()
    becomes(stack, status="healthy")


def test_without_broker_it_is_degraded_and_recovers(make_stack: MakeStack) -> None:
    stack = make_stack()
    becomes(stack, status="healthy")

    stack.stop_broker()
    assert becomes(stack, status="degraded", broker="unreachable", workers=0)[0] == 200

    stack.start_broker()
    becomes(stack, broker="connected")


def test_a_broker_that_hangs_does_not_hang_health(make_stack: MakeStack) -> None:
    stack = make_stack()
    stack.broker_process.suspend()
    try:
        assert becomes(stack, status="degraded", broker="unreachable", database="connected")[0] == 200
    finally:
        stack.broker_process.resume()
    becomes(stack, broker="connected")


def test_without_database_it_is_unhealthy_and_recovers(make_stack: MakeStack, tmp_path_factory: Any) -> None:
    cluster = Postgres(tmp_path_factory.mktemp("pg"))
    stack = make_stack(cluster=cluster)
    becomes(stack, status="healthy")

    cluster.stop(crash=True)
    assert becomes(stack, status="unhealthy", database="unreachable", vector_store="unreachable")[0] == 503

    cluster.start()
    assert becomes(stack, database="connected")[0] == 200


@pytest.mark.parametrize(("synthesizer", "key"), [("ollama", "ollama"), ("openai", "chat_model")])
def test_a_configured_model_is_watched(make_stack: MakeStack, synthesizer: str, key: str) -> None:
    with Provider() as provider:
        stack = make_stack(
            KNOWLEX_SYNTHESIZER=synthesizer,
            KNOWLEX_EMBEDDER="local",
            OLLAMA_HOST=provider.url,
            OPENAI_BASE_URL=provider.openai_url,
            OPENAI_API_KEY="sk-test",
        )
        assert becomes(stack, status="healthy")[1][key] == "connected"
    assert becomes(stack, status="degraded")[1][key] == "unreachable"


def test_an_ollama_that_takes_connections_and_says_nothing_is_unreachable(make_stack: MakeStack) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        stack = make_stack(
            KNOWLEX_SYNTHESIZER="ollama", OLLAMA_HOST=f"http://127.0.0.1:{silent.getsockname()[1]}"
        )

        assert becomes(stack, status="degraded")[1]["ollama"] == "unreachable"


def test_a_crowd_of_probes_is_answered(server: Stack) -> None:
    with httpx.Client(base_url=server.url) as client:
        answered = [client.get("/health").status_code for _ in range(100)]

    assert set(answered) == {200}
