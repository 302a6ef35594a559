"""`manage.py create_api_key NAME`: the new key on standard output, once, and nothing else there."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from documents.access import FULL, SCOPES
from knowlex.base.errors import KnowlexError, NotFound
from knowlex.runtime.commands import ProjectCommand

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from documents.models import Collection

EXPIRES = "must be a number of days such as 90d, or a date such as 2030-12-31"
MAX_DAYS = 36_500


class Command(ProjectCommand):
    help = "Make an API key and print it, once: only its hash is kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="what you will know it by")
        parser.add_argument(
            "--scope", choices=SCOPES, default="read", help="each includes those before it (read)"
        )
        parser.add_argument(
            "--collection",
            action="extend",
            nargs="+",
            metavar="NAME",
            help="the key may use only these (names or ids); without it, all of them",
        )
        parser.add_argument(
            "--user", metavar="ACCOUNT", help="the account that it belongs to, and never does more than"
        )
        parser.add_argument(
            "--expires", metavar="90d|DATE", help="days from now, or the last day (UTC); never"
        )

        parser.add_argument(
            "--daily-tokens", type=int, metavar="N", help="of models that it may spend a UTC day; unlimited"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        from documents import api_keys

        named = options["collection"]
        try:
            key, text = api_keys.create_key(
                name=options["name"],
                scope=options["scope"],
                collections=None if named is None else _find_collections(named),
                expires_at=_parse_expiry(options["expires"]),
                daily_tokens=options["daily_tokens"],
                user=None if options["user"] is None else _find_account(options["user"]),
            )
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        self.stdout.write(text)
        whose = f"{key.name} of the account {key.user}" if key.user else key.name
        self.stderr.write(f"Key {key.prefix} for {whose}, scope {key.scope}. It is shown this once.")


def _find_account(name: str) -> User:
    """Raises CommandError."""
    from django.contrib.auth.models import User

    account = User.objects.filter(username=name).first()
    if account is None:
        raise CommandError(f"There is no account {name!r}. The admin makes them, at /admin/auth/user/.")
    return account


def _find_collections(names: list[str]) -> list[Collection]:
    """Find each collection, once. Raises CommandError naming the one that does not exist."""
    from documents.library.collections import find_collection

    collections = {}
    for name in names:
        try:
            collection = find_collection(name, access=FULL)
        except NotFound as exc:
            raise CommandError(f"There is no collection {name!r}.") from exc
        collections[collection.id] = collection
    return list(collections.values())


def _parse_expiry(text: str | None) -> datetime | None:
    """Return when the key ends: so many days from now, or with the end of a day. Raises CommandError."""
    from django.utils import timezone

    if text is None:
        return None
    days = re.fullmatch(r"([0-9]{1,5})d", text.strip(), re.ASCII)
    try:
        if days is not None:
            if not 1 <= int(days[1]) <= MAX_DAYS:
                raise CommandError(f"--expires {text!r}: at most {MAX_DAYS}d, at least 1d.")
            return timezone.now() + timedelta(days=int(days[1]))
        return datetime.combine(date.fromisoformat(text.strip()) + timedelta(days=1), time(), UTC)
    except (ValueError, OverflowError):
        raise CommandError(f"--expires {text!r} {EXPIRES}.") from None
