"""Accounts made by hand in a stack's database, and clients that are logged in to them by the log-in page."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
from django.contrib.auth.hashers import PBKDF2PasswordHasher

from tests.support.stack import Stack

PASSWORD = "a password of ours"
OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}
_USER = """
    INSERT INTO auth_user (username, password, is_active, is_staff, is_superuser, first_name, last_name,
        email, date_joined)
    VALUES (%s, %s, true, %s, %s, '', '', '', now()) RETURNING id
"""
_GROUP = """
    WITH made AS (
        INSERT INTO auth_group (name) VALUES (%s) ON CONFLICT (name) DO UPDATE SET name = excluded.name
        RETURNING id
    )
    INSERT INTO auth_user_groups (user_id, group_id) SELECT %s, id FROM made
"""
_MEMBER = """
    INSERT INTO documents_collectionmember (collection_id, user_id, role, created_at)
    SELECT id, %s, %s, now() FROM documents_collection WHERE name = %s
"""
_GROUP_MEMBER = """
    INSERT INTO documents_collectionmember (collection_id, group_id, role, created_at)
    SELECT c.id, g.id, %s, now() FROM documents_collection c, auth_group g WHERE c.name = %s AND g.name = %s
"""


def make_account(
    stack: Stack,
    name: str,
    roles: Mapping[str, str] | None = None,
    *,
    groups: Sequence[str] = (),
    staff: bool = False,
    superuser: bool = False,
) -> int:
    """Return the account's id. roles: by names of collections."""
    password = PBKDF2PasswordHasher().encode(PASSWORD, "salt", iterations=1)
    user_id = int(stack.sql(_USER, name, password, staff, superuser)[0]["id"])
    for group in groups:
        stack.sql(_GROUP, group, user_id)
    for collection, role in (roles or {}).items():
        stack.sql(_MEMBER, user_id, role, collection)
    return user_id


def give_group(stack: Stack, group: str, role: str, collection: str) -> None:
    stack.sql(_GROUP_MEMBER, role, collection, group)


def forget_accounts(stack: Stack) -> None:
    stack.sql("TRUNCATE auth_user, auth_group, django_session CASCADE")


def browser(stack: Stack, **options: Any) -> httpx.Client:
    """A client that keeps cookies and says, as browsers do, that its own page asks."""
    return httpx.Client(base_url=stack.url, timeout=90, headers=OWN_PAGE, **options)


def token_of(page: httpx.Response) -> str:
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert token is not None
    return token[1]


def try_to_log_in(
    client: httpx.Client, name: str, password: str = PASSWORD, **headers: str
) -> httpx.Response:
    """Send the form of the log-in page."""
    form = {"csrfmiddlewaretoken": token_of(client.get("/login")), "username": name, "password": password}
    return client.post("/login", data=form, headers=headers)


def log_in(stack: Stack, name: str, password: str = PASSWORD) -> httpx.Client:
    client = browser(stack)
    reply = try_to_log_in(client, name, password)
    assert (reply.status_code, reply.headers.get("Location")) == (302, "/"), reply.text
    return client
