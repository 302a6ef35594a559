"""Many uploads at once: some wait, more are told to come again, and everybody else is served."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from knowlex.base.errors import DependencyUnavailable
from knowlex.web.handler import Uploads


def run(scene: Callable[[Uploads], Awaitable[None]], **limits: float) -> None:
    async def play() -> None:
        await scene(Uploads(**limits))  # type: ignore[arg-type]

    asyncio.run(play())


def test_one_upload_too_many_is_refused_at_once_and_finds_room_later() -> None:
    async def scene(uploads: Uploads) -> None:
        async with uploads.received(), uploads.received():
            with pytest.raises(DependencyUnavailable) as refused:
                async with uploads.received():
                    pass
            assert refused.value.retry_after_s
        async with uploads.received():
            pass

    run(scene, received=2)


def test_uploads_are_served_some_at_a_time() -> None:
    async def scene(uploads: Uploads) -> None:
        running = most = 0

        async def upload() -> None:
            nonlocal running, most
            async with uploads.served():
                running += 1
                most = max(most, running)
                await asyncio.sleep(0)
                running -= 1

        await asyncio.gather(*(upload() for _ in range(20)))
        assert most == 3

    run(scene, served=3)


def test_a_turn_that_does_not_come_is_told_and_not_lost() -> None:
    async def scene(uploads: Uploads) -> None:
        async with uploads.served():
            with pytest.raises(DependencyUnavailable):
                async with uploads.served():
                    pass
        async with uploads.served():
            pass

    run(scene, served=1, wait_s=0.01)
