"""Scores from a server that speaks `/v1/rerank`, as llama.cpp, Jina and Cohere do."""

import json
import math
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from knowlex.base.event_loops import PerLoop
from knowlex.net.json_client import open_session
from knowlex.net.model_servers import takes_connections
from knowlex.net.proxies import proxy_of
from rag.rerankers.by_model import ModelReranker, RerankFailed, sigmoid

MAX_REPLY_BYTES = 1024 * 1024  # some servers send the documents back
PATH = "/v1/rerank"


class HttpReranker(ModelReranker):
    """POST {model, query, documents, top_n} -> {"results": [{"index", "relevance_score"}, …]}.

    Some servers score with probabilities, some with logits (llama.cpp): the first score outside of [0, 1]
    tells, and from then on all are taken for logits. base_url: with `/v1/rerank` or without.
    """

    name = "http"

    def __init__(
        self, *, base_url: str, api_key: str = "", model_name: str = "", timeout_s: float = 2.0
    ) -> None:
        super().__init__(timeout_s=timeout_s)
        if not base_url:
            raise ValueError("KNOWLEX_RERANKER_URL is not set.")
        self._url, self._api_key, self._model_name = _endpoint(base_url), api_key, model_name
        self.model = f"{self.name}:{model_name or urlsplit(self._url).netloc.rpartition('@')[2]}"
        self._logits, self._proxy = False, proxy_of(self._url)
        self._sessions: PerLoop[aiohttp.ClientSession] = PerLoop(self._new_session)

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        request: dict[str, Any] = {"query": question, "documents": list(texts), "top_n": len(texts)}
        if self._model_name:
            request["model"] = self._model_name
        try:
            found = scores_in(await self._send(request), len(texts))
        except (aiohttp.ClientError, OSError, ValueError) as exc:
            raise RerankFailed("The reranker could not be reached, or broke off its reply.") from exc
        self._logits = self._logits or not all(0 <= score <= 1 for score in found)
        return [sigmoid(score) for score in found] if self._logits else found

    async def state(self) -> str:
        if self.limit.resting:
            return "resting"
        await takes_connections(self._url)
        return "connected"

    def check(self) -> None:
        """Check nothing more: a server may come later than Knowlex."""

    async def aclose(self) -> None:
        """Close this event loop's connections; the next question opens new ones."""
        session = self._sessions.take()
        if session is not None:
            await session.close()

    async def _send(self, request: dict[str, Any]) -> bytes:
        session = self._sessions.get()
        async with session.post(self._url, json=request, allow_redirects=False) as response:
            if response.status != 200:
                raise RerankFailed(f"The reranker answers with HTTP {response.status}.")
            if response.headers.get("Content-Encoding", "identity") != "identity":
                raise RerankFailed("The reranker's reply is compressed.")
            blocks = bytearray()
            async for block in response.content.iter_any():
                blocks += block
                if len(blocks) > MAX_REPLY_BYTES:
                    raise RerankFailed("The reranker's reply is too large.")
            return bytes(blocks)

    def _new_session(self) -> aiohttp.ClientSession:
        key = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        return open_session(headers=key, proxy=self._proxy, connections=100, connect_s=5.0)


def scores_in(body: bytes, count: int) -> list[float]:
    """Return the score of each document in the order in which they were sent.

    Raises RerankFailed unless there is one finite score for each, and nothing else.
    """
    try:
        results = json.loads(body)["results"]
        found = {_index(one): float(one["relevance_score"]) for one in results}
    except (ValueError, RecursionError, KeyError, TypeError, OverflowError) as exc:
        raise RerankFailed("The reranker's reply holds no scores.") from exc
    if len(results) != count or found.keys() != set(range(count)):
        raise RerankFailed("The reranker's reply does not score each passage once.")
    if not all(math.isfinite(score) for score in found.values()):
        raise RerankFailed("The reranker's reply holds a score that is not a number.")
    return [found[place] for place in range(count)]


def _index(one: dict[str, Any]) -> int:
    index, score = one["index"], one["relevance_score"]
    if isinstance(index, bool) or not isinstance(index, int) or isinstance(score, bool | str):
        raise TypeError("not numbers")
    return index


def _endpoint(base_url: str) -> str:
    url = base_url.rstrip("/")
    return url if url.endswith("/rerank") else f"{url.removesuffix('/v1')}{PATH}"
