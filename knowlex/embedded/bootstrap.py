"""What a data folder needs before it can serve: tables, the collection `default`, an admin, the model."""

import secrets
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command, get_commands
from django.db import connection

MIGRATION_LOCK = 7_105_201  # any number, the same in every process: two starts migrate one after the other


def prepare(say: Callable[[str], None]) -> None:
    """Make everything ready; `say` hears the admin's password if the account is made now."""
    migrate()
    build_model()
    if password := create_admin():
        say(f"Admin account made: user admin, password {password} (shown this once).")


def migrate() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
        try:
            call_command("migrate", interactive=False, verbosity=0)
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATION_LOCK])


def build_model() -> None:
    if "local" in settings.KNOWLEX["EMBEDDER"]["class"] and "build_model" in get_commands():
        call_command("build_model")


def create_admin() -> str | None:
    """The account `admin`, if there is no account at all yet."""
    users = get_user_model()._default_manager
    if users.exists():
        return None
    password = secrets.token_urlsafe(12)
    users.create_superuser("admin", password=password)  # type: ignore[attr-defined]
    return password
