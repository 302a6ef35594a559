"""Ollama's plain /api/generate as a chat model, and what both of its ways are told beside the prompt."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from knowlex.base.errors import SynthesisFailed
from knowlex.base.retry import Retry
from rag.chat.client import HttpChat, Request
from rag.chat.ollama import ChatDialect, GenerateDialect, OllamaChat, OllamaDialect, OllamaGenerate, Sent
from rag.chat.protocol import Message, system, user
from rag.chat.reading import ReplyReader
from tests.provider import Provider

QUICK = Retry(retries=2, base_s=0.01)
PROMPT = "Context:\n[manual.pdf, p.5]: Wear gloves.\n\nQuestion: What shall I wear?\n\nAnswer:"
WITHOUT_DJANGO = """
import sys
from rag.chat.ollama import OllamaChat, OllamaGenerate
assert not {"django", "openai", "celery"} & {name.partition(".")[0] for name in sys.modules}
"""
SENT = Sent("m", 0.0, 4000, None, "30m", {})
Connect = Callable[..., HttpChat]


@pytest.fixture
async def connect(provider: Provider) -> AsyncIterator[Connect]:
    clients: list[HttpChat] = []

    def new(kind: type[HttpChat] = OllamaGenerate, **options: Any) -> HttpChat:
        clients.append(kind(**{"host": provider.url, "model_name": "m", "retry": QUICK} | options))
        return clients[-1]

    yield new
    for client in clients:
        await client.aclose()


async def test_one_message_is_the_prompt_as_it_stands(connect: Connect, provider: Provider):
    provider.says("Gloves [manual.pdf, p.5].")
    client = connect(model_name="mistral:7b", temperature=0.1, options={"top_p": 0.9})
    reply = await client.complete([user(PROMPT)], max_tokens=500)
    assert (reply.text, reply.usage.model) == ("Gloves [manual.pdf, p.5].", "mistral:7b")
    (call,) = provider.calls("chat")
    assert call.path == "/api/generate"
    assert (call.body["model"], call.body["prompt"], call.body["stream"]) == ("mistral:7b", PROMPT, False)
    assert "system" not in call.body
    options = call.body["options"]
    assert (options["temperature"], options["top_p"], options["num_predict"]) == (0.1, 0.9, 500)


async def test_system_messages_are_its_system(connect: Connect, provider: Provider):
    await connect().complete([system("Be brief."), user(PROMPT)])
    (call,) = provider.calls("chat")
    assert (call.body["system"], call.body["prompt"]) == ("Be brief.", PROMPT)


async def test_turns_are_told_apart(connect: Connect, provider: Provider):
    await connect().complete([user("Who?"), Message("assistant", "Ada."), user("When?")])
    assert provider.calls("chat")[0].body["prompt"] == "User: Who?\n\nAssistant: Ada.\n\nUser: When?"


@pytest.mark.parametrize("kind", [OllamaChat, OllamaGenerate])
@pytest.mark.parametrize(("given", "sent"), [("1h30m", "1h30m"), ("300", 300), ("-1", -1), (0, 0)])
async def test_how_long_the_model_stays_loaded(
    connect: Connect, provider: Provider, kind: type[HttpChat], given: str | int, sent: str | int
):
    await connect(kind, keep_alive=given).complete([user("?")])
    assert provider.calls("chat")[0].body["keep_alive"] == sent


@pytest.mark.parametrize("kind", [OllamaChat, OllamaGenerate])
async def test_options_go_before_our_own_but_for_the_callers_length(
    connect: Connect, provider: Provider, kind: type[HttpChat]
):
    client = connect(kind, options={"num_predict": 77, "num_ctx": 2048, "temperature": 0.2, "seed": 1})
    await client.complete([user("?")])
    await client.complete([user("?")], max_tokens=5)
    first, second = (call.body["options"] for call in provider.calls("chat"))
    assert first == {"num_predict": 77, "num_ctx": 2048, "temperature": 0.2, "seed": 1}
    assert second == first | {"num_predict": 5}


@pytest.mark.parametrize("kind", [OllamaChat, OllamaGenerate])
async def test_a_model_that_is_not_there_is_named_and_not_asked_for_twice(
    connect: Connect, provider: Provider, kind: type[HttpChat]
):
    provider.rule("status", on="chat", status=404)
    with pytest.raises(SynthesisFailed, match="ollama pull mistral:7b"):
        await connect(kind, model_name="mistral:7b").complete([user("?")])
    assert len(provider.calls("chat")) == 1


DIALECTS: list[tuple[type[OllamaDialect], str]] = [
    (ChatDialect, '{"message": {"role": "assistant", %s}, "done": false}'),
    (GenerateDialect, '{%s, "done": false}'),
]


@pytest.mark.parametrize(("dialect", "line"), DIALECTS)
def test_what_a_model_thinks_is_no_part_of_its_reply(dialect: type[OllamaDialect], line: str):
    name = "content" if dialect is ChatDialect else "response"
    said = ['"thinking": "Hm."', f'"thinking": "So.", "{name}": ""', f'"{name}": "Gloves [1]."']
    reading = ReplyReader(dialect(SENT).tongue, streamed=True)
    whole = "".join(reading.feed((line % one + "\n").encode()) for one in said)
    assert whole == "Gloves [1]."


@pytest.mark.parametrize(("dialect", "_"), DIALECTS)
def test_no_model_is_to_think_first_unless_its_server_minds(dialect: type[OllamaDialect], _: str):
    asked, subject = Request([user("?")], 5, None, streamed=False), dialect(SENT)
    assert json.loads(subject.body(asked))["think"] is False
    subject.learn(400, '{"error": "invalid options"}')
    assert "think" in json.loads(subject.body(asked))
    subject.learn(400, '{"error": "\\"m\\" does not support thinking"}')
    assert "think" not in json.loads(subject.body(asked))


def test_it_needs_no_django():
    done = subprocess.run([sys.executable, "-c", WITHOUT_DJANGO], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
