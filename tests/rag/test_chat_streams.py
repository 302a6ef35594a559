"""Streamed replies of both chat clients, from a provider that breaks them in the middle."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import pytest

from knowlex.base.errors import SynthesisFailed, SynthesisTimeout
from knowlex.base.retry import Retry
from rag.chat.client import HttpChat
from rag.chat.ollama import OllamaChat, OllamaGenerate
from rag.chat.openai import OpenAIChat
from rag.chat.protocol import user
from rag.chat.replies import SchemaRefused
from rag.types.answer import Usage
from tests.provider import Provider

QUICK = Retry(retries=2, base_s=0.01)
ASKED = [user("What is true?")]
LONG = "The north tower has one hundred and twenty steps [1]. Its lamp burns whale oil [2]."
SCHEMA = {"type": "object"}
Connect = Callable[..., HttpChat]


@pytest.fixture(params=["openai", "ollama", "generate"])
async def connect(request: pytest.FixtureRequest, provider: Provider) -> AsyncIterator[Connect]:
    """`connect(timeout_s=…)`: a chat model of the provider; closed when the test ends."""
    clients: list[HttpChat] = []

    def new(*, timeout_s: float = 5.0) -> HttpChat:
        where = (
            {"api_key": "sk-1", "base_url": provider.openai_url}
            if request.param == "openai"
            else {"host": provider.url}
        )
        kind = {"openai": OpenAIChat, "ollama": OllamaChat, "generate": OllamaGenerate}[request.param]
        clients.append(kind(model_name="m", timeout_s=timeout_s, retry=QUICK, **where))
        return clients[-1]

    provider.says(LONG)
    yield new
    for client in clients:
        await client.aclose()


async def heard(client: HttpChat, **options: object) -> list[str | Usage]:
    async with aclosing(client.stream(ASKED, **options)) as pieces:
        return [piece async for piece in pieces]


async def heard_until_failure(client: HttpChat, failure: type[Exception]) -> str:
    """The text before it."""
    text = ""

    async def hear() -> None:
        nonlocal text
        async with aclosing(client.stream(ASKED)) as pieces:
            async for piece in pieces:
                text += str(piece)

    with pytest.raises(failure):
        await hear()
    return text


async def until(reached: Callable[[], object], within_s: float) -> None:
    ends = time.monotonic() + within_s
    while not reached():
        assert time.monotonic() < ends
        await asyncio.sleep(0.01)


async def test_the_pieces_joined_are_the_reply(connect: Connect, provider: Provider):
    provider.speaks_in(7, 0.005)
    *pieces, usage = await heard(connect(), max_tokens=50)
    assert len(pieces) > 1  # a busy machine reads several at once
    assert "".join(str(piece) for piece in pieces) == LONG == (await connect().complete(ASKED)).text
    assert usage == Usage(10, 5, "m")
    assert provider.calls("chat")[0].body["stream"] is True
    assert provider.streams.begun == 1


async def test_text_comes_while_the_model_still_writes(connect: Connect, provider: Provider):
    provider.hold_stream(after=6)
    async with aclosing(connect().stream(ASKED)) as pieces:
        text = await anext(pieces)
        assert isinstance(text, str)
        assert LONG.startswith(text)
        assert provider.streams.running == 1
        provider.release()
        rest = [str(piece) async for piece in pieces if isinstance(piece, str)]
    assert text + "".join(rest) == LONG


async def test_a_client_that_leaves_ends_the_model_s_work(connect: Connect, provider: Provider):
    provider.hold_stream(after=6)
    pieces = connect().stream(ASKED)
    await anext(pieces)
    await pieces.aclose()
    await until(lambda: provider.streams.abandoned, 2)
    assert provider.streams.running == 0


async def test_who_is_cancelled_before_the_first_piece_leaves_too(connect: Connect, provider: Provider):
    provider.rule("stream_stall", after=0)
    waiting = asyncio.create_task(heard(connect()))
    await until(lambda: provider.streams.running, 30)
    waiting.cancel()
    await until(lambda: provider.streams.abandoned, 2)


@pytest.mark.parametrize(
    "fault", ["stream_cut", "stream_reset", "stream_close", "stream_error", "stream_garbage"]
)
async def test_a_stream_that_breaks_is_a_failure(connect: Connect, provider: Provider, fault: str):
    provider.rule(fault, after=8)
    text = await heard_until_failure(connect(), SynthesisFailed)
    assert text
    assert LONG.startswith(text)
    assert len(provider.calls("chat")) == 1


@pytest.mark.parametrize(
    "fault", ["stream_cut", "stream_reset", "stream_close", "stream_error", "stream_garbage", "reset", "html"]
)
async def test_one_that_breaks_before_its_text_is_tried_again(
    connect: Connect, provider: Provider, fault: str
):
    provider.rule(fault, after=0, times=2, on="chat")
    assert "".join(map(str, (await heard(connect()))[:-1])) == LONG
    assert len(provider.calls("chat")) == 3


@pytest.mark.parametrize("after", [0, 8])
async def test_a_stream_that_stalls_ends_at_the_deadline(connect: Connect, provider: Provider, after: int):
    provider.rule("stream_stall", after=after)
    started = time.monotonic()
    text = await heard_until_failure(connect(timeout_s=1.0), SynthesisTimeout)
    assert bool(text) is (after > 0)
    assert time.monotonic() - started < 5
    assert len(provider.calls("chat")) == 1


async def test_the_caller_s_deadline_goes_before_the_model_s_own(connect: Connect, provider: Provider):
    provider.rule("hang", on="chat")
    client, started = connect(timeout_s=60), time.monotonic()
    with pytest.raises(SynthesisTimeout):
        await client.complete(ASKED, timeout_s=0.3)
    with pytest.raises(SynthesisTimeout):
        await heard(client, timeout_s=0.3)
    asked = len(provider.calls("chat"))
    for timeout_s in (0.0, -1.0):
        with pytest.raises(SynthesisTimeout):
            await client.complete(ASKED, timeout_s=timeout_s)
        with pytest.raises(SynthesisTimeout):
            await heard(client, timeout_s=timeout_s)
    assert time.monotonic() - started < 10
    assert len(provider.calls("chat")) == asked


async def test_a_server_that_streams_not_or_always_is_understood(connect: Connect, provider: Provider):
    client = connect()
    unstreamed = provider.rule("unstreamed", on="chat")
    assert await heard(client) == [LONG, Usage(10, 5, "m")]
    provider.forget_rules()
    provider.rule("streamed", on="chat")
    assert (await client.complete(ASKED)).text == LONG
    assert unstreamed.used == 1


async def test_a_reply_that_ended_at_the_model_s_limit_is_told(connect: Connect, provider: Provider):
    client = connect()
    assert (await client.complete(ASKED)).usage.cut is False
    provider.rule("limited", on="chat")
    usage = Usage(10, 5, "m", cut=True)
    assert ((await client.complete(ASKED)).usage, (await heard(client))[-1]) == (usage, usage)


async def test_a_long_reply_is_cut_and_its_connection_closed(connect: Connect, provider: Provider):
    provider.says("word " * 20_000)
    provider.speaks_in(500)
    client = connect()
    *pieces, usage = await heard(client)
    assert isinstance(usage, Usage)
    whole = (await client.complete(ASKED)).text
    assert "".join(map(str, pieces)) == whole
    assert len(whole) <= 32_000


@pytest.mark.parametrize("said", [None, "", " \n ", "<think>Only thoughts", "<think>a</think>  ", "\x00"])
async def test_a_stream_without_text_is_tried_again(connect: Connect, provider: Provider, said: str | None):
    provider.says(said)
    assert await heard_until_failure(connect(), SynthesisFailed) == ""
    assert len(provider.calls("chat")) == 3


async def test_a_window_too_small_is_told_and_not_tried_again(connect: Connect, provider: Provider):
    provider.rule("status", status=400, message="This model's maximum context length is 2048 tokens.")
    for asking in (heard(connect()), connect().complete(ASKED)):
        with pytest.raises(SynthesisFailed, match="KNOWLEX_CHAT_CONTEXT_TOKENS"):
            await asking
    assert len(provider.calls("chat")) == 2


async def test_a_schema_that_is_refused_is_told_so(connect: Connect, provider: Provider):
    for holding in ("response_format", "format"):
        provider.rule("status", status=400, message="no such field", holding=holding)
    client = connect()
    with pytest.raises(SchemaRefused):
        await heard(client, schema=SCHEMA)
    with pytest.raises(SchemaRefused):
        await client.complete(ASKED, schema=SCHEMA)
    assert (await client.complete(ASKED)).text == LONG


async def test_what_a_server_does_not_know_is_left_out_from_then_on(provider: Provider):
    provider.says(LONG)
    provider.rule("status", status=400, message="Unknown field: stream_options", holding="stream_options")
    message = "Unsupported value: 'temperature' does not support 0 with this model."
    provider.rule("status", status=400, message=message, holding="temperature")
    client = OpenAIChat(api_key="k", base_url=provider.openai_url, model_name="m", retry=QUICK)
    for _ in range(2):
        *pieces, usage = await heard(client)
        assert "".join(map(str, pieces)) == LONG
        assert usage == Usage(0, 0, "m")
    assert len(provider.calls("chat")) == 4
    await client.aclose()


async def test_reasoning_without_its_opening_tag_is_learned(connect: Connect, provider: Provider):
    provider.says(f"The towers differ, as block 2 says.</think>{LONG}")
    provider.speaks_in(5, 0.005)
    client = connect()
    with pytest.raises(SynthesisFailed, match="reasoning"):
        await heard(client)
    assert "".join(map(str, (await heard(client))[:-1])) == LONG
    assert (await client.complete(ASKED)).text == LONG


async def test_five_hundred_streams_at_once_hold_no_thread(connect: Connect, provider: Provider):
    provider.hold_stream(after=6)
    client = connect(timeout_s=60)
    before = threading.active_count()
    asking = [asyncio.create_task(heard(client)) for _ in range(500)]
    await until(lambda: provider.streams.running == 500, 60)
    assert threading.active_count() <= before + 32  # the loop's own, for looking up names, at the most
    provider.release()
    for pieces in await asyncio.gather(*asking):
        assert "".join(map(str, pieces[:-1])) == LONG


async def test_a_reply_has_at_most_what_the_window_leaves(provider: Provider):
    options = {"model_name": "m", "retry": QUICK, "temperature": 0.25}
    openai = OpenAIChat(api_key="k", base_url=provider.openai_url, most_tokens=1000, **options)
    ollama = OllamaChat(host=provider.url, context_tokens=3000, window=None, **options)
    narrow = OllamaChat(host=provider.url, window=2048, **options)
    for client in (openai, ollama, narrow):
        await client.complete(ASKED, max_tokens=4096)
        await client.aclose()
    first, second, third = (call.body for call in provider.calls("chat"))
    assert (first["max_tokens"], first["temperature"]) == (1000, 0.25)
    assert second["options"]["temperature"] == 0.25
    assert second["options"]["num_ctx"] >= 3000 + 4096
    assert third["options"]["num_ctx"] == 2048
