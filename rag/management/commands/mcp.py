"""`manage.py mcp`: the Model Context Protocol on standard input and output, for programs that start servers.

It hands each message to /mcp of a server that runs, with a key, so that the rights, limits and logs are that
server's. Standard output belongs to the protocol alone.
"""

from __future__ import annotations

import asyncio
import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

PATIENCE_S = 30.0  # beyond the time that the server gives a question


class Command(BaseCommand):
    help = "Speak MCP on standard input and output, by /mcp of the server that runs or of --url."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--url", default="", help="of a server elsewhere, such as https://knowlex.example"
        )
        parser.add_argument(
            "--api-key", default="", help="where the server asks for one; else KNOWLEX_API_KEY"
        )

    def handle(self, *args: Any, url: str, api_key: str, **options: Any) -> None:
        from django.conf import settings

        from knowlex.embedded.data_folder import served_at

        address = url or served_at(settings.DATA_DIR)
        if not address:
            raise CommandError(f"No server runs in {settings.DATA_DIR}. Start `manage.py up`, or give --url.")
        address = address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:").rstrip("/")
        key = api_key or os.environ.get("KNOWLEX_API_KEY", "")
        try:
            asyncio.run(_relay(f"{address}/mcp", key, settings.ANSWER_TIMEOUT_S + PATIENCE_S))
        except* Exception as exc:
            failure: BaseException = exc
            while isinstance(failure, BaseExceptionGroup):
                failure = failure.exceptions[0]
            raise CommandError(f"{address} does not answer as it should: {failure}") from exc


async def _relay(url: str, key: str, timeout_s: float) -> None:
    """Serve what the client asks of this process by asking the other server."""
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.server import Server
    from mcp.server.stdio import stdio_server

    headers = {"Authorization": f"Bearer {key}"} if key else {}
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


def _cursor(params: Any) -> str | None:
    cursor: str | None = params.cursor if params is not None else None
    return cursor
