"""python manage.py doctor: what is configured, and what answers."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from knowlex.celery import app
from knowlex.embedded.report import findings

MARKS = {True: "ok", False: "FAILS", None: "-"}


class Command(BaseCommand):
    help = "Say what is configured and whether each part can be reached; starts nothing."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        failing = []
        for found in findings(app):
            self.stdout.write(f"{MARKS[found.ok]:6}{found.part:13}{found.configured}: {found.says}")
            if found.ok is False:
                failing.append(found.part)
        if failing:
            raise CommandError(f"Not reachable: {', '.join(failing)}.")
