"""API keys: creation, lookup by prefix, comparison by hash, revocation. A key in clear is never stored."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from documents.access import SCOPES, Access, Scope
from documents.accounts.rights import COLUMNS, limit_to_key, read_account
from documents.models import ApiKey, ApiKeyCollection, Collection
from documents.text.characters import is_control_character
from knowlex.base.errors import InvalidInput, NotFound
from knowlex.db import pool
from knowlex.db.threads import with_retries
from knowlex.runtime.spending import Spender
from knowlex.web.fields import check_storable

REFUSED = "Invalid or expired API key"
MAX_NAME = 255
MAX_DAILY_TOKENS = 10**12
_PREFIX_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_SHAPE = re.compile(r"(kx_[a-z0-9]{8})_[A-Za-z0-9_-]{43}", re.ASCII)
# One statement: the keys, what each is bound to, the accounts that they belong to with what these may do, and
# whether a key's last use is to be recorded again. A key of an account that is deactivated is refused.
_LIVE = f"""
    SELECT k.id, k.prefix, k.hash, k.scope, k.daily_tokens, {COLUMNS},
        CASE WHEN k.bound THEN ARRAY(
            SELECT b.collection_id FROM documents_apikeycollection b WHERE b.key_id = k.id
        ) END AS collection_ids,
        coalesce(k.last_used_at < now() - interval '1 minute', true) AS use_is_due
    FROM documents_apikey k LEFT JOIN auth_user u ON u.id = k.user_id
    WHERE k.prefix = ANY(%s) AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
        AND (k.user_id IS NULL OR u.is_active)
"""  # noqa: S608 - constants only
_NOTE_USE = """
    UPDATE documents_apikey SET last_used_at = now()
    WHERE id = %s AND coalesce(last_used_at < now() - interval '1 minute', true) RETURNING id
"""


@dataclass(frozen=True, slots=True)
class LiveKey:
    """A key that is neither revoked nor expired.

    use_is_due: its last use was recorded over a minute ago, or never. spender: what a day's model calls are
    counted on, None for a key without a ceiling.
    """

    hash: str
    access: Access
    use_is_due: bool
    spender: Spender | None = None

    def is_opened_by(self, text: str) -> bool:
        """Compare in constant time."""
        return hmac.compare_digest(self.hash, hash_key(text))


def create_key(
    *,
    name: str,
    scope: str = "read",
    collections: Sequence[Collection] | None = None,
    expires_at: datetime | None = None,
    user: User | None = None,
    daily_tokens: int | None = None,
) -> tuple[ApiKey, str]:
    """Create a key; return it and its text in clear, which nobody can ever read again.

    collections: the only ones it may use; None for all, those to come included. expires_at: aware, None for
    never. user: the account that it belongs to, and can never do more than. daily_tokens: of models, None for
    no ceiling of its own. Raises InvalidInput, naming the field.
    """
    prefix = "kx_" + "".join(secrets.choice(_PREFIX_LETTERS) for _ in range(8))
    text = f"{prefix}_{secrets.token_urlsafe(32)}"
    key = ApiKey(
        name=_check_name(name),
        user=user,
        scope=_check_scope(scope),
        prefix=prefix,
        hash=hash_key(text),
        bound=collections is not None,
        expires_at=_check_expiry(expires_at),
        daily_tokens=_check_tokens(daily_tokens),
    )
    if collections is not None and not collections:
        raise InvalidInput("Name at least one collection, or none at all for every one.", field="collections")
    with_retries(lambda: _store(key, collections or ()))
    return key, text


def revoke_key(key_id: UUID) -> None:
    """Revoke a key: it is refused from the next request on. Doing it twice does no harm. Raises NotFound."""
    with_retries(lambda: ApiKey.objects.unrevoked().filter(id=key_id).update(revoked_at=timezone.now()))
    if not with_retries(ApiKey.objects.filter(id=key_id).exists):
        raise NotFound("API key not found.")


def find_key(prefix_or_id: str) -> ApiKey:
    """Find a key by its prefix or id, as `list_api_keys` shows them. Raises NotFound."""
    key = with_retries(ApiKey.objects.shown_as(prefix_or_id).first)
    if key is None:
        raise NotFound(f"No API key begins with {prefix_or_id[:40]!r} or has it as its id.")
    return key


def has_live_key() -> bool:
    return with_retries(ApiKey.objects.live().exists)


def hash_key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def prefix_of(text: str) -> str | None:
    """Return the prefix under which a key is stored; None if it cannot be one of ours."""
    shape = _SHAPE.fullmatch(text)
    return None if shape is None else shape[1]


async def fetch_live_keys(prefixes: Sequence[str]) -> dict[str, LiveKey]:
    """Fetch the keys with these prefixes that are neither revoked nor expired, in one statement.

    Raises DatabaseUnavailable.
    """
    rows = await pool.fetch_all(_LIVE, [list(prefixes)])
    return {row["prefix"]: _parse_live_key(row) for row in rows}


def _parse_live_key(row: pool.Row) -> LiveKey:
    ids = None if row["collection_ids"] is None else tuple(row["collection_ids"])
    access = Access(row["scope"], ids, row["id"])
    if row["user_id"] is not None:
        access = limit_to_key(
            read_account(row).access, key_id=row["id"], scope=row["scope"], collection_ids=ids
        )
    spender = None if row["daily_tokens"] is None else Spender(row["id"], row["daily_tokens"])
    return LiveKey(row["hash"], access, row["use_is_due"], spender)


async def record_use(key_id: UUID) -> None:
    """Record that the key was used now, unless that was done within the last minute."""
    await pool.fetch_all(_NOTE_USE, [key_id])


@transaction.atomic
def _store(key: ApiKey, collections: Sequence[Collection]) -> None:
    key.save(force_insert=True)
    ApiKeyCollection.objects.bulk_create(
        ApiKeyCollection(key=key, collection=collection) for collection in collections
    )


def _check_name(name: str) -> str:
    name = check_storable(name, "name").strip()
    if not name or len(name) > MAX_NAME:
        raise InvalidInput(f"name must have 1 to {MAX_NAME} characters.", field="name")
    if any(map(is_control_character, name)):  # lists show a key a line
        raise InvalidInput("name must not hold control characters.", field="name")
    return name


def _check_scope(scope: str) -> Scope:
    if scope not in SCOPES:
        raise InvalidInput(f"scope must be one of {', '.join(SCOPES)}.", field="scope")
    return scope


def _check_expiry(expires_at: datetime | None) -> datetime | None:
    if expires_at is not None and expires_at <= timezone.now():
        raise InvalidInput("The key would have expired already.", field="expires_at")
    return expires_at


def _check_tokens(tokens: int | None) -> int | None:
    if tokens is not None and not 1 <= tokens <= MAX_DAILY_TOKENS:
        raise InvalidInput(f"daily_tokens must be from 1 to {MAX_DAILY_TOKENS}.", field="daily_tokens")
    return tokens
