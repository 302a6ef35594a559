"""One loop in a thread of its own, for callers from any thread and from any other loop."""

import asyncio
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from knowlex.runtime.background import Background
from tests.support.environment import PROJECT
from tests.support.waiting import wait_until

color: ContextVar[str] = ContextVar("color", default="none")


@pytest.fixture
def background():
    loop = Background()
    yield loop
    loop.stop()


async def the_loop() -> int:
    return id(asyncio.get_running_loop())


def test_all_threads_and_loops_meet_on_one_loop(background: Background):
    async def elsewhere() -> int:
        return await background.arun(the_loop())

    with ThreadPoolExecutor(8) as threads:
        plain = [threads.submit(lambda: background.run(the_loop())) for _ in range(50)]
        loops = [threads.submit(lambda: asyncio.run(elsewhere())) for _ in range(8)]
        found = {future.result(30) for future in (*plain, *loops)}
    assert len(found) == 1


def test_a_failure_comes_back_as_it_is(background: Background):
    async def fails() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        background.run(fails())


def test_the_callers_context_goes_along(background: Background):
    async def seen() -> str:
        return color.get()

    color.set("red")
    assert background.run(seen()) == "red"


async def test_a_cancelled_wait_cancels_the_work(background: Background):
    ended: list[str] = []

    async def works() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await background.arun(works())
    await asyncio.to_thread(wait_until, lambda: ended == ["cancelled"], 30, "the work to be cancelled")


def test_waiting_on_the_loop_for_itself_is_refused(background: Background):
    async def waits() -> None:
        background.run(the_loop())

    with pytest.raises(RuntimeError, match="await"):
        background.run(waits())


def test_after_a_stop_there_is_another_loop(background: Background):
    async def endless() -> None:
        await asyncio.Event().wait()

    async def left_running() -> None:
        keep.append(asyncio.create_task(endless()))

    keep: list[asyncio.Task[None]] = []
    background.run(left_running())
    background.stop()
    assert keep[0].cancelled()
    assert background.run(asyncio.sleep(0, "again")) == "again"


def test_what_is_being_closed_is_closed_to_the_end(background: Background):
    steps: list[str] = []

    async def close() -> None:
        for step in ("one", "two"):  # each in a task of its own, as connections are
            await asyncio.create_task(asyncio.sleep(0.01))
            steps.append(step)

    background.run(the_loop())
    background.afterwards(close)
    background.stop()
    assert steps == ["one", "two"]


PROGRAM = """
import asyncio, os, sys
from knowlex.runtime import background

async def square(n):
    await asyncio.sleep(0)
    return n * n

async def left_open():
    asyncio.create_task(asyncio.sleep(60))

assert background.run(square(3)) == 9
background.run(left_open())
child = os.fork()
assert background.run(square(4)) == 16
if not child:
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print("fine")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_its_own_and_the_end_is_quiet(tmp_path):
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", PROGRAM],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")
