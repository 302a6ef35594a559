"""A chat model whose stream breaks while a client reads, and a client that leaves while the model writes."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.answers.asking import events_in, text_of
from tests.provider import Provider
from tests.support.api import assert_problem, embed, ingest
from tests.support.pdf import make_pdf
from tests.support.stack import Stack
from tests.support.waiting import wait_until

FACES = {"/v1/query": "query", "/query": "query", "/api/v1/rag/ask": "query"}
FACTS = ["The north tower has 120 steps.", "Its lamp burns whale oil.", "Its bell rings at noon."]
QUESTION = "How many steps does the north tower have?"
SAID = " ".join(f"{fact.rstrip('.')} [1]." for fact in FACTS)
STREAM = {"Accept": "text/event-stream", "Cache-Control": "no-cache"}
LEFT_AFTER = 8  # pieces of 6 characters: the first claim, and a little more
DEADLINE_S = 4 + 4  # the synthesis timeout of the stack, and what a busy machine takes besides
LET_GO_S = 2 + 4  # the promise, and the same
BREAKS = ["stream_cut", "stream_reset", "stream_close", "stream_error", "stream_garbage", "stream_stall"]


@pytest.fixture
def tower(provider_server: Stack, provider: Provider) -> Stack:
    """One document of one chunk, and a model that tells all of it, a few letters at a time."""
    ingest(provider_server.client, make_pdf(" ".join(FACTS), title="Tower"), "tower.pdf")
    embed(provider_server.client)
    provider.says(SAID)
    provider.speaks_in(6, 0.005)
    return provider_server


def asked(stack: Stack, path: str, question: str = QUESTION) -> tuple[httpx.Response, float]:
    started = time.monotonic()
    reply = httpx.post(stack.url + path, json={FACES[path]: question}, headers=STREAM, timeout=60)
    return reply, time.monotonic() - started


def whole(reply: httpx.Response) -> list[tuple[str, Any]]:
    assert reply.status_code == 200, reply.text
    return events_in(reply.text)


def all_at_once(
    stack: Stack, provider: Provider, path: str, faults: list[str], after: int
) -> dict[str, tuple[httpx.Response, float]]:
    """Each fault for a question of its own."""
    questions = {fault: f"How many {fault} {after} steps has the north tower?" for fault in faults}
    for fault in faults:
        provider.rule(fault, on="chat", contains=f"How many {fault} {after} steps", after=after)
    with ThreadPoolExecutor(len(faults)) as pool:
        return dict(
            zip(faults, pool.map(lambda fault: asked(stack, path, questions[fault]), faults), strict=True)
        )


@pytest.mark.parametrize("path", FACES)
def test_f33_a_stream_that_breaks_ends_with_an_error(tower: Stack, provider: Provider, path: str):
    faults = BREAKS if path == "/v1/query" else BREAKS[:-1]
    for fault, (reply, took_s) in all_at_once(tower, provider, path, faults, LEFT_AFTER).items():
        events = whole(reply)
        assert [name for name, _ in events[-2:]] == ["token", "error"], fault
        assert "done" not in dict(events)
        assert text_of(events).startswith("The north tower has 120 steps")
        error = events[-1][1]
        assert error["error"] == ("SERVICE_UNAVAILABLE" if path == "/v1/query" else "SYNTHESIS_FAILED")
        assert error["status"] == (500 if path == "/api/v1/rag/ask" else 503)
        assert took_s < DEADLINE_S
    provider.forget_rules()
    assert whole(asked(tower, path)[0])[-1][0] == "done"


def test_f33_one_that_breaks_before_its_first_token_is_a_plain_error(tower: Stack, provider: Provider):
    for reply, took_s in all_at_once(tower, provider, "/query", BREAKS, 0).values():
        assert_problem(reply, 503, "SYNTHESIS_FAILED")
        assert took_s < DEADLINE_S


@pytest.mark.parametrize("fault", ["stream_cut", "stream_reset", "stream_error"])
def test_f33_and_is_tried_again_before_that(tower: Stack, provider: Provider, fault: str):
    provider.rule(fault, on="chat", after=0, times=1)
    events = whole(asked(tower, "/v1/query")[0])
    assert events[-1][0] == "done"
    assert text_of(events) == SAID
    assert len(provider.calls("chat")) == 2


def test_tokens_come_while_the_model_writes(tower: Stack, provider: Provider):
    provider.hold_stream(after=LEFT_AFTER)
    request = {"json": {"query": QUESTION}, "headers": STREAM}
    with tower.client.stream("POST", "/v1/query", **request) as reply:
        lines = reply.iter_lines()
        assert next(lines) == "event: token"
        assert provider.streams.running == 1
        provider.release()
        assert "event: done" in list(lines)


@pytest.mark.parametrize("path", FACES)
def test_f34_the_model_is_let_go_when_the_client_leaves(tower: Stack, provider: Provider, path: str):
    provider.hold_stream(after=LEFT_AFTER)
    request = {"json": {FACES[path]: QUESTION}, "headers": STREAM}
    with tower.client.stream("POST", path, **request) as reply:
        assert next(reply.iter_lines()) == "event: token"
    wait_until(lambda: provider.streams.abandoned, LET_GO_S, "the upstream to be closed")
    assert provider.streams.running == 0
    provider.release()
    assert whole(asked(tower, path)[0])[-1][0] == "done"


def test_f34_a_crowd_that_leaves_holds_nothing(tower: Stack, provider: Provider):
    provider.hold_stream(after=LEFT_AFTER)

    def leave(number: int) -> None:
        body = {"query": f"{QUESTION} {number}"}
        with httpx.stream("POST", f"{tower.url}/v1/query", json=body, headers=STREAM, timeout=60) as reply:
            next(reply.iter_lines())

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(leave, range(20)))
    wait_until(lambda: provider.streams.abandoned == 20, LET_GO_S, "all upstreams to be closed")
    provider.release()
    assert whole(asked(tower, "/v1/query")[0])[-1][0] == "done"
