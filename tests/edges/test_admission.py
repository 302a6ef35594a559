"""More questions than can be answered in time: some wait for their turn, those too many are told at once."""

import asyncio
import select
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from itertools import count
from statistics import median
from typing import Any

import httpx
import pytest
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.test import RequestFactory

from knowlex.base.errors import DependencyUnavailable
from knowlex.runtime.admission import AT_ONCE, Admission, elsewhere, holding
from knowlex.web.middleware import admission
from tests.support import processes
from tests.support.api import assert_problem
from tests.support.stack import Stack


def run(scene: Callable[[Admission], Awaitable[None]], **limits: Any) -> None:
    async def play() -> None:
        await scene(Admission(**limits))

    asyncio.run(play())


def measured(admission: Admission, seconds: float, crowd: int) -> None:
    """So it was with many that have ended."""
    for _ in range(500):
        admission.note(seconds, crowd)


def test_the_crowd_that_is_let_in_follows_how_long_questions_take() -> None:
    async def scene(admission: Admission) -> None:
        entering: list[asyncio.Task[Any]] = []

        async def let_in() -> int:
            entering.extend(asyncio.create_task(admission.enter()) for _ in range(100))
            await asyncio.sleep(0)
            return admission.crowd

        measured(admission, 1.0, 10)  # each is here for 0.1 s for each that is here
        assert await let_in() == pytest.approx(20, abs=1)
        measured(admission, 1.0, 25)
        assert await let_in() == pytest.approx(50, abs=1)
        for task in entering:
            task.cancel()
        ended = await asyncio.gather(*entering, return_exceptions=True)
        refused = [one for one in ended if isinstance(one, DependencyUnavailable)]
        assert len(refused) == pytest.approx(150, abs=1)
        assert all(one.retry_after_s for one in refused)

    run(scene, limit_s=2.0, at_once=4)


def test_few_are_let_in_however_long_they_take() -> None:
    async def scene(admission: Admission) -> None:
        measured(admission, 60.0, 1)
        for _ in range(4):
            await admission.enter()
        with pytest.raises(DependencyUnavailable):
            await admission.enter()

    run(scene, limit_s=2.0, at_once=4)


def test_turns_come_in_order_and_one_that_is_elsewhere_leaves_its_own() -> None:
    async def scene(admission: Admission) -> None:
        order: list[str] = []
        asked = asyncio.Event()

        async def question(name: str, model: asyncio.Event) -> None:
            place = await admission.enter()
            with holding(place):
                order.append(f"{name} begins")
                with elsewhere():
                    if name == "c":
                        asked.set()
                    await model.wait()
                order.append(f"{name} ends")
            place.leave(served=True)

        model = asyncio.Event()
        asking = [asyncio.create_task(question(name, model)) for name in "abc"]
        await asyncio.wait_for(asked.wait(), 5)
        assert order == ["a begins", "b begins", "c begins"]
        model.set()
        await asyncio.gather(*asking)
        assert order[3:] == ["a ends", "b ends", "c ends"]
        assert admission.crowd == 0

    run(scene, limit_s=2.0, at_once=1)


def test_the_turn_of_one_that_left_goes_to_the_next() -> None:
    async def scene(admission: Admission) -> None:
        first = await admission.enter()
        second, third = (asyncio.create_task(admission.enter()) for _ in range(2))
        await asyncio.sleep(0)
        second.cancel()
        first.leave(served=False)
        await asyncio.wait_for(third, 5)
        third.result().leave(served=True)
        assert admission.crowd == 0

    run(scene, limit_s=2.0, at_once=1)


def test_those_who_trickle_their_questions_hold_nobody_up(server: Stack) -> None:
    head = b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
    with ExitStack() as running:
        trickling = [
            running.enter_context(socket.create_connection(("127.0.0.1", server.port), 10))
            for _ in range(2 * AT_ONCE)
        ]
        for connection in trickling:
            connection.sendall(head)
        for _ in range(2):  # the first may be read before those that came on new connections
            reply = server.client.post("/query", json={"query": "Is there room?"})
        given_up, _, _ = select.select(trickling, [], [], 0)
    assert reply.status_code == 200
    assert not given_up  # the question was answered while they all were waited for


def test_replays_are_questions_and_wait_in_the_same_line() -> None:
    paths = ["/v1/query", "/v1/queries/0198c0de-0000-7000-8000-000000000000/replay", "/v1/feedback"]

    async def scene() -> None:
        ends = asyncio.Event()

        async def serve(request: HttpRequest) -> HttpResponseBase:
            await ends.wait()
            return HttpResponse()

        middleware = admission(serve)
        requests = [RequestFactory().post(paths[n % 3]) for n in range(900)]
        asking = [asyncio.create_task(middleware(request)) for request in requests]
        await asyncio.sleep(0)
        refused = [
            (request.path, task.result())
            for request, task in zip(requests, asking, strict=True)
            if task.done()
        ]
        ends.set()
        await asyncio.gather(*asking)
        assert {path for path, _ in refused} == set(paths[:2])
        for _, response in refused:
            assert response.status_code == 503
            assert int(response["Retry-After"]) > 0

    asyncio.run(scene())


FACES = {
    "/api/v1/rag/ask": "SERVICE_UNAVAILABLE",
    "/query": "RETRIEVAL_FAILED",
    "/v1/query": "SERVICE_UNAVAILABLE",
    "/v1/search": "SERVICE_UNAVAILABLE",
}
DEADLINE_S = 12
CROWD = 400  # at 10 ms for each, half of the first guess, 300 can be there in a quarter of the deadline


def refusals(url: str) -> float:
    told = httpx.get(f"{url}/metrics", timeout=60).text
    return float(told.partition("\nknowlex_questions_refused_total ")[2].partition("\n")[0])


def test_a_crowd_is_answered_in_time_or_refused_at_once_in_the_shape_of_its_face(server: Stack) -> None:
    """All have asked before the server looks at the first: they are a crowd on a slow machine, too."""

    async def ask(client: httpx.AsyncClient, number: int, note: Any) -> tuple[float, httpx.Response]:
        path = list(FACES)[number % len(FACES)]
        headers = {"Accept": "text/event-stream"} if number % 3 == 0 and path != "/v1/search" else {}
        body, asked = {"query": f"What is number {number}?"}, time.perf_counter()
        reply = await client.post(path, json=body, headers=headers, extensions={"trace": note})
        return time.perf_counter() - asked, reply

    async def crowd(size: int) -> list[tuple[float, httpx.Response]]:
        sent, all_have_asked = count(1), asyncio.Event()

        async def note(event: str, _: object) -> None:
            if event == "http11.send_request_body.complete" and next(sent) == size:
                all_have_asked.set()

        limits = httpx.Limits(max_connections=size)
        async with httpx.AsyncClient(base_url=web.url, timeout=60, limits=limits) as client:
            processes.pause_group(web.processes[0], on=True)
            asking = asyncio.gather(*(ask(client, number, note) for number in range(size)))
            await asyncio.wait_for(all_have_asked.wait(), 60)
            processes.pause_group(web.processes[0], on=False)
            return await asking

    with server.web_group(1, KNOWLEX_ANSWER_TIMEOUT_SECONDS=str(DEADLINE_S)) as web:
        httpx.post(f"{web.url}/query", json={"query": "Is it warm?"}, timeout=60).raise_for_status()
        asyncio.run(crowd(AT_ONCE))  # these tell it what a question takes on this machine
        before = refusals(web.url)
        replies = asyncio.run(crowd(CROWD))
        counted = refusals(web.url) - before

    answered = [took for took, reply in replies if reply.status_code == 200]
    refused = [(took, reply) for took, reply in replies if reply.status_code != 200]
    assert counted == len(refused) > 0
    for _, reply in refused:
        assert_problem(reply, 503, FACES[reply.request.url.path])
        assert int(reply.headers["Retry-After"]) > 0
    assert {reply.request.url.path for _, reply in refused} == set(FACES)
    assert any(reply.request.headers["Accept"] == "text/event-stream" for _, reply in refused)
    assert median(took for took, _ in refused) < median(answered)
    here = [reply.json()["latency_ms"] for _, reply in replies if reply.request.url.path == "/v1/search"
            and reply.status_code == 200]  # fmt: skip
    assert max(here) < DEADLINE_S * 1000
