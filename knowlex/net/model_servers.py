"""Whether the servers of models are there, and whether Ollama has a model; nothing that costs is asked."""

import asyncio
from urllib.parse import urlsplit

from knowlex.net.json_client import JsonWire, Unreachable
from knowlex.net.ollama import base_url, names_model
from knowlex.net.proxies import PORTS, proxy_of
from knowlex.runtime.components import kept

LIMIT_S = 1.0
MAX_LIST_BYTES = 4 * 1024 * 1024


async def takes_connections(url: str | None) -> bool:
    """OpenAI itself (no URL) is taken for granted: not every installation is to probe it. Of a server behind
    a proxy, whether the proxy does. Raises OSError, ValueError.
    """
    parts = urlsplit(proxy_of(url or "") or url or "")
    if not parts.hostname:
        return True
    secure = parts.scheme == "https"
    _, writer = await asyncio.open_connection(
        parts.hostname, parts.port or PORTS[parts.scheme], ssl=secure or None, limit=4096
    )
    writer.close()
    return True


async def ollama_state(host: str, model: str) -> str:
    """ "connected"; "not_loaded" if it answers without having the model; "unreachable"."""
    return await _state(kept(("OLLAMA", host), lambda: _wire(host)), model)


async def ollama_state_once(host: str, model: str) -> str:
    """The same without a connection left open."""
    wire = _wire(host)
    try:
        return await _state(wire, model)
    finally:
        await wire.aclose()


def _wire(host: str) -> JsonWire:
    return JsonWire(base_url(host), max_bytes=MAX_LIST_BYTES)


async def _state(wire: JsonWire, model: str) -> str:
    try:
        reply = await wire.send("GET", "/api/tags", timeout_s=LIMIT_S)
    except (Unreachable, TimeoutError):
        return "unreachable"
    if reply.status >= 500:
        return "unreachable"
    is_missing = reply.ok and names_model(reply.body, model) is False
    return "not_loaded" if is_missing else "connected"
