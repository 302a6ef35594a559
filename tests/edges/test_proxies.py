"""Servers that are reached through a proxy, and those that never are."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from embeddings.embedders.ollama import OllamaEmbedder
from embeddings.embedders.openai import OpenAIEmbedder
from embeddings.stores.chroma_client import ChromaClient
from embeddings.stores.qdrant import QdrantStore
from knowlex.base.errors import KnowlexError
from knowlex.base.retry import Retry
from knowlex.net.model_servers import takes_connections
from knowlex.net.proxies import proxy_of
from rag.chat.ollama import OllamaChat
from rag.chat.openai import OpenAIChat
from rag.chat.protocol import user
from rag.rerankers.by_model import RerankFailed
from rag.rerankers.http import HttpReranker

VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _behind_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://plain:3128")
    monkeypatch.setenv("HTTPS_PROXY", "http://secure:3128")


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://ollama:11434", "http://plain:3128"),
        ("https://api.openai.com/v1", "http://secure:3128"),
        ("http://10.0.0.8:8001", "http://plain:3128"),
        *((f"http://{here}:11434", None) for here in ("localhost", "127.0.0.1", "127.8.8.8", "[::1]")),
        *(
            (f"https://{here}", None)
            for here in ("0.0.0.0", "LOCALHOST", "db.localhost", "[::ffff:127.0.0.1]")
        ),
    ],
)
def test_the_scheme_tells_the_proxy_and_this_machine_has_none(url: str, proxy: str | None) -> None:
    assert proxy_of(url) == proxy


@pytest.mark.parametrize(
    ("excepted", "direct", "proxied"),
    [
        ("corp.example", "http://a.corp.example http://corp.example:81", "http://acorp.example"),
        (".corp.example, ollama", "http://a.corp.example http://ollama:11434", "http://ollama2"),
        ("*.corp.example", "http://a.b.corp.example", "http://example"),
        ("10.0.0.0/8 fd00::/8", "http://10.1.2.3 http://[fd00::5]:8001", "http://11.0.0.1 http://[fe00::1]"),
        ("10.0.0.8,fd00::1", "http://10.0.0.8:8001 http://[fd00::1]", "http://10.0.0.80 http://[fd00::11]"),
        ("ollama:11434", "http://ollama:11434", "http://ollama:11435 http://ollama"),
        ("corp.example:80", "http://a.corp.example", "http://a.corp.example:8080"),
        ("a,*", "http://anything http://10.0.0.1", ""),
        ("1", "", "http://host1 http://10.0.0.1"),
    ],
)
def test_no_proxy_names_hosts_domains_networks_and_ports(
    monkeypatch: pytest.MonkeyPatch, excepted: str, direct: str, proxied: str
) -> None:
    monkeypatch.setenv("NO_PROXY", excepted)
    assert [url for url in f"{direct} {proxied}".split() if proxy_of(url) is None] == direct.split()


def test_all_proxy_serves_the_scheme_that_has_none_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HTTP_PROXY")
    monkeypatch.setenv("ALL_PROXY", "anyone:s%40cret@other:8080")
    assert proxy_of("http://ollama") == "http://anyone:s%40cret@other:8080"
    assert proxy_of("https://ollama") == "http://secure:3128"


def test_another_kind_of_proxy_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "socks5://u:secret@plain:1080")
    with pytest.raises(ValueError, match=r"^HTTP_PROXY .*name ollama in NO_PROXY") as told:
        proxy_of("http://ollama:11434")
    assert "secret" not in str(told.value)
    assert proxy_of("http://localhost:11434") is None


ASKED = [user("What is true?")]
MODEL: dict[str, Any] = {"model_name": "m", "retry": Retry(retries=0, base_s=0.01)}
KEYS = {"api_key": "sk-1", **MODEL}
CALLS: dict[str, tuple[Callable[[str], Any], Callable[[Any], Awaitable[object]]]] = {
    "OpenAI's chat": (lambda url: OpenAIChat(base_url=url, **KEYS), lambda chat: chat.complete(ASKED)),
    "OpenAI's question": (lambda url: OpenAIEmbedder(base_url=url, **KEYS), lambda it: it.aembed_query("q")),
    "OpenAI's batch": (
        lambda url: OpenAIEmbedder(base_url=url, **KEYS),
        lambda it: asyncio.to_thread(it.embed, ["t"]),
    ),
    "Ollama's chat": (lambda url: OllamaChat(host=url, **MODEL), lambda chat: chat.complete(ASKED)),
    "Ollama's question": (lambda url: OllamaEmbedder(host=url, **MODEL), lambda it: it.aembed_query("q")),
    "Ollama's batch": (
        lambda url: OllamaEmbedder(host=url, **MODEL),
        lambda it: asyncio.to_thread(it.embed, ["t"]),
    ),
    "Chroma": (ChromaClient, ChromaClient.heartbeat),
    "Qdrant": (lambda url: QdrantStore(url=url), QdrantStore.ping),
    "a reranker": (lambda url: HttpReranker(base_url=url), lambda it: it.scores("q", ["t"])),
}


class RefusingProxy:
    """It answers every request with 418. heads: what was asked of it."""

    def __init__(self) -> None:
        self.heads: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):  # one that only looked whether it is there
            self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
            writer.write(b"HTTP/1.1 418 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()


@pytest.fixture
async def proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RefusingProxy]:
    refusing = RefusingProxy()
    async with await asyncio.start_server(refusing.serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        for name in ("HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://some%40one:s%3Acret@127.0.0.1:{port}")
        yield refusing


@pytest.mark.parametrize("client", CALLS)
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_every_client_goes_through_the_proxy(proxy: RefusingProxy, client: str, scheme: str) -> None:
    make, call = CALLS[client]
    made = make(f"{scheme}://models.invalid:8001")
    with suppress(KnowlexError, RerankFailed):
        await call(made)
    await made.aclose()
    head = proxy.heads[0]
    asked = head.split()[1]
    assert asked.startswith("http://models.invalid:8001/" if scheme == "http" else "models.invalid:8001")
    assert f"Proxy-Authorization: Basic {b64encode(b'some@one:s:cret').decode()}".lower() in head.lower()


async def test_a_server_behind_a_proxy_is_there_as_long_as_the_proxy_is(proxy: RefusingProxy) -> None:
    assert await takes_connections("https://models.invalid/v1")
    assert proxy.heads == []
