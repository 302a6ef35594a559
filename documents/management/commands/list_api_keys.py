"""`manage.py list_api_keys` lists every key by its prefix; the keys themselves are not stored."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from knowlex.runtime.commands import ProjectCommand

if TYPE_CHECKING:
    from documents.models import ApiKey


COLUMNS = "{:12} {:6} {:9} {:17} {:17} {:24} {}"


class Command(ProjectCommand):
    help = "List the API keys: prefix, scope, state, last use, expiry, name, collections. Newest first."

    def handle(self, *args: Any, **options: Any) -> None:
        from documents.models import ApiKey
        from knowlex.db.threads import with_retries

        self.stdout.write(
            COLUMNS.format("PREFIX", "SCOPE", "STATE", "LAST USED", "EXPIRES", "NAME", "COLLECTIONS")
        )
        for key in with_retries(lambda: list(ApiKey.objects.with_collections())):
            self.stdout.write(_format_key(key))


def _format_key(key: ApiKey) -> str:
    name = f"{key.name} ({key.user})" if key.user else key.name
    last, end = _format_minute(key.last_used_at), _format_minute(key.expires_at)
    return COLUMNS.format(key.prefix, key.scope, key.state, last, end, name, key.bound_to)


def _format_minute(moment: datetime | None) -> str:
    return "never" if moment is None else f"{moment:%Y-%m-%d %H:%MZ}"
