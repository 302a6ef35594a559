"""`manage.py vector_store check|repair`: the vector store outside PostgreSQL against PostgreSQL itself."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from knowlex.base.errors import KnowlexError
from knowlex.runtime.commands import ProjectCommand

if TYPE_CHECKING:
    from embeddings.external import configuration
    from embeddings.external.comparison import SpaceComparison

NONE = "No vector store outside PostgreSQL is configured (KNOWLEX_VECTOR_STORE): there is nothing to compare."
OTHERS = (
    "A repair removes what is not in PostgreSQL. If it is another Knowlex's that uses the same server, give "
    "one of the two another VECTOR_STORE_COLLECTION first."
)
WORDS = {
    "missing": "missing there",
    "strange": "there, but not in PostgreSQL",
    "elsewhere": "there under another collection",
    "other_text": "there with another text's hash",
    "other_vector": "of the 20 that were looked up are not found there by their own vectors",
    "waiting": "on their way (in the outbox)",
}


class Command(ProjectCommand):
    help = (
        "Compares the vector store outside PostgreSQL (Chroma, Qdrant) with PostgreSQL, which is the truth. "
        "check: says what differs, and exits with 1 if more does than what is on its way. repair: sends what "
        "differs, removes what is strange there, and checks again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["check", "repair"])
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")

    def handle(self, *args: Any, action: str, as_json: bool, **options: Any) -> None:
        from django.db import OperationalError

        from embeddings.external import configuration

        try:
            used = configuration.configured_store()
            self._require_registered(used)
            if used is None:
                empty: dict[str, Any] = {"ok": True, "store": None, "spaces": [], "message": NONE}
                self.stdout.write(json.dumps(empty, indent=2) if as_json else NONE)
                return
            if action == "repair":
                self._repair(quiet=as_json)
            comparisons = self._compare(quiet=as_json)
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        except OperationalError as exc:
            raise CommandError("The database cannot be reached.") from exc
        self._write_report(used, comparisons, as_json)
        if any(space.broken for space in comparisons):
            sys.exit(1)

    def _require_registered(self, used: configuration.StoreIdentity | None) -> None:
        """Check that the store that the settings name, if any, is the one in use."""
        from embeddings.models import OutsideStore
        from knowlex.db.threads import with_retries

        row = with_retries(OutsideStore.objects.first)
        if used is None and row:
            raise CommandError(
                f"{row} is in use, but this command's environment names no such store: set "
                "KNOWLEX_VECTOR_STORE and VECTOR_STORE_URL as they are where Knowlex runs. (After a start "
                "without them it is given up, and there is nothing to compare.)"
            )
        if used and (row is None or row.fingerprint != used.fingerprint):
            raise CommandError(
                f"{used} is configured, but {row or 'no vector store'} is in use. Start Knowlex with these "
                "settings (manage.py up, or a worker): it is taken into use then, and filled."
            )

    def _compare(self, *, quiet: bool) -> list[SpaceComparison]:
        from embeddings.external.comparison import StoreComparison
        from embeddings.management.displays import StepsDisplay

        with StepsDisplay(self.stderr, quiet=quiet) as display, StoreComparison(display.show) as comparison:
            return list(comparison.compare_all())

    def _repair(self, *, quiet: bool) -> None:
        from embeddings.external.comparison import StoreComparison
        from embeddings.external.delivery import drain_outbox
        from embeddings.management.displays import StepsDisplay

        with StepsDisplay(self.stderr, quiet=quiet) as display:
            count = 0
            with StoreComparison(display.show) as comparison:
                for space in comparison.compare_all():
                    if space.broken:
                        comparison.repair(space)
                        count += space.broken
            total = 0
            for waiting in drain_outbox():
                total = max(total, waiting)
                display.show("shipping", total - waiting, total)
        if not quiet:
            self.stdout.write(f"Mended {count} differences." if count else "Nothing was to be mended.")

    def _write_report(
        self, used: configuration.StoreIdentity, comparisons: list[SpaceComparison], as_json: bool
    ) -> None:
        broken = sum(space.broken for space in comparisons)
        waiting = sum(space.waiting for space in comparisons)
        if as_json:
            spaces = [{**asdict(space), "sample": dict(space.sample)} for space in comparisons]
            report = {"ok": not broken, "store": str(used), "waiting": waiting, "spaces": spaces}
            self.stdout.write(json.dumps(report, indent=2))
            return
        self.stdout.write(f"{used}:")
        for space in comparisons:
            self._write_space(space)
        if any(space.strange for space in comparisons):
            self.stdout.write(OTHERS)
        verdict = f"{broken} differences. Type: manage.py vector_store repair" if broken else "Both agree."
        on_their_way = f" {waiting} vectors are on their way." if waiting else ""
        self.stdout.write(verdict + on_their_way)

    def _write_space(self, space: SpaceComparison) -> None:
        model = space.model or f"removed model {space.model_id}"
        self.stdout.write(f"  {space.space} ({model}): {space.vectors} vectors here, {space.held} there")
        samples = dict(space.sample)
        for kind, words in WORDS.items():
            if count := getattr(space, kind):
                sample = samples.get(kind, ())
                listed = f": {', '.join(sample)}{' …' if count > len(sample) else ''}" if sample else ""
                self.stdout.write(f"    {count} {words}{listed}")
