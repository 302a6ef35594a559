"""`manage.py ask "…"`: the answer with its citations, by `/v1/query` of the server that runs."""

from __future__ import annotations

import asyncio
import json
import logging
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

if TYPE_CHECKING:
    import httpx2

PATH, LONGEST_QUOTE = "/v1/query", 160
PATIENCE_S = 30.0  # beyond the time that the server gives a question


class Command(BaseCommand):
    help = "Ask a question. The answer comes with its citations: document, place, support and quote."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question")
        parser.add_argument("--collection", action="append", default=[], help="name or id; all unless given")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print the whole response")
        parser.add_argument("--api-key", default="", help="where the server that runs asks for one")

    def handle(self, *args: Any, question: str, as_json: bool, **options: Any) -> None:
        request: dict[str, Any] = {"query": question}
        if options["collection"]:
            request["collections"] = options["collection"]
        body = _ask(request, options["api_key"])
        if as_json:
            self.stdout.write(json.dumps(body, indent=2, ensure_ascii=False))
            return
        self.stdout.write(body["answer"])
        for citation in body["citations"]:
            self.stdout.write(_describe(citation))


def _ask(request: dict[str, Any], api_key: str) -> dict[str, Any]:
    """Return the response to a question. Raises CommandError with the server's own message."""
    import httpx2
    from django.conf import settings

    from knowlex.embedded.data_folder import served_at

    address = served_at(settings.DATA_DIR)
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    timeout = settings.ANSWER_TIMEOUT_S + PATIENCE_S
    try:
        if address is None:
            response = asyncio.run(_ask_here(request))
        else:
            reachable = address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
            response = httpx2.post(f"{reachable}{PATH}", json=request, headers=headers, timeout=timeout)
        body: dict[str, Any] = response.json()
    except (httpx2.HTTPError, ValueError) as exc:
        raise CommandError(f"{address} does not answer: {exc}") from exc
    if response.status_code != 200:
        raise CommandError(body.get("message") or f"The server answered {response.status_code}.")
    return body


async def _ask_here(request: dict[str, Any]) -> httpx2.Response:
    """Ask the application in this process. Whoever can read the data folder needs no key."""
    import httpx2
    from django.conf import settings
    from django.utils.module_loading import import_string

    from rag.management.event_loop import close_after

    logging.disable(logging.WARNING)  # no broker runs here, and this process serves nobody else
    settings.REQUIRE_API_KEY = False
    transport = httpx2.ASGITransport(app=import_string(settings.ASGI_APPLICATION))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await close_after(client.post(PATH, json=request))


def _describe(citation: dict[str, Any]) -> str:
    """Return a line on one citation: number, document, page, support and quote."""
    place = f", {citation['place']}" if citation["place"] else ""
    quote = " ".join(citation["quoted_text"].split())
    if len(quote) > LONGEST_QUOTE:
        quote = quote[: LONGEST_QUOTE - 1] + "…"
    document = f"[{citation['citation_index']}] {citation['document_name']}{place}"
    return f"  {document} ({citation['support']}): “{quote}”"
