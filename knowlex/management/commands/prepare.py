"""python manage.py prepare: what `up` does before it serves, for those who start the processes themselves."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    help = "Migrate, build the local model, and make the admin account at the very first start."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        from knowlex.embedded import bootstrap
        from knowlex.embedded.data_folder import StackError

        try:
            bootstrap.prepare(self.stdout.write)
        except StackError as exc:
            raise CommandError(str(exc)) from exc
