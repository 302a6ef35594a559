"""`manage.py verify_citations`: checks every stored citation again, through the public API alone."""

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import CommandError

from knowlex.runtime.commands import ProjectCommand

ROWS = (
    *("answers", "citations", "exact", "supported", "unverified", "contradicted", "gone", "replaced"),
    "faults",
)
MAX_NUMBER = 36_500


class Command(ProjectCommand):
    help = (
        "Checks the citations of stored answers again, through the public API alone: quotes, offsets, pages, "
        "markers, and whether exact and supported claims are. Ends with 1 if anything is wrong."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", default="", help="of a server elsewhere; else the one that runs here")
        parser.add_argument("--api-key", default="", help="where the server asks for one")
        parser.add_argument(
            "--since", type=_parse_number, metavar="DAYS", help="only answers of the last DAYS days"
        )
        parser.add_argument("--limit", type=_parse_number, metavar="N", help="only the newest N answers")

    def handle(self, *args: Any, **options: Any) -> None:
        from django.conf import settings

        from knowlex.embedded.data_folder import reached_at
        from knowlex.runtime.components import component
        from knowlex_client import Knowlex, KnowlexError
        from rag.protocols import ClaimJudge
        from rag.verification import AnswerLibrary, check_citations

        address, days = options["url"] or reached_at(settings.DATA_DIR), options["since"]
        if address is None:
            raise CommandError(f"No server runs in {settings.DATA_DIR}. Start `manage.py up`, or give --url.")
        since = datetime.now(UTC) - timedelta(days=days) if days else None
        counts, judge = Counter[str](), component("CLAIM_JUDGE", ClaimJudge)
        try:
            with Knowlex(address, key=options["api_key"]) as client:
                library = AnswerLibrary(client)
                for fault in check_citations(library, judge, counts, since=since, limit=options["limit"]):
                    self.stdout.write(fault)
        except KnowlexError as exc:
            raise CommandError(str(exc)) from exc
        for row in ROWS:
            self.stdout.write(f"{row:<13}{counts[row]:>8}")
        if counts["faults"]:
            sys.exit(1)


def _parse_number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text, re.ASCII) or not 1 <= int(text) <= MAX_NUMBER:
        raise ArgumentTypeError(f"must be a number from 1 to {MAX_NUMBER}, not {text[:40]!r}")
    return int(text)
