"""`knowlex-mcp`: the Model Context Protocol on standard input and output, for programs that start servers.

It hands each message to /mcp of a server, with a key, so that the rights, limits and logs are that server's.
Standard output belongs to the protocol alone.
"""

import asyncio
import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.stdio import stdio_server

from knowlex_client.client import KEY_VARIABLE, URL_VARIABLE, USUAL_URL
from knowlex_client.errors import ConnectionFailed

TIMEOUT_S = 120.0


def main(words: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(
        "knowlex-mcp", description="Speak MCP on standard input and output, by a Knowlex server."
    )
    url, key = os.environ.get(URL_VARIABLE, USUAL_URL), os.environ.get(KEY_VARIABLE, "")
    parser.add_argument(
        "--url", default=url, help=f"such as https://knowlex.example; else {URL_VARIABLE}, {USUAL_URL}"
    )
    parser.add_argument("--key", default=key, help=f"where the server asks for one; else {KEY_VARIABLE}")
    given = parser.parse_args(words)
    try:
        serve(given.url, given.key)
    except ConnectionFailed as exc:
        sys.exit(f"knowlex-mcp: {exc}")


def serve(url: str, key: str, *, timeout_s: float = TIMEOUT_S) -> None:
    """Serve until standard input ends. timeout_s: of one message. Raises ConnectionFailed."""
    try:
        asyncio.run(_relay(f"{url.rstrip('/')}/mcp", key, timeout_s))
    except* Exception as exc:
        failure: BaseException = exc
        while isinstance(failure, BaseExceptionGroup):
            failure = failure.exceptions[0]
        raise ConnectionFailed(f"{url} does not answer as it should: {failure}") from exc


async def _relay(url: str, key: str, timeout_s: float) -> None:
    """Serve what the client asks of this process by asking the other server."""

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers=headers, timeout=timeout_s) as http:
        await _check_key(http, url)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout_s) as http,
        Client(streamable_http_client(url, http_client=http)) as remote,
    ):

        async def list_tools(ctx: Any, params: Any) -> Any:
            return await remote.list_tools(cursor=_cursor(params))

        async def call_tool(ctx: Any, params: Any) -> Any:
            async def report(progress: float, total: float | None, message: str | None) -> None:
                await ctx.session.report_progress(progress, total, message)

            wanted = report if ctx.meta and "progress_token" in ctx.meta else None
            return await remote.call_tool(params.name, params.arguments, progress_callback=wanted)

        async def list_resources(ctx: Any, params: Any) -> Any:
            return await remote.list_resources(cursor=_cursor(params))

        async def list_templates(ctx: Any, params: Any) -> Any:
            return await remote.list_resource_templates(cursor=_cursor(params))

        async def read_resource(ctx: Any, params: Any) -> Any:
            return await remote.read_resource(params.uri)

        server: Server[Any] = Server(
            "knowlex",
            title="Knowlex",
            instructions=remote.instructions,
            on_list_tools=list_tools,
            on_call_tool=call_tool,
            on_list_resources=list_resources,
            on_list_resource_templates=list_templates,
            on_read_resource=read_resource,
        )
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


async def _check_key(http: httpx2.AsyncClient, url: str) -> None:
    """Raise ConnectionFailed with what the server says of a wrong key, which the SDK keeps to itself."""
    ping = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
    reply = await http.post(url, json=ping, headers={"Accept": "application/json, text/event-stream"})
    if reply.status_code in (401, 403):
        raise ConnectionFailed(str(reply.json()["message"]))


def _cursor(params: Any) -> str | None:
    cursor: str | None = params.cursor if params is not None else None
    return cursor


if __name__ == "__main__":
    main()
