"""What callers are told who may not, who ask too often, or whose answer needs what cannot be reached."""

from collections.abc import Sequence

import httpx
import pytest

from tests.conftest import MakeStack, provider_env
from tests.golden.asks_questions import STREAM
from tests.golden.comparing import assert_golden
from tests.golden.exchanges import SHOWN_HEADERS, Ask, Recorder
from tests.provider import Provider
from tests.support import commands
from tests.support.api import embed, ingest, together
from tests.support.pdf import make_pdf
from tests.support.stack import Stack

A_DAY = 40
QUESTION = "How many steps does the north tower have?"
FACTS = ["The north tower has 120 steps.", "Its lamp burns whale oil."]
ASKED = {
    "/v1/query": {"query": QUESTION},
    "/v1/search": {"query": QUESTION},
    "/query": {"query": QUESTION},
    "/api/v1/rag/ask": {"query": QUESTION},
}
UPLOAD = {"file": ("a.md", b"# A\n\nNew words.", "text/markdown")}


def asks(title: str, *paths: str, stream: bool = False) -> list[Ask]:
    return [Ask(title, "POST", path, ASKED[path], STREAM if stream else {}) for path in paths]


def recorded(stack: Stack, given: Sequence[Ask], **headers: str) -> str:
    with httpx.Client(base_url=stack.url, timeout=60, headers=headers) as client:
        return Recorder(client).record(given)


def key(stack: Stack, *words: str) -> str:
    """A new key for the header `Authorization`."""
    printed = commands.manage(stack, "create_api_key", *words)
    return "Bearer " + next(word for word in printed.split() if word.startswith("kx_"))


@pytest.fixture(scope="module")
def strict(make_module_stack: MakeStack) -> Stack:
    """It asks for keys, and counts requests."""
    return make_module_stack(workers=0, KNOWLEX_REQUIRE_API_KEY="true", KNOWLEX_RATE_LIMIT=f"{A_DAY}/day")


def test_who_may_not_and_who_asks_too_often(strict: Stack):
    without_key = [
        Ask("without a key", "GET", "/v1/collections"),
        Ask("without a key", "GET", "/metrics"),
        Ask("without a key", "GET", "/api/v1/documents"),
        *asks("without a key", "/query"),
        Ask("with an unknown key", "GET", "/v1/collections", headers={"X-API-Key": "kx_nobody"}),
        Ask("health needs none", "GET", "/health", without_body=True),
    ]
    reading = [
        Ask("a key that reads", "GET", "/v1/collections"),
        Ask("a key that reads, for a change", "POST", "/v1/collections", {"name": "New"}),
        Ask("a key that reads, for a change", "POST", "/api/v1/documents", files=UPLOAD),
        Ask("a key that reads, for a change", "POST", "/api/v1/embeddings/generate"),
    ]
    collections = [
        Ask("a key that writes, for a collection", "POST", "/v1/collections", {"name": "New"}),
        Ask("a key of some collections", "GET", "/metrics"),
    ]
    parts = [
        recorded(strict, without_key),
        recorded(strict, reading, Authorization=(reader := key(strict, "reader", "--scope", "read"))),
        recorded(
            strict,
            collections,
            Authorization=key(strict, "own", "--scope", "write", "--collection", "default"),
        ),
    ]
    limits = (*SHOWN_HEADERS, "X-RateLimit-Limit", "X-RateLimit-Remaining")
    too_often = [Ask(f"one request more than {A_DAY} a day", "GET", path, shown=limits)
                 for path in ("/v1/collections", "/query")]  # fmt: skip
    for _ in range(A_DAY):
        httpx.get(f"{strict.url}/v1/collections", headers={"Authorization": reader})
    parts.append(recorded(strict, too_often, Authorization=reader))
    assert_golden("http/failures-of-callers.txt", "\n\n\n".join(parts))


@pytest.fixture(scope="module")
def tower(make_module_stack: MakeStack, _provider: Provider) -> Stack:
    """Its embeddings and its chat model are the provider's; one document."""
    _provider.reset()
    stack = make_module_stack(workers=1, **provider_env(_provider), KNOWLEX_CACHE="off")
    ingest(stack.client, make_pdf(" ".join(FACTS), title="Tower"), "tower.pdf")
    embed(stack.client)
    return stack


def test_a_model_that_fails(tower: Stack, provider: Provider):
    answering = ("/v1/query", "/query", "/api/v1/rag/ask")
    provider.says(f"{FACTS[0].rstrip('.')} [1].")
    parts = [recorded(tower, [*asks("answered by a model", *answering)])]
    provider.rule("status", status=401, on="chat")
    parts.append(recorded(tower, asks("the chat model refuses", *answering)))
    parts.append(recorded(tower, asks("the chat model refuses a stream", *answering, stream=True)))
    provider.forget_rules()
    provider.speaks_in(6)
    provider.rule("stream_cut", on="chat", after=4)
    parts.append(recorded(tower, asks("the chat model breaks off", *answering, stream=True)))
    provider.forget_rules()
    provider.rule("status", status=401, on="embeddings")
    parts.append(recorded(tower, asks("the embedding model refuses", *answering, "/v1/search")))
    upload = Ask("a document", "POST", "/api/v1/documents", files=UPLOAD)
    parts.append(recorded(tower, [upload, Ask("not embedded", "POST", "/api/v1/embeddings/generate")]))
    assert_golden("http/failures-of-models.txt", "\n\n\n".join(parts))


def test_a_broker_and_a_database_that_are_away(tower: Stack):
    """In this order: the database comes last, and does not come back."""
    tower.stop_broker(kill=True)
    away = "the broker is away"
    given = [
        Ask(away, "POST", "/api/v1/embeddings/generate"),
        Ask(away, "GET", "/health", until=lambda reply: reply.json()["broker"] == "unreachable"),
    ]
    parts = [recorded(tower, given)]
    tower.postgres.execute(f"ALTER DATABASE {tower.database} ALLOW_CONNECTIONS false")
    tower.postgres.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", tower.database
    )
    away = "the database is away"
    given = [
        *asks(away, *ASKED),
        Ask(away, "GET", "/v1/collections"),
        Ask(away, "GET", "/api/v1/documents"),
        Ask(away, "GET", "/health", until=lambda reply: reply.status_code == 503),
    ]
    parts += together([lambda one=one: recorded(tower, [one]) for one in given])
    assert_golden("http/failures-of-services.txt", "\n\n\n".join(parts))
