"""The HTTP face of the provider: OpenAI's routes, Ollama's routes, and `/_…` to command it."""

from aiohttp import web

from tests.support.provider import answers, bodies
from tests.support.provider.answering import Answering, texts_of
from tests.support.provider.ollama import OllamaRoutes
from tests.support.provider.replies import reply
from tests.support.provider.rules import Rule
from tests.support.provider.state import State
from tests.support.provider.streams import openai_script

MODELS = ("text-embedding-3-small", "gpt-4o-mini")


def build(state: State) -> web.Application:
    app = web.Application(client_max_size=64 * 1024 * 1024)
    handlers = _OpenAIRoutes(state)
    app.router.add_post("/v1/embeddings", handlers.embeddings)
    app.router.add_post("/v1/chat/completions", handlers.chat)
    app.router.add_post("/v1/rerank", handlers.rerank)
    app.router.add_get("/v1/models", handlers.models)
    OllamaRoutes(state).add_to(app)
    _add_commands(app, state)
    return app


class _OpenAIRoutes(Answering):
    async def embeddings(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        texts = texts_of(body)

        async def send(rule: Rule | None) -> web.StreamResponse:
            return await reply(request, rule, bodies.embeddings_body(body, texts, rule.fault if rule else ""))

        return await self._answer(request, "embeddings", body, texts, send)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        return await self._chat(request, stream_default=False, script=openai_script, body_of=bodies.chat_body)

    async def rerank(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()

        async def send(rule: Rule | None) -> web.StreamResponse:
            return await reply(request, rule, bodies.rerank_body(body, rule.fault if rule else ""))

        return await self._answer(request, "rerank", body, [body["query"], *body["documents"]], send)

    async def models(self, request: web.Request) -> web.StreamResponse:
        async def send(rule: Rule | None) -> web.StreamResponse:
            return await reply(request, rule, {"object": "list", "data": [{"id": name} for name in MODELS]})

        return await self._answer(request, "models", {}, [], send)


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

    async def set_ollama(request: web.Request) -> web.Response:
        """{"pulled": ["mistral:7b"], "load_s": 3}: what it has; any other model is not there."""
        body = await request.json()
        state.ollama.load_s = float(body.get("load_s", 0.0))
        if "pulled" in body:
            state.ollama.pulled, state.ollama.strict = tuple(body["pulled"]), True
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
        ("/_ollama", set_ollama),
        ("/_reset", reset),
    ):
        app.router.add_post(path, handler)
    app.router.add_get("/_log", show_log)
