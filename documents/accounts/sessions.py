"""Who is logged in: the session cookie of a request, looked up on the event loop without Django's middleware.

What was found is kept for KEPT_S. A log-out is noticed at once by the web server that it came to; by others,
as an account that was deactivated, a changed password and a changed role, within KEPT_S.
"""

import re
import time
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from documents.accounts.rights import COLUMNS, Account, read_account
from knowlex.db import pool

KEPT_S = 2.0
MAX_KEPT = 10_000
_SHAPE = re.compile(r"[a-z0-9]{8,40}", re.ASCII)
_SESSION = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > now()"
_ACCOUNT = f"SELECT u.password, {COLUMNS} FROM auth_user u WHERE u.id = %s AND u.is_active"  # noqa: S608


@dataclass(frozen=True, slots=True)
class _Found:
    account: Account | None
    until: float


_found: dict[str, _Found] = {}


async def find_account(request: HttpRequest) -> Account | None:
    """Return the account that the request's cookie is logged in to. Raises DatabaseUnavailable."""
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    if not _SHAPE.fullmatch(key):
        return None
    kept = _found.get(key)
    if kept is None or kept.until < time.monotonic():
        kept = _Found(await _look_up(key), time.monotonic() + KEPT_S)
        _keep(key, kept)
    return kept.account


def note_logout(sender: Any, request: HttpRequest, **kwargs: Any) -> None:
    """Receive user_logged_out: no request that comes from here on is of this session."""
    key = request.session.session_key
    if key:
        _keep(key, _Found(None, time.monotonic() + KEPT_S))


def forget_account(user_id: int | None) -> None:
    """Have the account's sessions looked up again: what it may do has changed."""
    for key, kept in list(_found.items()):
        if kept.account is not None and kept.account.access.user_id == user_id:
            _found.pop(key, None)


def _keep(key: str, found: _Found) -> None:
    _found.pop(key, None)  # so that it goes to the end
    if len(_found) >= MAX_KEPT:
        _found.pop(next(iter(_found)), None)
    _found[key] = found


async def _look_up(key: str) -> Account | None:
    rows = await pool.fetch_shared(_SESSION, [key], same=(_SESSION, key))
    session = SessionStore().decode(rows[0]["session_data"]) if rows else {}
    user_id = str(session.get(SESSION_KEY, ""))
    if not user_id.isdecimal() or session.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
        return None
    rows = await pool.fetch_shared(_ACCOUNT, [int(user_id)], same=(_ACCOUNT, user_id))
    if not rows or not _is_of_password(session, rows[0]["password"]):
        return None
    return read_account(rows[0])


def _is_of_password(session: dict[str, Any], password: str) -> bool:
    """Tell if the session was opened with the account's present password, as Django does."""
    present = User(password=password).get_session_auth_hash()
    return constant_time_compare(session.get(HASH_SESSION_KEY, ""), present)
