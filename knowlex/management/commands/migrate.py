"""python manage.py migrate: Django's own, which first refuses a database that it could not upgrade
(tests/stack/test_upgrade.py).
"""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

BEFORE_THE_SQUASH = "86e9682"  # the last commit that has all migrations which 0001_initial replaces


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        if older := _applied_in_part(connections[options["database"]]):
            raise CommandError(
                f"An older Knowlex made this database (its last migration: {older}). Let `manage.py prepare` "
                f"of commit {BEFORE_THE_SQUASH} upgrade it first, then this one. Nothing has been changed."
            )
        super().handle(*args, **options)


def _applied_in_part(connection: BaseDatabaseWrapper) -> str | None:
    """Return the last of those that a squashed migration replaces, if the others are not all applied.

    Django would leave the squashed one out without a word, and what the others make with it.
    """
    applied = MigrationRecorder(connection).applied_migrations()
    for key, migration in sorted(MigrationLoader(None).replacements.items()):
        present = {key, *migration.replaces} & set(applied)
        if present and not present.issuperset(migration.replaces):
            return ".".join(max(present))
    return None
