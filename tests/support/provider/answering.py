"""How every route answers: on record, by the rules, late where it has to be."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from aiohttp import web

from tests.support.provider import answers, bodies
from tests.support.provider.log import Call
from tests.support.provider.prompts import prompt_of
from tests.support.provider.replies import HUNG_UP, reply
from tests.support.provider.rules import PLAIN_FAULTS, Rule
from tests.support.provider.state import State
from tests.support.provider.streams import Script, stream

Send = Callable[[Rule | None], Awaitable[web.StreamResponse]]
CALL = web.RequestKey("call", Call)
ScriptOf = Callable[[dict[str, Any], Sequence[str]], Script]
BodyOf = Callable[[dict[str, Any], str | None], dict[str, Any]]
WHOLE = PLAIN_FAULTS - {"slow", "hold"} | {"unstreamed", "uncounted"}  # faults that a whole reply shows


class Answering:
    def __init__(self, state: State) -> None:
        self._state = state

    async def _chat(
        self, request: web.Request, *, stream_default: bool, script: ScriptOf, body_of: BodyOf
    ) -> web.StreamResponse:
        body = await request.json()
        prompt = prompt_of(body)

        async def send(rule: Rule | None) -> web.StreamResponse:
            fault = rule.fault if rule else ""
            text = self._state.answer(prompt)
            if (body.get("response_format") or body.get("format")) and fault != "schema_ignored":
                text = answers.as_claims(text, prompt)
            if fault in WHOLE or not (body.get("stream", stream_default) or fault == "streamed"):
                whole = body_of(body, text)
                if fault == "uncounted":
                    del whole["usage"]
                if fault == "limited":
                    whole = json.loads(json.dumps(whole).replace('"stop"', '"length"'))
                return await reply(request, rule, whole)
            self._state.log.streams_now(request[CALL])
            lines = script(body, bodies.pieces(text or "", self._state.piece_chars))
            if fault == "limited":
                tail = [line.replace(b'"stop"', b'"length"') for line in lines.tail]
                lines = replace(lines, tail=tail)
            pause_s, released = self._state.pause_s, self._state.released
            return await stream(request, rule, lines, pause_s=pause_s, released=released)

        return await self._answer(request, "chat", body, [prompt.text], send)

    async def _answer(
        self, request: web.Request, kind: str, body: dict[str, Any], texts: Sequence[str], send: Send
    ) -> web.StreamResponse:
        key = request.headers.get("Authorization", "")
        call = request[CALL] = self._state.log.began(kind, request.path, body, texts, key)
        abandoned = False
        try:
            rule = self._state.rules.match(kind, texts, body, request.path)
            call.fault = rule.fault if rule else ""
            await self._delay(rule)
            return await self._before(request, body) or await send(rule)
        except (asyncio.CancelledError, ConnectionResetError):
            abandoned = not request.get(HUNG_UP)
            raise
        finally:
            self._state.log.ended(call, abandoned=abandoned)

    async def _before(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse | None:
        """Another answer than the route's own."""
        return None

    async def _delay(self, rule: Rule | None) -> None:
        if rule and rule.fault == "hold":
            while not self._state.released.is_set():  # noqa: ASYNC110 - set by the test's thread
                await asyncio.sleep(0.01)
        await asyncio.sleep(rule.seconds if rule and rule.fault == "slow" else self._state.latency_s)


def texts_of(body: dict[str, Any]) -> Sequence[str]:
    given = body.get("input") or []
    return [given] if isinstance(given, str) else list(given)
