"""python manage.py prepare: what `up` does before it serves, for those who start the processes themselves."""

from typing import Any

from django.core.management.base import BaseCommand

from knowlex.embedded import bootstrap


class Command(BaseCommand):
    help = "Migrate, build the local model, and make the admin account at the very first start."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        bootstrap.prepare(self.stdout.write)
