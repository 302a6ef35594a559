"""Many who ask at once, each again as soon as the answer is there, and what they saw of it."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import uvloop

STAGES_OF_EVERY = 10  # reading every answer would cost the clients as much as asking
ANSWERED = (b'"answerSynthesized":true', b'"answered":true', b'"sourceChunks"')
EVENTS = {"Accept": "text/event-stream"}


@dataclass(frozen=True, slots=True)
class Crowd:
    """Who asks what, and for how long. url: to post `{field: question}` to."""

    url: str
    field: str
    questions: Sequence[str]
    askers: int
    seconds: float
    model_s: float
    streamed: bool = False


@dataclass
class Tally:
    """latencies in seconds; stages: milliseconds by stage, of some of the answers."""

    latencies: list[float] = field(default_factory=list)
    failures: int = 0
    stages: dict[str, list[float]] = field(default_factory=dict)


def ask(crowd: Crowd, watch: Callable[[], None]) -> Tally:
    """watch: called every 0.2 s meanwhile, in a thread."""
    return uvloop.run(_ask(crowd, watch))


async def _ask(crowd: Crowd, watch: Callable[[], None]) -> Tally:
    tally = Tally()
    connector, timeout = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        watching = asyncio.create_task(_watch(watch))
        ends = time.perf_counter() + crowd.seconds
        await asyncio.gather(*(_asker(n, ends, crowd, session, tally) for n in range(crowd.askers)))
        watching.cancel()
    return tally


async def _asker(
    number: int, ends: float, crowd: Crowd, session: aiohttp.ClientSession, tally: Tally
) -> None:
    await asyncio.sleep(number / crowd.askers * crowd.model_s)  # people do not ask in step
    headers = EVENTS if crowd.streamed else {}
    while (asked := time.perf_counter()) < ends:
        number += crowd.askers
        body = {crowd.field: crowd.questions[number % len(crowd.questions)]}
        async with session.post(crowd.url, json=body, headers=headers) as reply:
            said = await reply.read()
        if reply.status != 200 or not any(mark in said for mark in ANSWERED):
            tally.failures += 1
            continue
        tally.latencies.append(time.perf_counter() - asked)
        if len(tally.latencies) % STAGES_OF_EVERY == 0:
            for stage, took in _stages(said, crowd.streamed).items():
                tally.stages.setdefault(stage, []).append(took)


def _stages(said: bytes, streamed: bool) -> dict[str, float]:
    """Milliseconds by stage, as the answer tells them; {} where it tells none."""
    body: dict[str, Any] = json.loads(said.rpartition(b"data: ")[2] if streamed else said)
    told: dict[str, float] = (
        body.get("metadata", body).get("stageTimesMs") or body.get("stage_times_ms") or {}
    )
    return told


async def _watch(watch: Callable[[], None]) -> None:
    while True:
        await asyncio.to_thread(watch)
        await asyncio.sleep(0.2)
