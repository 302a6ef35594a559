"""`manage.py ask "…"`: the answer with its citations, by `/v1/query` of the server that runs."""

from __future__ import annotations

import asyncio
import json
import logging
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from knowlex.runtime.commands import ProjectCommand

if TYPE_CHECKING:
    from knowlex_client.models import QueryAnswer, QueryCitation

LONGEST_QUOTE = 160
PATIENCE_S = 30.0  # beyond the time that the server gives a question


class Command(ProjectCommand):
    help = "Ask a question. The answer comes with its citations: document, place, support and quote."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question")
        parser.add_argument("--collection", action="append", default=[], help="name or id; all unless given")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print the whole response")
        parser.add_argument("--api-key", default="", help="where the server that runs asks for one")

    def handle(self, *args: Any, question: str, as_json: bool, **options: Any) -> None:
        answer = _ask(question, options["collection"], options["api_key"])
        if as_json:
            body = answer.model_dump(mode="json", exclude_unset=True)
            self.stdout.write(json.dumps(body, indent=2, ensure_ascii=False))
            return
        self.stdout.write(answer.answer)
        for citation in answer.citations:
            self.stdout.write(_describe(citation))


def _ask(question: str, collections: list[str], api_key: str) -> QueryAnswer:
    """Return the answer. Raises CommandError with the server's own message."""
    from django.conf import settings

    from knowlex.embedded.data_folder import reached_at
    from knowlex_client import ApiError, Knowlex, KnowlexError

    address = reached_at(settings.DATA_DIR)
    timeout_s = settings.ANSWER_TIMEOUT_S + PATIENCE_S
    try:
        if address is None:
            return asyncio.run(_ask_here(question, collections))
        with Knowlex(address, key=api_key, timeout_s=timeout_s) as client:
            return client.ask(question, collections=collections)
    except ApiError as exc:
        raise CommandError(exc.message) from exc
    except KnowlexError as exc:
        raise CommandError(str(exc)) from exc


async def _ask_here(question: str, collections: list[str]) -> QueryAnswer:
    """Ask the application in this process. Whoever can read the data folder needs no key."""
    import httpx2
    from django.conf import settings
    from django.utils.module_loading import import_string

    from knowlex_client import AsyncKnowlex
    from rag.management.event_loop import close_after

    logging.disable(logging.WARNING)  # no broker runs here, and this process serves nobody else
    settings.REQUIRE_API_KEY = False
    transport = httpx2.ASGITransport(app=import_string(settings.ASGI_APPLICATION))
    async with AsyncKnowlex("http://localhost", http=httpx2.AsyncClient(transport=transport)) as client:
        return await close_after(client.ask(question, collections=collections))


def _describe(citation: QueryCitation) -> str:
    """Return a line on one citation: number, document, page, support and quote."""
    place = f", {citation.place}" if citation.place else ""
    quote = " ".join(citation.quoted_text.split())
    if len(quote) > LONGEST_QUOTE:
        quote = quote[: LONGEST_QUOTE - 1] + "…"
    document = f"[{citation.citation_index}] {citation.document_name}{place}"
    return f"  {document} ({citation.support}): “{quote}”"
