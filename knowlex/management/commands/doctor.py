"""python manage.py doctor: what is configured, what answers, and what the chat model makes of a question."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from knowlex.runtime.commands import ProjectCommand

if TYPE_CHECKING:
    from knowlex.embedded.report import Finding

MARKS = {True: "ok", False: "FAILS", None: "-"}


class Command(ProjectCommand):
    help = "Say what is configured and whether each part can be reached, and ask the chat model one question."

    def handle(self, *args: Any, **options: Any) -> None:
        from knowlex.celery import app
        from knowlex.embedded import chat_model
        from knowlex.embedded.report import check_parts
        from knowlex.environment import describe_unknown_variables

        for sentence in describe_unknown_variables():
            self.stdout.write(sentence)
        findings = chain(check_parts(app), [chat_model.check_embedder()])
        failing = [finding.part for finding in findings if not self._passes(finding)]
        steps = list(map(self._passes, chat_model.check_chat_model()))
        if not all(steps):
            failing.append("chat model")
        if failing:
            raise CommandError(f"Not well: {', '.join(failing)}.")

    def _passes(self, finding: Finding) -> bool:
        """Write the finding. Return False where it is a failure."""
        self.stdout.write(f"{MARKS[finding.ok]:6}{finding.part:13}{finding.configured}: {finding.says}")
        self.stdout.flush()
        return finding.ok is not False
