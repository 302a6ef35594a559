"""`manage.py ingest PATH…`: files and folders into a collection, with a progress bar."""

from __future__ import annotations

import json
import logging
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from documents.access import FULL
from documents.types import STRATEGIES
from knowlex.base.errors import KnowlexError, NotFound
from knowlex.runtime.commands import ProjectCommand

if TYPE_CHECKING:
    from documents.models import Collection
    from embeddings.ingest.bulk import BulkIngest, FileResult

LISTED = 20  # files that were taken, and duplicates, are named only if there are so few


class Command(ProjectCommand):
    help = (
        "Reads files, and all files below folders (hidden ones left out), into a collection. Goes on after a "
        "failure; exits with 1 if anything failed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--collection", default="default", metavar="NAME", help="its name or id")
        parser.add_argument("--create", action="store_true", help="make the collection if it is not there")
        parser.add_argument(
            "--include",
            action="append",
            default=[],
            metavar="GLOB",
            help="in folders, only such files: '*.pdf'",
        )
        parser.add_argument("--chunking-strategy", choices=STRATEGIES)
        parser.add_argument("--chunk-size", type=int, metavar="TOKENS")
        parser.add_argument("--chunk-overlap", type=int, metavar="TOKENS")
        parser.add_argument("--no-wait", action="store_true", help="leave the jobs to the workers at once")
        parser.add_argument(
            "--json", action="store_true", dest="as_json", help="print one JSON object at the end"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        logging.disable(logging.INFO)  # what workers log would run through the progress bar
        try:
            results, jobs = self._ingest(**options)
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        finally:
            logging.disable(logging.NOTSET)
        self._write_report(results, jobs, as_json=options["as_json"], waited=not options["no_wait"])
        if any(result.outcome == "failed" for result in results):
            sys.exit(1)

    def _ingest(self, **options: Any) -> tuple[list[FileResult], list[str]]:
        from documents.ingest.folders import list_files
        from documents.library.collections import chunking_settings
        from embeddings.ingest.bulk import BulkIngest
        from embeddings.management.displays import Display

        collection = self._collection(options["collection"], create=options["create"])
        names = ("chunking_strategy", "chunk_size", "chunk_overlap")
        chosen = {name: options[name] for name in names if options[name] is not None}
        chunking = chunking_settings(collection, chosen)
        paths, include = options["paths"], options["include"]
        total = sum(1 for _ in list_files(paths, include=include))
        if not total:
            raise CommandError("There are no files to ingest at these paths.")
        results: list[FileResult] = []
        jobs: list[str] = []
        with (
            Display(self.stderr, total) as display,
            BulkIngest(collection, chunking, _enqueue, display.alone) as bulk,
        ):
            try:
                files = list_files(paths, include=include)
                for new in _run_jobs(bulk, files, jobs, wait=not options["no_wait"]):
                    results += new
                    display.show(bulk.totals, new)
            except KeyboardInterrupt:
                ids = ", ".join(map(str, bulk.open_jobs)) or "none"
                self.stderr.write(
                    f"Interrupted. {len(bulk.open_jobs)} job(s) are on record and go on as soon as workers "
                    f"run: {ids}. Files that follow were not taken."
                )
                sys.exit(130)
        return results, jobs

    def _collection(self, name: str, *, create: bool) -> Collection:
        from documents.library.collections import create_collection, find_collection

        try:
            return find_collection(name, access=FULL)
        except NotFound:
            if create:
                return create_collection(access=FULL, name=name)
            raise CommandError(f"There is no collection {name!r}; --create makes it.") from None

    def _write_report(
        self, results: list[FileResult], jobs: list[str], *, as_json: bool, waited: bool
    ) -> None:
        counts = Counter(str(result.outcome) for result in results)
        if as_json:
            files = [_as_json(result) for result in results]
            totals = {name: counts[name] for name in ("taken", "duplicate", "failed")}
            self.stdout.write(json.dumps({**totals, "jobs": jobs, "files": files}, indent=2, default=str))
            return
        if not waited:
            self.stdout.write(f"{len(jobs)} job(s) are on record for the workers: {', '.join(jobs)}")
        for outcome, words in (("taken", "taken"), ("duplicate", "there already"), ("failed", "failed")):
            if waited or counts[outcome]:
                self.stdout.write(f"{counts[outcome]} {words}")
                self._list([result for result in results if result.outcome == outcome])

    def _list(self, results: list[FileResult]) -> None:
        """Failures always, each with its reason, and whatever has warnings."""
        for result in results:
            words = result.reason or " ".join(result.warnings)
            if words or len(results) <= LISTED:
                self.stdout.write(f"  {result.path}{f': {words}' if words else ''}")


def _run_jobs(bulk: BulkIngest, files: Any, jobs: list[str], *, wait: bool) -> Iterator[list[FileResult]]:
    """Yield new results. jobs: is given their ids."""
    from embeddings.ingest.bulk import FileResult

    for submitted in bulk.submit(files):
        if isinstance(submitted, FileResult):
            yield [submitted]
        else:
            jobs.append(str(submitted))
            yield []
            if wait:
                yield from bulk.wait(for_room=True)
    if wait:
        yield from bulk.wait()


def _enqueue(documents: int) -> None:
    from embeddings.tasks import enqueue_ingest, tolerate_lost_hint

    with tolerate_lost_hint():
        enqueue_ingest(documents)


def _as_json(result: FileResult) -> dict[str, Any]:
    return {
        "path": result.path,
        "outcome": result.outcome,
        "document_id": result.document_id,
        "reason": result.reason,
        "warnings": list(result.warnings),
    }
