"""Ollama's routes, worded as those of a current release."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from tests.support.provider import bodies
from tests.support.provider.answering import Answering, texts_of
from tests.support.provider.ollama_models import tagged
from tests.support.provider.replies import reply
from tests.support.provider.rules import Rule
from tests.support.provider.streams import ollama_script

VERSION = "0.13.5"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class OllamaRoutes(Answering):
    def add_to(self, app: web.Application) -> None:
        app.router.add_post("/api/embed", self.embed)
        app.router.add_post("/api/chat", self.chat)
        app.router.add_post("/api/generate", self.chat)
        app.router.add_post("/api/show", self.show)
        for path, body_of in (("tags", self._tags), ("ps", self._running), ("version", self._version)):
            app.router.add_get(f"/api/{path}", self._told(body_of))

    async def embed(self, request: web.Request) -> web.StreamResponse:
        """Without texts it loads the model."""
        body = await request.json()
        texts = texts_of(body)

        async def send(rule: Rule | None) -> web.StreamResponse:
            fault = rule.fault if rule else ""
            return await reply(request, rule, bodies.ollama_embed_body(body, texts, fault))

        kind = "embeddings" if texts else "load"
        return await self._answer(request, kind, body, texts, send)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Also /api/generate. Without a prompt it loads the model."""
        body = await request.json()
        if body.get("messages") or body.get("prompt"):
            return await self._chat(
                request, stream_default=True, script=ollama_script, body_of=bodies.ollama_chat_body
            )

        async def send(rule: Rule | None) -> web.StreamResponse:
            reason = "unload" if body.get("keep_alive") == 0 else "load"
            return await reply(request, rule, bodies.ollama_loaded_body(body, reason))

        return await self._answer(request, "load", body, [], send)

    async def show(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()

        async def send(rule: Rule | None) -> web.StreamResponse:
            return await reply(request, rule, bodies.ollama_show_body(str(body.get("model"))))

        return await self._answer(request, "models", body, [], send)

    def _told(self, body_of: Callable[[], dict[str, Any]]) -> Handler:
        async def handler(request: web.Request) -> web.StreamResponse:
            async def send(rule: Rule | None) -> web.StreamResponse:
                return await reply(request, rule, body_of())

            return await self._answer(request, "models", {}, [], send)

        return handler

    def _tags(self) -> dict[str, Any]:
        return {"models": [bodies.ollama_tag(tagged(name)) for name in self._state.ollama.pulled]}

    def _running(self) -> dict[str, Any]:
        loaded = sorted(self._state.ollama.loaded)
        return {"models": [{**bodies.ollama_tag(name), "context_length": window} for name, window in loaded]}

    def _version(self) -> dict[str, Any]:
        return {"version": VERSION}

    async def _before(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse | None:
        """A model that is not there is told; one that is may have to be loaded."""
        models, model = self._state.ollama, str(body.get("model"))
        if request.method == "GET":
            return None
        if not models.has(model):
            return web.json_response({"error": f"model '{model}' not found"}, status=404)
        if not request.path.endswith("/show"):
            await models.load(body)
        return None
