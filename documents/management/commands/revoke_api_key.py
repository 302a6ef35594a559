"""`manage.py revoke_api_key PREFIX` revokes a key: it is refused from the next request on."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from knowlex.base.errors import KnowlexError
from knowlex.runtime.commands import ProjectCommand


class Command(ProjectCommand):
    help = "Revoke an API key for good."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("prefix", help="as list_api_keys shows it (kx_…), or the key's id")

    def handle(self, *args: Any, **options: Any) -> None:
        from documents import api_keys

        try:
            key = api_keys.find_key(options["prefix"])
            api_keys.revoke_key(key.id)
        except KnowlexError as exc:
            raise CommandError(exc.message) from exc
        self.stdout.write(f"Key {key.prefix} ({key.name}) is revoked.")
