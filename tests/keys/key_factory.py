"""Keys made by hand in a stack's database: a command for each would cost seconds."""

import hashlib
import secrets
from collections.abc import Sequence
from typing import Any

import httpx

from knowlex.base.ids import new_id
from tests.support.stack import Stack

_KEY = """
    INSERT INTO documents_apikey (id, name, prefix, hash, scope, bound, daily_tokens, created_at, expires_at)
    VALUES (%s, 'test', %s, %s, %s, %s, %s, now(), now() + %s::interval)
"""
_BIND = """
    INSERT INTO documents_apikeycollection (key_id, collection_id)
    SELECT %s, id FROM documents_collection WHERE name = ANY(%s)
"""


def make_key(
    stack: Stack,
    scope: str = "admin",
    *,
    collections: Sequence[str] | None = None,
    expires_in: str | None = None,
    daily_tokens: int | None = None,
) -> str:
    """The key's text; `expires_in` is an interval of PostgreSQL, which may be negative."""
    prefix, key_id = f"kx_{secrets.token_hex(4)}", new_id()
    text = f"{prefix}_{secrets.token_urlsafe(32)}"
    hashed = hashlib.sha256(text.encode()).hexdigest()
    stack.sql(_KEY, key_id, prefix, hashed, scope, collections is not None, daily_tokens, expires_in)
    if collections is not None:
        stack.sql(_BIND, key_id, list(collections))
    return text


def as_key(stack: Stack, key: str, **options: Any) -> httpx.Client:
    """A client that sends this key."""
    return httpx.Client(base_url=stack.url, timeout=90, headers={"Authorization": f"Bearer {key}"}, **options)
