"""A reply that leaves piece by piece, in OpenAI's events or Ollama's lines, or breaks in the middle."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

from aiohttp import web

from tests.support.provider import bodies
from tests.support.provider.replies import FOREVER_S, hang_up
from tests.support.provider.rules import Rule


@dataclass(frozen=True, slots=True)
class Script:
    """What is sent: the pieces of text stand between what begins and what ends a reply."""

    head: list[bytes]
    pieces: list[bytes]
    tail: list[bytes]
    content_type: str
    error: bytes
    garbage: bytes


def openai_script(body: dict[str, Any], texts: Sequence[str]) -> Script:
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}

    def event(delta: dict[str, Any], reason: str | None = None) -> bytes:
        return _sse({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    tail = [event({}, "stop")]
    if (body.get("stream_options") or {}).get("include_usage"):
        tail.append(_sse({**base, "choices": [], "usage": bodies.CHAT_USAGE}))
    return Script(
        [event({"role": "assistant", "content": ""})],
        [event({"content": text}) for text in texts],
        [*tail, b"data: [DONE]\n\n"],
        "text/event-stream",
        _sse({"error": {"message": "overloaded", "type": "server_error"}}),
        b"data: {not json \xff\n\n",
    )


def ollama_script(body: dict[str, Any], texts: Sequence[str]) -> Script:
    def line(said: dict[str, Any]) -> bytes:
        return json.dumps(said).encode() + b"\n"

    return Script(
        [],
        [line(bodies.ollama_chat_body(body, text, done=False)) for text in texts],
        [line(bodies.ollama_chat_body(body, ""))],
        "application/x-ndjson",
        line({"error": "an error was encountered while running the model: unexpected EOF"}),
        b"{not json \xff\n",
    )


async def stream(
    request: web.Request, rule: Rule | None, script: Script, *, pause_s: float, released: Event
) -> web.StreamResponse:
    """Send the lines one by one; a stream fault strikes in the middle."""
    response = web.StreamResponse(headers={"Content-Type": script.content_type})
    await response.prepare(request)
    async for line in _with_fault(rule, script, request, released):
        await response.write(line)
        await asyncio.sleep(pause_s)
    if request.transport is not None and not request.transport.is_closing():
        await response.write_eof()
    return response


async def _with_fault(
    rule: Rule | None, script: Script, request: web.Request, released: Event
) -> AsyncIterator[bytes]:
    fault = rule.fault if rule and rule.fault.startswith("stream_") else ""
    for line in script.head:
        yield line
    strikes = len(script.pieces) // 2 if rule is None or rule.after is None else rule.after
    for line in script.pieces[:strikes] if fault else script.pieces:
        yield line
    match fault:
        case "stream_reset" | "stream_close":
            await asyncio.sleep(0.05)  # what was sent is read by then: a reset takes back what was not
            hang_up(request, reset=fault == "stream_reset")
            return
        case "stream_cut":
            return
        case "stream_stall":
            await asyncio.sleep(FOREVER_S)
        case "stream_hold":
            while not released.is_set():  # noqa: ASYNC110 - set by the test's thread
                await asyncio.sleep(0.01)
        case "stream_error":
            yield script.error
            return
        case "stream_garbage":
            yield script.garbage
    for line in (*(script.pieces[strikes:] if fault else ()), *script.tail):
        yield line


def _sse(event: Any) -> bytes:
    return f"data: {json.dumps(event)}\n\n".encode()
