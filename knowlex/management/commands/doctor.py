"""python manage.py doctor: what is configured, what answers, and what the chat model makes of a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

if TYPE_CHECKING:
    from knowlex.embedded.report import Finding


MARKS = {True: "ok", False: "FAILS", None: "-"}


class Command(BaseCommand):
    help = "Say what is configured and whether each part can be reached, and ask the chat model one question."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        from knowlex.celery import app
        from knowlex.embedded import chat_model
        from knowlex.embedded.report import findings
        from knowlex.environment import describe_unknown_variables

        for sentence in describe_unknown_variables():
            self.stdout.write(sentence)
        failing = [found.part for found in findings(app) if self._tell(found) is False]
        if False in [self._tell(found) for found in chat_model.asked()]:
            failing.append("chat model")
        if failing:
            raise CommandError(f"Not reachable: {', '.join(failing)}.")

    def _tell(self, found: Finding) -> bool | None:
        self.stdout.write(f"{MARKS[found.ok]:6}{found.part:13}{found.configured}: {found.says}")
        self.stdout.flush()
        return found.ok
