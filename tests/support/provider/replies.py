"""How an answer leaves the server: whole, broken in one of many ways, or streamed."""

import asyncio
import gzip
import json
import socket
import struct
from typing import Any

from aiohttp import web

from tests.support.provider.rules import Rule

HUGE_BYTES = 64 * 1024 * 1024
HUNG_UP = web.RequestKey("hung_up", bool)
FOREVER_S = 3600.0
TEXTS = {"response", "message", "choices", "embeddings", "data"}
FIXED_BODIES: dict[str, tuple[bytes, str]] = {
    "html": (b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>", "text/html"),
    "empty": (b"", "application/json"),
    "null": (b"null", "application/json"),
    "list": (b"[]", "application/json"),
    "bad_utf8": (b'{"data": "\xff\xfe\xc3("}', "application/json"),
}


async def reply(request: web.Request, rule: Rule | None, body: Any) -> web.StreamResponse:
    """Send `body` as JSON, or what the rule makes of it."""
    raw = json.dumps(body).encode()
    match rule.fault if rule else "":
        case "status":
            assert rule is not None
            return error_reply(request, rule)
        case "error_200":
            assert rule is not None
            return web.json_response(_error_body(request, rule))
        case "no_route":
            return web.Response(text="404 page not found", status=404)
        case "no_text":
            raw = json.dumps({name: body[name] for name in body if name not in TEXTS}).encode()
        case "hang":
            await asyncio.sleep(FOREVER_S)
        case "reset" | "close" as how:
            hang_up(request, reset=how == "reset")
        case "half":
            return await _half(request, raw)
        case "cut":
            raw = raw[: len(raw) // 2]
        case "huge":
            return await _huge(request, raw)
        case "compressed":  # though nobody asked for it: the way of bombs
            headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
            return web.Response(body=gzip.compress(raw), headers=headers)
        case fault if fault in FIXED_BODIES:
            fixed, content_type = FIXED_BODIES[fault]
            return web.Response(body=fixed, content_type=content_type)
    return web.Response(body=raw, content_type="application/json")


def error_reply(request: web.Request, rule: Rule) -> web.Response:
    headers = {} if rule.retry_after_s is None else {"Retry-After": f"{rule.retry_after_s:g}"}
    return web.json_response(_error_body(request, rule), status=rule.status, headers=headers)


def _error_body(request: web.Request, rule: Rule) -> dict[str, Any]:
    if request.path.startswith("/api/"):  # Ollama's
        return {"error": rule.message}
    return {"error": {"message": rule.message, "type": "error", "code": None, "param": None}}


def hang_up(request: web.Request, *, reset: bool) -> None:
    """Drop the connection: with a TCP reset, or with a plain close."""
    request[HUNG_UP] = True
    transport = request.transport
    if transport is None:
        return
    if reset:
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    else:
        transport.close()


async def _half(request: web.Request, raw: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = len(raw)
    await response.prepare(request)
    await response.write(raw[: len(raw) // 2])
    hang_up(request, reset=False)
    return response


async def _huge(request: web.Request, raw: bytes) -> web.StreamResponse:
    """The right JSON behind 64 MiB of white space."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    block = b" " * (1024 * 1024)
    for _ in range(HUGE_BYTES // len(block)):
        await response.write(block)
    await response.write(raw)
    await response.write_eof()
    return response
