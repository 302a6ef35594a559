"""KNOWLEX_STRUCTURED_CLAIMS=on: claims by a JSON schema, and what happens where a server knows none."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowlex.common.errors import SynthesisFailed
from knowlex.common.retry import Retry
from rag.context import context_of
from rag.prompts import NOT_FOUND, SYSTEM
from rag.synthesizers import claims
from rag.synthesizers.chat import ChatSynthesizer
from rag.synthesizers.claims import ClaimReader, NotClaims
from rag.synthesizers.ollama import OllamaSynthesizer
from rag.synthesizers.openai import OpenAISynthesizer
from rag.types import Usage
from tests.provider import Provider
from tests.rag.factory import passage, question

QUICK = Retry(retries=2, base_s=0.01)
SAID = "The tower has 120 steps [1]. Its lamp burns oil [1][2]."
CONTEXT = context_of([passage(1), passage(2)])
Connect = Callable[[], ChatSynthesizer]


@pytest.fixture(params=["openai", "ollama"])
async def synthesizer(request: pytest.FixtureRequest, provider: Provider) -> AsyncIterator[ChatSynthesizer]:
    provider.says(SAID)
    options: dict[str, Any] = {"model_name": "m", "retry": QUICK, "structured": True}
    made = (
        OpenAISynthesizer(api_key="k", base_url=provider.openai_url, **options)
        if request.param == "openai"
        else OllamaSynthesizer(host=provider.url, **options)
    )
    yield made
    await made.aclose()


async def streamed(synthesizer: ChatSynthesizer) -> list[str | Usage]:
    async with aclosing(synthesizer.stream(question(), CONTEXT)) as pieces:
        return [piece async for piece in pieces]


async def test_claims_become_text_with_markers(synthesizer: ChatSynthesizer, provider: Provider):
    provider.speaks_in(5, 0.002)
    assert (await synthesizer.synthesize(question(), CONTEXT)).text == SAID
    first, second, usage = await streamed(synthesizer)
    assert (first, second) == ("The tower has 120 steps [1].", " Its lamp burns oil [1][2].")
    assert isinstance(usage, Usage)
    body = provider.calls("chat")[0].body
    given = body.get("format") or body["response_format"]["json_schema"]["schema"]
    assert given == claims.SCHEMA
    assert provider.calls("chat")[0].prompt.numbers == [1, 2]
    assert synthesizer.prompt_version == claims.VERSION


async def test_no_claims_are_a_refusal(synthesizer: ChatSynthesizer, provider: Provider):
    provider.says("")
    assert (await synthesizer.synthesize(question(), CONTEXT)).text == NOT_FOUND
    assert (await streamed(synthesizer))[0] == NOT_FOUND


@pytest.mark.parametrize("stream_first", [True, False])
async def test_a_server_without_schemas_is_asked_plainly_from_then_on(
    synthesizer: ChatSynthesizer, provider: Provider, stream_first: bool
):
    for holding in ("response_format", "format"):
        provider.rule("status", status=400, message="unknown field", holding=holding)
    if stream_first:
        assert "".join(map(str, (await streamed(synthesizer))[:-1])) == SAID
    for _ in range(2):
        assert (await synthesizer.synthesize(question(), CONTEXT)).text == SAID
    assert len(provider.calls("chat")) == 3 + stream_first
    assert synthesizer.prompt_version != claims.VERSION


@pytest.mark.parametrize("stream_first", [True, False])
async def test_a_server_that_ignores_the_schema_is_asked_plainly(
    synthesizer: ChatSynthesizer, provider: Provider, stream_first: bool
):
    provider.rule("schema_ignored", on="chat")
    if stream_first:
        assert "".join(map(str, (await streamed(synthesizer))[:-1])) == SAID
    assert (await synthesizer.synthesize(question(), CONTEXT)).text == SAID
    assert len(provider.calls("chat")) == 2 + stream_first


async def test_a_stream_that_breaks_between_claims_is_a_failure(
    synthesizer: ChatSynthesizer, provider: Provider
):
    provider.speaks_in(10)
    provider.rule("stream_cut", after=9)
    with pytest.raises(SynthesisFailed):
        await streamed(synthesizer)


async def test_a_claim_without_end_is_left_for_a_plain_reply(
    synthesizer: ChatSynthesizer, provider: Provider
):
    endless = '{"claims": [{"text": "' + "the tower of " * 2000
    provider.speaks_in(100)
    provider.says(lambda prompt: SAID if prompt.system == SYSTEM else endless)
    provider.rule("schema_ignored", on="chat")
    for asking in (synthesizer.synthesize(question(), CONTEXT), synthesizer.synthesize(question(), CONTEXT)):
        assert (await asking).text == SAID
    assert synthesizer.prompt_version == claims.VERSION  # the next reply may be a good one


async def test_who_wrote_claims_without_end_is_told(synthesizer: ChatSynthesizer, provider: Provider):
    claim = '{"text": "The tower has 120 steps.", "sources": [1]}, '
    provider.speaks_in(100)
    provider.says('{"claims": [' + claim * 500)
    provider.rule("schema_ignored", on="chat")
    assert (await streamed(synthesizer))[-1] == (await synthesizer.synthesize(question(), CONTEXT)).usage
    assert (await synthesizer.synthesize(question(), CONTEXT)).usage.model == "m"


async def test_what_was_claimed_before_it_stays(synthesizer: ChatSynthesizer, provider: Provider):
    provider.speaks_in(100)
    provider.says('{"claims": [{"text": "A b.", "sources": [1]}, {"text": "' + "the tower of " * 2000)
    provider.rule("schema_ignored", on="chat")
    assert (await synthesizer.synthesize(question(), CONTEXT)).text == "A b [1]."
    assert len(provider.calls("chat")) == 1


async def test_claims_without_end_are_left(synthesizer: ChatSynthesizer, provider: Provider):
    provider.speaks_in(100)
    provider.says('{"claims": [' + '{"text": "A b.", "sources": [1]}, ' * 900)
    provider.rule("schema_ignored", on="chat")
    text = (await synthesizer.synthesize(question(), CONTEXT)).text
    assert text == " ".join(["A b [1]."] * claims.MOST_CLAIMS)
    assert len(provider.calls("chat")) == 1


def read(reply: str, size: int) -> str:
    reader = ClaimReader()
    pieces = [reader.feed(reply[start : start + size]) for start in range(0, len(reply), size)]
    return "".join([*pieces, reader.finish()])


@given(
    st.lists(st.tuples(st.text(max_size=20), st.lists(st.integers(-1, 4), max_size=3))), st.integers(1, 30)
)
@settings(max_examples=60, deadline=None)
def test_claims_may_come_in_any_pieces(said: list[tuple[str, list[int]]], size: int):
    reply = json.dumps({"claims": [{"text": text, "sources": numbers} for text, numbers in said]}, indent=1)
    assert read(reply, size) == read(reply, len(reply))


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ('```json\n{"claims": [{"text": "A b", "sources": [2, 2, true, "x", 0]}]}\n```', "A b [2]."),
        ('{"claims":[{"text":"A [7].","sources":[1]},{"text":" ","sources":[1]}', "A [1]."),
        ('{"claims":[{"text":"A?","sources":null},{"text":"B', "A?"),
        ('{"claims" : [ ] }', NOT_FOUND),
    ],
)
def test_claims_are_read_for_what_they_mean(reply: str, text: str):
    assert read(reply, 1000) == read(reply, 3) == text


@pytest.mark.parametrize(
    "reply", ["The tower [1].", '{"answer": "x"}', '{"claims": [7]}', "[" * 500, '{"claims":']
)
def test_anything_else_is_not_claims(reply: str):
    with pytest.raises(NotClaims):
        read(reply, 7)
