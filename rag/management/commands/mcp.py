"""`manage.py mcp`: `knowlex-mcp` (`knowlex_client.mcp`) for the server that runs on this machine."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from knowlex.runtime.commands import ProjectCommand

PATIENCE_S = 30.0  # beyond the time that the server gives a question


class Command(ProjectCommand):
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

        from knowlex.embedded.data_folder import reached_at
        from knowlex_client.errors import ConnectionFailed
        from knowlex_client.mcp import serve

        address = url or reached_at(settings.DATA_DIR)
        if not address:
            raise CommandError(f"No server runs in {settings.DATA_DIR}. Start `manage.py up`, or give --url.")
        key = api_key or os.environ.get("KNOWLEX_API_KEY", "")
        try:
            serve(address, key, timeout_s=settings.ANSWER_TIMEOUT_S + PATIENCE_S)
        except ConnectionFailed as exc:
            raise CommandError(str(exc)) from exc
