"""Whether the servers of models are there and have them, as /health, `up` and doctor ask it."""

import pytest
from django.conf import LazySettings

from knowlex.embedded import chat_model
from knowlex.net.json_client import JsonWire
from knowlex.net.model_servers import read_ollama_state, takes_connections
from knowlex.net.ollama import base_url
from tests.provider import Provider


async def state_at(host: str, model: str) -> str:
    wire = JsonWire(base_url(host))
    try:
        return await read_ollama_state(wire, model)
    finally:
        await wire.aclose()


@pytest.mark.parametrize(
    ("pulled", "asked", "state"),
    [
        ("all-minilm:latest", "all-minilm", "connected"),
        ("all-minilm", "all-minilm:latest", "connected"),
        ("Mistral:7b", "mistral:7b", "connected"),
        ("mistral:7b", "mistral", "not_loaded"),
        ("all-minilm:33m", "all-minilm", "not_loaded"),
    ],
)
async def test_the_tag_decides_unless_it_is_the_usual_one(
    provider: Provider, pulled: str, asked: str, state: str
) -> None:
    provider.has_pulled(pulled)
    assert await state_at(provider.url, asked) == state


@pytest.mark.parametrize(
    ("fault", "status", "state"),
    [
        ("status", 500, "unreachable"),
        ("reset", 0, "unreachable"),
        ("html", 0, "unreachable"),
        ("status", 404, "connected"),  # something before it that has no such route: nobody knows
        ("list", 0, "connected"),
    ],
)
async def test_what_is_no_list_of_models(provider: Provider, fault: str, status: int, state: str) -> None:
    provider.rule(fault, on="models", status=status)
    assert await state_at(provider.url.removeprefix("http://"), "m") == state


async def test_a_server_is_asked_for_nothing_but_a_connection(provider: Provider) -> None:
    assert await takes_connections(provider.openai_url)
    assert await takes_connections(None)
    assert provider.calls() == []
    with pytest.raises(OSError, match="9"):
        await takes_connections("http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("pulled", "told"),
    [
        ("llama3.2:1b", ""),
        (
            "mistral:7b",
            ". Ollama does not have the model 'llama3.2:1b'; pull it first: `ollama pull llama3.2:1b`.",
        ),
    ],
)
async def test_a_line_tells_who_answers_and_what_is_missing(
    settings: LazySettings, provider: Provider, pulled: str, told: str
) -> None:
    provider.has_pulled(pulled)
    chosen = {"options": {"host": provider.url, "model_name": "llama3.2:1b"}}
    settings.KNOWLEX = {**settings.KNOWLEX, "SYNTHESIZER": chosen}

    line = await chat_model.describe_answerer(within_s=2)

    assert line == f"Answers: ollama llama3.2:1b at {provider.url}{told}"
    assert not provider.calls("load")
