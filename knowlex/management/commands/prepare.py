"""python manage.py prepare: what `up` does before it serves, for those who start the processes themselves."""

from typing import Any

from django.core.management.base import CommandError

from knowlex.runtime.commands import ProjectCommand


class Command(ProjectCommand):
    help = "Migrate, build the local model, and make the admin account at the very first start."

    def handle(self, *args: Any, **options: Any) -> None:
        from knowlex.embedded import bootstrap
        from knowlex.embedded.data_folder import StackError

        try:
            bootstrap.prepare(self.stdout.write)
        except StackError as exc:
            raise CommandError(str(exc)) from exc
