"""Answers from OpenAI's chat API, or from any server that speaks it."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import httpx2
import openai

from knowlex.common.errors import SynthesisFailed
from knowlex.common.per_loop import PerLoop
from knowlex.common.retry import Retry
from rag.prompts import SYSTEM, user_message
from rag.synthesizers.replies import (
    MAX_REPLY_BYTES,
    TEMPERATURE,
    TWO_MORE,
    Again,
    answer_text,
    json_reply,
    status_failure,
    token_count,
    within,
)
from rag.types import Passage, Question, Synthesis, Usage

OPENAI_URL = "https://api.openai.com/v1"
CONNECTIONS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)


class OpenAISynthesizer:
    """The SDK carries the request; its retries are off, since nested loops multiply.

    The reply is read here: the SDK raises whatever a broken body provokes, AttributeError for one.
    timeout_s: of the whole, retries included.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None,
        model_name: str,
        timeout_s: float = 10.0,
        retry: Retry = TWO_MORE,
    ) -> None:
        if not api_key and base_url is None:
            raise ValueError("OPENAI_API_KEY is not set, and OPENAI_BASE_URL names no server of your own.")
        self._api_key, self._base_url, self._model_name = api_key, base_url, model_name
        self._timeout_s, self._retry = timeout_s, retry
        self._limit_name = "max_tokens"
        self._clients: PerLoop[openai.AsyncOpenAI] = PerLoop(self._new_client)

    async def synthesize(self, question: Question, context: Sequence[Passage]) -> Synthesis:
        messages = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": user_message(question, context)},
        ]
        return await within(
            self._timeout_s, self._retry, lambda: self._attempt(messages, question.max_tokens)
        )

    async def aclose(self) -> None:
        """Close this event loop's connections; the next question opens new ones."""
        client = self._clients.take()
        if client is not None:
            await client.close()

    async def _attempt(self, messages: list[dict[str, str]], max_tokens: int | None) -> Synthesis:
        try:
            return self._read(await self._send(messages, max_tokens))
        except openai.BadRequestError as exc:
            if max_tokens is None or self._limit_name == "max_completion_tokens" or not _names_the_limit(exc):
                raise status_failure(exc.status_code) from exc
            self._limit_name = "max_completion_tokens"  # newer models know the limit by this name only
            return await self._attempt(messages, max_tokens)
        except openai.APIStatusError as exc:
            raise status_failure(exc.status_code, exc.response.headers.get("retry-after", "")) from exc
        except openai.OpenAIError as exc:
            raise Again("The chat model could not be reached, or broke off its reply.") from exc

    async def _send(self, messages: list[dict[str, str]], max_tokens: int | None) -> bytes:
        limit = {} if max_tokens is None else {self._limit_name: max_tokens}
        request: dict[str, Any] = {
            "model": self._model_name,
            "messages": messages,
            "temperature": TEMPERATURE,
            **limit,
        }
        # Not chat.completions.create: that walks the request by its type hints, for half the CPU of the call.
        client = self._clients.get()
        response = await client.post("/chat/completions", body=request, cast_to=httpx2.Response)
        return response.content

    def _read(self, body: bytes) -> Synthesis:
        reply = json_reply(body)
        try:
            choice = reply["choices"][0]
            message = choice["message"]
            content, refusal = message.get("content"), message.get("refusal")
        except (KeyError, IndexError, TypeError, AttributeError) as exc:
            raise Again("The chat model's reply holds no answer.") from exc
        if refusal or choice.get("finish_reason") == "content_filter":
            raise SynthesisFailed("The chat model refuses to answer.")
        counted = reply.get("usage")
        usage = counted if isinstance(counted, dict) else {}
        return Synthesis(
            answer_text(content),
            Usage(
                token_count(usage.get("prompt_tokens")),
                token_count(usage.get("completion_tokens")),
                self._model_name,
            ),
        )

    def _new_client(self) -> openai.AsyncOpenAI:
        http_client = openai.DefaultAioHttpClient(
            timeout=httpx2.Timeout(None, connect=5.0),  # the whole is bounded above
            limits=CONNECTIONS,
            headers={"Accept-Encoding": "identity"},  # what is counted is what is held
            follow_redirects=False,
            event_hooks={"response": [_bound]},
        )
        return openai.AsyncOpenAI(
            api_key=self._api_key or "none",  # a server of one's own may ask for no key; the SDK insists
            base_url=self._base_url or OPENAI_URL,
            max_retries=0,
            http_client=http_client,
        )


def _names_the_limit(exc: openai.BadRequestError) -> bool:
    return "max_completion_tokens" in exc.response.text[:4000]


async def _bound(response: httpx2.Response) -> None:
    response.stream = _Bounded(cast(httpx2.AsyncByteStream, response.stream), response.request)


class _Bounded(httpx2.AsyncByteStream):
    """Breaks off a reply, an error page too, that is too large to be an answer."""

    def __init__(self, inner: httpx2.AsyncByteStream, request: httpx2.Request) -> None:
        self._inner, self._request = inner, request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_REPLY_BYTES
        async for block in self._inner:
            left -= len(block)
            if left < 0:
                raise httpx2.ReadError("The reply is too large.", request=self._request)
            yield block

    async def aclose(self) -> None:
        await self._inner.aclose()
