"""Many who ask at once, each again as soon as the answer is there, and what they saw of it."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import uvloop

STAGES_OF_EVERY = 10  # reading every answer would cost the clients as much as asking
ANSWERED = (b'"answerSynthesized":true', b'"answered":true', b'"sourceChunks"')
EVENTS = {"Accept": "text/event-stream"}
PATIENCE_S = 60


@dataclass(frozen=True, slots=True)
class Crowd:
    """Who asks what, and for how long. url: to post `{field: question}` to.

    questions: taken in their order, by whoever is next. warm_up_s: what is asked before the seconds that
    count.
    """

    url: str
    field: str
    questions: Iterable[str]
    askers: int
    seconds: float
    model_s: float
    streamed: bool = False
    warm_up_s: float = 0.0


@dataclass
class Tally:
    """What came within the `seconds` that counted.

    latencies, refusals, first_tokens in seconds: of answers, of 503s, of streams. statuses: `200` is an
    answer, `200 without one` is none. stages: milliseconds by stage, of some of the answers. retry_after: the
    values that were seen.
    """

    latencies: list[float] = field(default_factory=list)
    refusals: list[float] = field(default_factory=list)
    first_tokens: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    retry_after: set[str] = field(default_factory=set)
    stages: dict[str, list[float]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def failures(self) -> int:
        return self.statuses.total() - self.statuses["200"]


def ask(crowd: Crowd, watch: Callable[[], None], begin: Callable[[], None] = lambda: None) -> Tally:
    """watch: called every 0.2 s meanwhile, in a thread. begin: called when the warm-up is over."""
    return uvloop.run(_Asking(crowd).ask(watch, begin))


class _Asking:
    def __init__(self, crowd: Crowd) -> None:
        self._crowd, self._tally = crowd, Tally()
        self._questions: Iterator[str] = iter(crowd.questions)
        self._begins = self._ends = 0.0

    async def ask(self, watch: Callable[[], None], begin: Callable[[], None]) -> Tally:
        """What is still under way at the end is waited for, and does not count."""
        crowd = self._crowd
        connector, timeout = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=PATIENCE_S)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            watching = asyncio.create_task(_watch(watch))
            self._begins = time.perf_counter() + crowd.warm_up_s
            self._ends = self._begins + crowd.seconds
            asking = [asyncio.create_task(self._keep_asking(n, session)) for n in range(crowd.askers)]
            await asyncio.sleep(crowd.warm_up_s)
            begin()
            await asyncio.sleep(crowd.seconds)
            self._tally.seconds = time.perf_counter() - self._begins
            await asyncio.gather(*asking)
            watching.cancel()
        return self._tally

    async def _keep_asking(self, number: int, session: aiohttp.ClientSession) -> None:
        await asyncio.sleep(number / self._crowd.askers * self._crowd.model_s)  # people do not ask in step
        while time.perf_counter() < self._ends:
            question = next(self._questions, None)
            if question is None:
                raise RuntimeError("There are no more questions.")
            wait_s = await self._ask_once(question, session)
            while wait_s and time.perf_counter() < self._ends:
                await asyncio.sleep(wait_s)
                wait_s = await self._ask_once(question, session)

    async def _ask_once(self, question: str, session: aiohttp.ClientSession) -> float:
        """Return after how long the question is to be asked again; 0 if it was answered."""
        crowd, tally = self._crowd, self._tally
        asked = time.perf_counter()
        headers = EVENTS if crowd.streamed else {}
        try:
            async with session.post(crowd.url, json={crowd.field: question}, headers=headers) as reply:
                first = None
                said = b""
                if crowd.streamed and reply.status == 200:
                    async for block in reply.content.iter_any():
                        if first is None and b"event: token" in block:
                            first = time.perf_counter() - asked
                        said += block
                else:
                    said = await reply.read()
        except (aiohttp.ClientError, TimeoutError) as exc:
            self._count(type(exc).__name__)
            return 1.0
        took = time.perf_counter() - asked
        retry_after = reply.headers.get("Retry-After", "")
        wait_s = min(float(retry_after or (reply.status != 200)), max(0.0, self._ends - time.perf_counter()))
        if not self._counts():
            return wait_s
        if reply.status == 200 and any(mark in said for mark in ANSWERED):
            self._count("200")
            self._note_answer(said, took, first)
        else:
            self._count(f"{reply.status} without one" if reply.status == 200 else str(reply.status))
            if reply.status == 503:
                tally.refusals.append(took)
                tally.retry_after.add(retry_after)
        return wait_s

    def _counts(self) -> bool:
        return self._begins <= time.perf_counter() < self._ends

    def _count(self, status: str) -> None:
        if self._counts():
            self._tally.statuses[status] += 1

    def _note_answer(self, said: bytes, took: float, first: float | None) -> None:
        tally = self._tally
        tally.latencies.append(took)
        if first is not None:
            tally.first_tokens.append(first)
        if len(tally.latencies) % STAGES_OF_EVERY == 0:
            for stage, milliseconds in _stages(said, self._crowd.streamed).items():
                tally.stages.setdefault(stage, []).append(milliseconds)


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
