"""The HTTP face of the provider: OpenAI's routes, Ollama's routes, and `/_…` to command it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from aiohttp import web

from tests.support.provider import answers, bodies
from tests.support.provider.log import Call, Log
from tests.support.provider.prompts import prompt_of
from tests.support.provider.replies import HUNG_UP, reply
from tests.support.provider.rules import PLAIN_FAULTS, Rule, RuleBook
from tests.support.provider.streams import Script, ollama_script, openai_script, stream

MODELS = ("text-embedding-3-small", "gpt-4o-mini", "llama3.2:1b")
DEFAULT_ANSWER = answers.cite([1])
Send = Callable[[Rule | None], Awaitable[web.StreamResponse]]
CALL = web.RequestKey("call", Call)
ScriptOf = Callable[[dict[str, Any], Sequence[str]], Script]
BodyOf = Callable[[dict[str, Any], str | None], dict[str, Any]]
WHOLE = PLAIN_FAULTS - {"slow", "hold"} | {"unstreamed"}  # faults that a whole reply shows


@dataclass
class State:
    """All that tests set and read.

    latency_s: how long each model call takes when all is well. piece_chars, pause_s: of streamed replies, the
    characters of each piece and the wait after it.
    """

    rules: RuleBook = field(default_factory=RuleBook)
    log: Log = field(default_factory=Log)
    answer: answers.Answer = DEFAULT_ANSWER
    latency_s: float = 0.0
    piece_chars: int | None = None
    pause_s: float = 0.0
    released: Event = field(default_factory=Event)

    def reset(self) -> None:
        self.rules.clear()
        self.log.clear()
        self.answer = DEFAULT_ANSWER
        self.latency_s = self.pause_s = 0.0
        self.piece_chars = None
        self.release()

    def hold(self, **fields: Any) -> Rule:
        """Requests that match stop before they are answered, or in the middle, until `release`."""
        self.released.clear()
        return self.rules.add(**{"fault": "hold"} | fields)

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
        return await self._chat(request, stream_default=False, script=openai_script, body_of=bodies.chat_body)

    async def ollama_chat(self, request: web.Request) -> web.StreamResponse:
        return await self._chat(
            request, stream_default=True, script=ollama_script, body_of=bodies.ollama_chat_body
        )

    async def _chat(
        self, request: web.Request, *, stream_default: bool, script: ScriptOf, body_of: BodyOf
    ) -> web.StreamResponse:
        body = await request.json()
        prompt = prompt_of(body)

        async def send(rule: Rule | None) -> web.StreamResponse:
            fault = rule.fault if rule else ""
            text = self._state.answer(prompt)
            if (body.get("response_format") or body.get("format")) and fault != "schema_ignored":
                text = answers.as_claims(text)
            if fault in WHOLE or not (body.get("stream", stream_default) or fault == "streamed"):
                return await reply(request, rule, body_of(body, text))
            self._state.log.streams_now(request[CALL])
            lines = script(body, bodies.pieces(text or "", self._state.piece_chars))
            pause_s, released = self._state.pause_s, self._state.released
            return await stream(request, rule, lines, pause_s=pause_s, released=released)

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
        call = request[CALL] = self._state.log.began(kind, request.path, body, texts, key)
        abandoned = False
        try:
            rule = self._state.rules.match(kind, texts, body)
            call.fault = rule.fault if rule else ""
            await self._delay(rule)
            return await send(rule)
        except (asyncio.CancelledError, ConnectionResetError):
            abandoned = not request.get(HUNG_UP)
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

    async def set_pieces(request: web.Request) -> web.Response:
        """{"chars": 3, "pause_s": 0.01}"""
        body = await request.json()
        state.piece_chars, state.pause_s = body.get("chars"), float(body.get("pause_s", 0.0))
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
        ("/_pieces", set_pieces),
        ("/_reset", reset),
    ):
        app.router.add_post(path, handler)
    app.router.add_get("/_log", show_log)
