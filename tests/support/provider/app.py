"""The HTTP face of the provider: OpenAI's routes, Ollama's routes, and `/_…` to command it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from aiohttp import web

from tests.support.provider import answers, bodies
from tests.support.provider.log import Log
from tests.support.provider.prompts import prompt_of
from tests.support.provider.replies import reply, stream
from tests.support.provider.rules import Rule, RuleBook

MODELS = ("text-embedding-3-small", "gpt-4o-mini", "llama3.2:1b")
DEFAULT_ANSWER = answers.cite([1])
EVENT_STREAM, NDJSON = "text/event-stream", "application/x-ndjson"
Send = Callable[[Rule | None], Awaitable[web.StreamResponse]]


@dataclass
class State:
    """All that tests set and read. `latency_s` is how long each model call takes when all is well."""

    rules: RuleBook = field(default_factory=RuleBook)
    log: Log = field(default_factory=Log)
    answer: answers.Answer = DEFAULT_ANSWER
    latency_s: float = 0.0
    released: Event = field(default_factory=Event)

    def reset(self) -> None:
        self.rules.clear()
        self.log.clear()
        self.answer = DEFAULT_ANSWER
        self.latency_s = 0.0
        self.release()

    def hold(self, **fields: Any) -> Rule:
        """Requests that match stop before they are answered, until `release`."""
        self.released.clear()
        return self.rules.add(fault="hold", **fields)

    def release(self) -> None:
        self.released.set()


def build(state: State) -> web.Application:
    app = web.Application(client_max_size=64 * 1024 * 1024)
    handlers = _Handlers(state)
    app.router.add_post("/v1/embeddings", handlers.embeddings)
    app.router.add_post("/v1/chat/completions", handlers.chat)
    app.router.add_post("/v1/rerank", handlers.rerank)
    app.router.add_get("/v1/models", handlers.models)
    app.router.add_post("/api/embed", handlers.ollama_embed)
    app.router.add_post("/api/chat", handlers.ollama_chat)
    app.router.add_post("/api/generate", handlers.ollama_chat)
    app.router.add_get("/api/tags", handlers.tags)
    _add_commands(app, state)
    return app


def _texts(body: dict[str, Any]) -> Sequence[str]:
    given = body.get("input", [])
    return [given] if isinstance(given, str) else list(given)


def _sse(event: Any) -> bytes:
    return f"data: {json.dumps(event)}\n\n".encode()


class _Handlers:
    def __init__(self, state: State) -> None:
        self._state = state

    async def embeddings(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        texts = _texts(body)

        async def send(rule: Rule | None) -> web.StreamResponse:
            return await reply(request, rule, bodies.embeddings_body(body, texts, rule.fault if rule else ""))

        return await self._answer(request, "embeddings", body, texts, send)

    async def ollama_embed(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        texts = _texts(body)

        async def send(rule: Rule | None) -> web.StreamResponse:
            return await reply(
                request, rule, bodies.ollama_embed_body(body, texts, rule.fault if rule else "")
            )

        return await self._answer(request, "embeddings", body, texts, send)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        prompt = prompt_of(body)

        async def send(rule: Rule | None) -> web.StreamResponse:
            text = self._state.answer(prompt)
            if not body.get("stream") or (
                rule and rule.fault in ("status", "html", "empty", "hang", "reset")
            ):
                return await reply(request, rule, bodies.chat_body(body, text))
            lines = [*map(_sse, bodies.chat_deltas(body, text)), b"data: [DONE]\n\n"]
            return await stream(request, rule, lines, EVENT_STREAM)

        return await self._answer(request, "chat", body, [prompt.text], send)

    async def ollama_chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        prompt = prompt_of(body)

        async def send(rule: Rule | None) -> web.StreamResponse:
            text = self._state.answer(prompt)
            if body.get("stream") is False:
                return await reply(request, rule, bodies.ollama_chat_body(body, text))
            parts = [bodies.ollama_chat_body(body, part, done=False) for part in bodies.pieces(text or "")]
            lines = [
                json.dumps(part).encode() + b"\n" for part in (*parts, bodies.ollama_chat_body(body, ""))
            ]
            return await stream(request, rule, lines, NDJSON)

        return await self._answer(request, "chat", body, [prompt.text], send)

    async def rerank(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()

        async def send(rule: Rule | None) -> web.StreamResponse:
            return await reply(request, rule, bodies.rerank_body(body, rule.fault if rule else ""))

        return await self._answer(request, "rerank", body, [body["query"], *body["documents"]], send)

    async def models(self, request: web.Request) -> web.StreamResponse:
        async def send(rule: Rule | None) -> web.StreamResponse:
            return await reply(request, rule, {"object": "list", "data": [{"id": name} for name in MODELS]})

        return await self._answer(request, "models", {}, [], send)

    async def tags(self, request: web.Request) -> web.StreamResponse:
        async def send(rule: Rule | None) -> web.StreamResponse:
            return await reply(request, rule, {"models": [{"name": name, "model": name} for name in MODELS]})

        return await self._answer(request, "models", {}, [], send)

    async def _answer(
        self, request: web.Request, kind: str, body: dict[str, Any], texts: Sequence[str], send: Send
    ) -> web.StreamResponse:
        key = request.headers.get("Authorization", "")
        call = self._state.log.began(kind, request.path, body, texts, key)
        abandoned = False
        try:
            rule = self._state.rules.match(kind, texts, str(body.get("model")))
            call.fault = rule.fault if rule else ""
            await self._delay(rule)
            return await send(rule)
        except (asyncio.CancelledError, ConnectionResetError):
            abandoned = True
            raise
        finally:
            self._state.log.ended(call, abandoned=abandoned)

    async def _delay(self, rule: Rule | None) -> None:
        if rule and rule.fault == "hold":
            while not self._state.released.is_set():  # noqa: ASYNC110 - set by the test's thread
                await asyncio.sleep(0.01)
        await asyncio.sleep(rule.seconds if rule and rule.fault == "slow" else self._state.latency_s)


def _add_commands(app: web.Application, state: State) -> None:
    async def add_rule(request: web.Request) -> web.Response:
        state.rules.add(**await request.json())
        return web.json_response({})

    async def hold(request: web.Request) -> web.Response:
        state.hold(**await request.json())
        return web.json_response({})

    async def release(_: web.Request) -> web.Response:
        state.release()
        return web.json_response({})

    async def set_answer(request: web.Request) -> web.Response:
        """{"name": …}, {"text": …} or {"cite": [1, 2]}."""
        body = await request.json()
        named = answers.NAMED.get(body.get("name", ""))
        state.answer = named or (
            answers.cite(body["cite"]) if "cite" in body else answers.fixed(body["text"])
        )
        return web.json_response({})

    async def set_latency(request: web.Request) -> web.Response:
        state.latency_s = float((await request.json())["seconds"])
        return web.json_response({})

    async def show_log(_: web.Request) -> web.Response:
        return web.json_response(state.log.as_json())

    async def reset(_: web.Request) -> web.Response:
        state.reset()
        return web.json_response({})

    for path, handler in (
        ("/_rules", add_rule),
        ("/_hold", hold),
        ("/_release", release),
        ("/_answer", set_answer),
        ("/_latency", set_latency),
        ("/_reset", reset),
    ):
        app.router.add_post(path, handler)
    app.router.add_get("/_log", show_log)
