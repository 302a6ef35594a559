"""`manage.py sync [SOURCE…]`: sources and their states, or runs of some of them, with their counts."""

from __future__ import annotations

import json
import logging
import sys
import time
from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from documents.access import FULL
from knowlex.base.errors import DatabaseUnavailable, KnowlexError
from knowlex.runtime.commands import ProjectCommand

if TYPE_CHECKING:
    from documents.models import Source

POLL_S = 0.5
PATIENCE_S = 60.0  # with a database that is away
ALONE = "No worker is running, so the work is done here."


class Command(ProjectCommand):
    help = (
        "Runs sources (/v1/sources) and waits until their files are read, embedded or deleted. Without names "
        "it lists them. Exits with 1 if a run failed or asks for a confirmation."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("sources", nargs="*", metavar="SOURCE", help="name or id")
        parser.add_argument("--all", action="store_true", help="run all sources")
        parser.add_argument(
            "--dry-run", action="store_true", help="count what a run would do, change nothing"
        )
        parser.add_argument(
            "--confirm", action="store_true", help="delete what the last run asked about, and nothing else"
        )
        parser.add_argument("--no-wait", action="store_true", help="leave the runs to the workers at once")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON at the end")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["dry_run"] and options["confirm"]:
            raise CommandError("A dry run deletes nothing: --dry-run and --confirm do not go together.")
        logging.disable(logging.INFO)  # what workers log would run through the progress
        try:
            self._handle(**options)
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        finally:
            logging.disable(logging.NOTSET)

    def _handle(self, **options: Any) -> None:
        from documents.sources import services
        from embeddings import tasks

        names = [row.name for row in _all()] if options["all"] else options["sources"]
        if not names and not options["all"] and (options["dry_run"] or options["confirm"]):
            raise CommandError("Say which sources: their names, or --all.")
        if not names:
            self._write(_all(), as_json=options["as_json"])
            return
        started = [
            services.start_run(
                name, access=FULL, dry_run=options["dry_run"], confirm_deletions=options["confirm"]
            )
            for name in names
        ]
        tasks.hint_sync()
        ended = started if options["no_wait"] else [self._wait(source) for source in started]
        self._write(ended, as_json=options["as_json"])
        if any(source.state in ("failed", "needs_confirmation") for source in ended):
            sys.exit(1)

    def _wait(self, source: Source) -> Source:
        from documents.sources import services
        from embeddings.ingest import documents, sync
        from embeddings.local_worker import LocalWorker

        worker = LocalWorker(
            lambda: self.stderr.write(ALONE), lambda: sync.run_turn() or documents.run_next()
        )
        seen, told = time.monotonic(), ""
        while True:
            try:
                source = services.get_source(str(source.id), access=FULL)
                seen = time.monotonic()
            except DatabaseUnavailable:
                if time.monotonic() - seen > PATIENCE_S:
                    raise
            line = _describe(source)
            if source.state not in services.RUNNING:
                return source
            if line != told:
                self.stderr.write(line)
                told = line
            worker.work_or_wait(POLL_S)

    def _write(self, sources: list[Source], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps([_as_json(source) for source in sources], indent=2, default=str))
            return
        for source in sources:
            self.stdout.write(_describe(source))
            for line in _refusals(source):
                self.stdout.write(f"  {line}")
        if not sources:
            self.stdout.write("There are no sources.")


def _all() -> list[Source]:
    from documents.models import Source
    from knowlex.db.threads import with_retries

    return with_retries(lambda: list(Source.objects.with_states().select_related("collection")))


def _describe(source: Source) -> str:
    """Return one line: what it is, how it stands, and what its latest run did."""
    from embeddings.ingest.sync import describe_counts

    counts = describe_counts(source.counts)
    state = source.get_state_display() + (f" ({source.stage})" if source.stage else "")
    words = [f"{source.name}: {source.kind} -> {source.collection.name}: {state}"]
    words += [counts] if counts else []
    words += ["dry run, nothing was changed"] if source.dry_run and source.ended_at else []
    return "; ".join(words) + (f". {source.error}" if source.error else "")


LISTED = 20


def _refusals(source: Source) -> list[str]:
    from documents.models import SourceItem
    from embeddings.ingest.bulk import printable_path

    rows = SourceItem.objects.filter(source=source, path__isnull=False).exclude(reason="")
    return [f"{printable_path(str(row.path))}: {row.reason}" for row in rows.order_by("path")[:LISTED]]


def _as_json(source: Source) -> dict[str, Any]:
    names = ("id", "name", "kind", "state", "stage", "dry_run", "counts", "error", "started_at", "ended_at")
    return {**{name: getattr(source, name) for name in names}, "collection": source.collection.name}
