"""Commands to a real Valkey, without redis-py's client."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import redis
from redis.exceptions import ResponseError

from knowlex.embedded.services import EmbeddedValkey
from knowlex.runtime.valkey import MAX_CONNECTIONS, Valkey


@pytest.fixture
async def client(valkey: EmbeddedValkey, settings: Any) -> AsyncIterator[Valkey]:
    made = Valkey(settings.REDIS_URL, 5.0)
    yield made
    await made.close()


async def test_each_gets_the_reply_to_what_it_asked(client: Valkey):
    asked = [str(n).encode() for n in range(10 * MAX_CONNECTIONS)]
    assert await asyncio.gather(*(client.ask("ECHO", one) for one in asked)) == asked
    assert await client.ask_all([("ECHO", one) for one in asked]) == asked
    assert len(set(await asyncio.gather(*(client.ask("CLIENT", "ID") for _ in asked)))) <= MAX_CONNECTIONS


async def test_a_connection_that_died_meanwhile_is_replaced(client: Valkey, settings: Any):
    mine = await client.ask("CLIENT", "ID")
    with redis.Redis.from_url(settings.REDIS_URL) as other:
        other.client_kill_filter(_id=mine)
    assert await client.ask("ECHO", "still here") == b"still here"
    assert await client.ask("CLIENT", "ID") != mine


async def test_an_error_takes_no_reply_of_the_next(client: Valkey):
    with pytest.raises(ResponseError):
        await client.ask_all([("ECHO", "a"), ("NO-SUCH-COMMAND",), ("ECHO", "b")])
    assert await client.ask("ECHO", "c") == b"c"


async def test_who_gives_up_takes_no_reply_of_the_next(client: Valkey):
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(client.ask("BLPOP", "nothing-comes", 1), 0.05)
    assert await client.ask("ECHO", "d") == b"d"


async def test_one_that_does_not_answer_in_time_is_given_up(valkey: EmbeddedValkey, settings: Any):
    impatient = Valkey(settings.REDIS_URL, 0.05)
    with pytest.raises(TimeoutError):
        await impatient.ask("BLPOP", "nothing-comes", 1)
    await impatient.close()


@pytest.mark.parametrize("connected", [True, False])
async def test_what_came_while_the_loop_was_busy_is_read(
    valkey: EmbeddedValkey, settings: Any, connected: bool
):
    impatient = Valkey(settings.REDIS_URL, 0.05)
    if connected:
        await impatient.ask("PING")
    asked = asyncio.create_task(impatient.ask("ECHO", "e"))
    for _ in range(3):  # making a connection takes several round trips
        await asyncio.sleep(0)
        busy_until = time.monotonic() + 0.1
        while time.monotonic() < busy_until:
            pass
    assert await asked == b"e"
    await impatient.close()
