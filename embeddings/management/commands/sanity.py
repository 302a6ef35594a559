"""`manage.py sanity`: are the stored data as they must be? Exits with 1 if not."""

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
    from embeddings.sanity import SanityFinding


class Command(ProjectCommand):
    help = (
        "Checks documents, pages, chunks, vectors, words, jobs and stored files against each other; names "
        "what is broken and how to mend it. Changes nothing. Exits with 1 if anything is broken."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")
        parser.add_argument(
            "--deep", action="store_true", help="also read every stored file, and embed a sample anew"
        )

    def handle(self, *args: Any, as_json: bool, deep: bool, **options: Any) -> None:
        from embeddings.sanity import check_sanity

        findings = []
        try:
            for finding in check_sanity(deep=deep):
                findings.append(finding)
                if not as_json:
                    self._tell(finding)
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        broken = [finding for finding in findings if finding.broken]
        if as_json:
            checks = [asdict(finding) for finding in findings]
            self.stdout.write(json.dumps({"ok": not broken, "checks": checks}, indent=2))
        else:
            verdict = f"{len(broken)} of {len(findings)} checks failed." if broken else "All is well."
            self.stdout.write(f"{len(findings)} checks made. {verdict}")
        if broken:
            sys.exit(1)

    def _tell(self, finding: SanityFinding) -> None:
        if not finding.broken:
            return
        rule = f" [{finding.invariant}]" if finding.invariant else ""
        self.stdout.write(f"BROKEN {finding.name}{rule}: {finding.broken}. {finding.says}")
        self.stdout.write(f"  found: {', '.join(finding.sample)}")
        self.stdout.write(f"  mend:  {finding.hint}")
