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
    """Connect to the server, or to the proxy before it. Raises OSError, ValueError.

    OpenAI itself (no URL) is taken for granted: not every installation is to probe it.
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
    """Return "connected"; "not_loaded" if it answers without having the model; "unreachable"."""
    wire = kept(("OLLAMA", host), lambda: JsonWire(base_url(host), max_bytes=MAX_LIST_BYTES))
    return await read_ollama_state(wire, model)


async def read_ollama_state(wire: JsonWire, model: str) -> str:
    """Return one of the same three of the server that `wire` speaks to."""
    try:
        reply = await wire.send("GET", "/api/tags", timeout_s=LIMIT_S)
    except (Unreachable, TimeoutError):
        return "unreachable"
    if reply.status >= 500:
        return "unreachable"
    is_missing = reply.ok and names_model(reply.body, model) is False
    return "not_loaded" if is_missing else "connected"
