"""Both chat clients against a provider that misbehaves: one suite for what they share."""

import time
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

import pytest

from knowlex.base.errors import SynthesisFailed, SynthesisTimeout
from knowlex.base.retry import Retry
from rag.context.fitting import context_of
from rag.prompts import CITE_AGAIN, NOT_FOUND, SYSTEM, user_message
from rag.synthesizers.ollama import OllamaSynthesizer
from rag.synthesizers.openai import OpenAISynthesizer
from rag.types.answer import Synthesis
from tests.provider import Provider
from tests.rag.factory import passage, question

QUICK = Retry(retries=2, base_s=0.01)
KEY = "sk-test-3f1d9c"


class ChatClient(Protocol):
    async def synthesize(self, question: Any, context: Any) -> Synthesis: ...
    async def cite_again(self, question: Any, context: Any, reply: str) -> Synthesis: ...
    async def aclose(self) -> None: ...


Connect = Callable[..., ChatClient]


@pytest.fixture(params=["openai", "ollama"])
async def connect(request: pytest.FixtureRequest, provider: Provider) -> AsyncIterator[Connect]:
    """`connect(timeout_s=…)`: a client of the provider; closed when the test ends."""
    clients: list[ChatClient] = []

    def new(*, timeout_s: float = 5.0, retry: Retry = QUICK) -> ChatClient:
        client: ChatClient
        if request.param == "openai":
            client = OpenAISynthesizer(
                api_key=KEY,
                base_url=provider.openai_url,
                model_name="gpt-4o-mini",
                timeout_s=timeout_s,
                retry=retry,
            )
        else:
            client = OllamaSynthesizer(
                host=provider.url, model_name="llama3.2:1b", timeout_s=timeout_s, retry=retry
            )
        clients.append(client)
        return client

    yield new
    for client in clients:
        await client.aclose()


async def asked(client: ChatClient, **fields: Any) -> Synthesis:
    return await client.synthesize(question(**fields), context_of([passage(1), passage(2)]))


async def test_the_reply_and_its_tokens_come_back(connect: Connect, provider: Provider):
    provider.cites([2])
    synthesis = await asked(connect())
    assert synthesis.text == "Fact number 2 is true [2]."
    assert (synthesis.usage.input_tokens, synthesis.usage.output_tokens) == (10, 5)
    assert synthesis.usage.model in ("gpt-4o-mini", "llama3.2:1b")


async def test_the_model_is_asked_coolly_and_without_a_stream(connect: Connect, provider: Provider):
    await asked(connect(), max_tokens=77)
    body = provider.calls("chat")[0].body
    options = body.get("options", body)
    assert options["temperature"] <= 0.3
    assert 77 in (options.get("max_tokens"), options.get("num_predict"))
    assert not body.get("stream")
    assert provider.calls("chat")[0].prompt.questions == ["What is true?"]
    assert provider.calls("chat")[0].prompt.numbers == [1, 2]


@pytest.mark.parametrize(
    "fault", ["reset", "close", "half", "cut", "html", "empty", "null", "list", "bad_utf8", "huge"]
)
async def test_a_broken_reply_is_tried_again(connect: Connect, provider: Provider, fault: str):
    provider.rule(fault, on="chat", times=2)
    assert (await asked(connect())).text == "Fact number 1 is true [1]."
    assert len(provider.calls("chat")) == 3


@pytest.mark.parametrize("fault", ["reset", "half", "html", "null", "huge", "compressed"])
async def test_three_broken_replies_are_a_failure(connect: Connect, provider: Provider, fault: str):
    provider.rule(fault, on="chat")
    with pytest.raises(SynthesisFailed):
        await asked(connect())
    assert len(provider.calls("chat")) == 3


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
async def test_a_passing_trouble_is_tried_again(connect: Connect, provider: Provider, status: int):
    provider.rule("status", status=status, on="chat", times=2)
    assert (await asked(connect())).text
    assert len(provider.calls("chat")) == 3


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 422])
async def test_a_refused_request_is_not_tried_again(connect: Connect, provider: Provider, status: int):
    provider.rule("status", status=status, message=f"bad key {KEY}", on="chat")
    with pytest.raises(SynthesisFailed) as failed:
        await asked(connect())
    assert len(provider.calls("chat")) == 1
    assert KEY not in failed.value.message


async def test_retry_after_is_waited_for(connect: Connect, provider: Provider):
    provider.rule("status", status=429, retry_after_s=0.5, on="chat", times=1)
    await asked(connect())
    first, second = provider.calls("chat")
    assert second.at - first.at >= 0.5


async def test_a_wait_beyond_the_timeout_is_not_begun(connect: Connect, provider: Provider):
    provider.rule("status", status=429, retry_after_s=20, on="chat")
    started = time.monotonic()
    with pytest.raises(SynthesisFailed) as failed:
        await asked(connect())
    assert time.monotonic() - started < 10
    assert getattr(failed.value, "retry_after_s", None) is None


@pytest.mark.parametrize("fault", ["hang", "slow"])
async def test_the_timeout_holds_for_the_whole(connect: Connect, provider: Provider, fault: str):
    provider.rule("status", status=500, on="chat", times=1)
    provider.rule(fault, seconds=60, on="chat")
    started = time.monotonic()
    with pytest.raises(SynthesisTimeout):
        await asked(connect(timeout_s=1.5))  # enough for the first try to fail on a busy machine
    assert time.monotonic() - started < 8


async def test_a_server_that_is_not_there_is_a_failure(provider: Provider):
    for client in (
        OpenAISynthesizer(api_key=KEY, base_url="http://127.0.0.1:9/v1", model_name="m", retry=QUICK),
        OllamaSynthesizer(host="127.0.0.1:9", model_name="m", retry=QUICK),
    ):
        with pytest.raises(SynthesisFailed):
            await asked(client)
        await client.aclose()


@pytest.mark.parametrize("said", [None, "", " \n ", "<think>Only thoughts", "<think>a</think>  "])
async def test_a_model_that_says_nothing_has_found_nothing(
    connect: Connect, provider: Provider, said: str | None
):
    provider.says(said)
    assert (await asked(connect())).text == NOT_FOUND
    assert len(provider.calls("chat")) == 3


async def test_a_reply_without_markers_can_be_asked_for_them(connect: Connect, provider: Provider):
    provider.says("Fact number 1 is true [1].")
    context = context_of([passage(1)])
    synthesis = await connect().cite_again(question(), context, "Fact number 1 is true.")
    assert synthesis.text == "Fact number 1 is true [1]."
    prompt = provider.calls("chat")[0].prompt
    assert (prompt.system, prompt.user) == (SYSTEM, user_message(question(), context))
    assert prompt.later == ("Fact number 1 is true.", CITE_AGAIN)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("<think>Let me see [2].</think>\nYes [1].", "Yes [1]."),
        ("Thoughts [2]</think>Yes [1].", "Yes [1]."),
        ("Yes [1]. <think>unfinished", "Yes [1]."),
        ("A\x00B\ud800C\x07 [1].", "ABC [1]."),
    ],
)
async def test_a_reply_is_cleaned(connect: Connect, provider: Provider, said: str, text: str):
    provider.says(said)
    assert (await asked(connect())).text == text


async def test_a_long_reply_is_cut(connect: Connect, provider: Provider):
    provider.says("huge")
    text = (await asked(connect())).text
    assert text.startswith("Fact number 1 is true [1].")
    assert len(text) <= 32_000


async def test_no_redirect_is_followed(connect: Connect, provider: Provider):
    provider.rule("status", status=307, on="chat")
    with pytest.raises(SynthesisFailed):
        await asked(connect())
    assert len(provider.calls("chat")) == 1


async def test_a_client_works_again_after_it_was_closed(connect: Connect):
    client = connect()
    await asked(client)
    await client.aclose()
    assert (await asked(client)).text


async def test_openai_learns_the_newer_name_of_the_token_limit(provider: Provider):
    client = OpenAISynthesizer(api_key=KEY, base_url=provider.openai_url, model_name="o9", retry=QUICK)
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    provider.rule("status", status=400, message=message, on="chat", times=1)
    for _ in range(2):
        await asked(client, max_tokens=50)
    sent = [call.body for call in provider.calls("chat")]
    assert [body.get("max_completion_tokens") for body in sent] == [None, 50, 50]
    assert [body.get("max_tokens") for body in sent] == [50, None, None]
    await client.aclose()


async def test_ollama_names_the_model_that_is_missing(provider: Provider):
    provider.rule("status", status=404, on="chat")
    client = OllamaSynthesizer(host=provider.url, model_name="nobody", retry=QUICK)
    with pytest.raises(SynthesisFailed, match="nobody"):
        await asked(client)
    await client.aclose()


async def test_ollama_is_given_room_for_the_whole_prompt(provider: Provider):
    client = OllamaSynthesizer(host=f"{provider.url}/", model_name="m", retry=QUICK)
    await asked(client, max_tokens=4096)
    assert provider.calls("chat")[0].path == "/api/chat"
    assert provider.calls("chat")[0].body["options"]["num_ctx"] >= 4000 + 4096
    await client.aclose()


def test_openai_without_a_key_needs_a_server_of_ones_own():
    with pytest.raises(ValueError, match="OPENAI_API_KEY"):
        OpenAISynthesizer(api_key="", base_url=None, model_name="m")
