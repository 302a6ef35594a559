"""Logging in: forms whose attempts are limited, so that nobody guesses a password or keeps its owner out."""

import hashlib
import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

import redis
from django import forms
from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import get_random_string
from django.utils.translation import gettext
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from knowlex.web.rate_limit import PAUSE_S, SCRIPT, TIMEOUT_S, LocalWindows, peer_address

log = logging.getLogger(__name__)

WINDOW_S = 300
OF_ACCOUNT_FROM_ADDRESS, OF_ADDRESS, OF_ACCOUNT = 5, 30, 50  # attempts in a window, those that fail
OF_BROWSER = 10
# A browser that was logged in to an account before is counted by itself: however many strangers try the same
# account, from the same address even, its owner gets in.
BROWSER_COOKIE = "knowlex_browser"
BROWSER_AGE_S = 365 * 24 * 3600
_SEPARATOR = "."


class Attempts:
    """Counts attempts to log in: in Valkey for all web servers, in this process while Valkey is away."""

    def __init__(self) -> None:
        self._client: redis.Redis | None = None
        self._local, self._lock = LocalWindows(), threading.Lock()
        self._away_until = 0.0

    def begin(self, counters: Sequence[tuple[str, int]]) -> float:
        """Count an attempt by each of (name, limit); return the seconds to wait, 0 if it may be made.

        After the first counter that is full no other is counted: one address cannot fill an account's.
        """
        for name, limit in counters:
            count, left_s = self._count(name)
            if count > limit:
                return max(left_s, 1.0)
        return 0.0

    def take_back(self, counters: Sequence[tuple[str, int]]) -> None:
        """Forget an attempt that succeeded."""
        for name, _ in counters:
            self._ask_valkey("DECR", _key(name))
            with self._lock:
                self._local.take_back(name)

    def _count(self, name: str) -> tuple[int, float]:
        shared = self._ask_valkey("EVAL", SCRIPT, 1, _key(name), WINDOW_S * 1000)
        if shared is not None:
            return int(shared[0]), int(shared[1]) / 1000
        with self._lock:
            return self._local.count(name, WINDOW_S)

    def _ask_valkey(self, *command: Any) -> Any:
        """Return the reply; None if Valkey cannot be asked, which is then left alone for PAUSE_S."""
        if time.monotonic() < self._away_until:
            return None
        try:
            if self._client is None:
                self._client = _connect()
            return self._client.execute_command(*command)  # type: ignore[no-untyped-call]
        except (RedisError, OSError) as exc:
            self._away_until = time.monotonic() + PAUSE_S
            log.warning("attempts to log in are counted locally", extra={"error": type(exc).__name__})
            return None


def _key(name: str) -> str:
    return f"knowlex:login:{name}"


def _connect() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=TIMEOUT_S,
        socket_connect_timeout=TIMEOUT_S,
        retry=Retry(NoBackoff(), 0),
    )


attempts = Attempts()


class _Limited(forms.Form):
    """A form of Django's to log in, which looks at no password while there were too many attempts."""

    request: HttpRequest | None

    def clean(self) -> dict[str, Any]:
        name, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if self.request is None or not name or not password:
            return dict(super().clean() or {})
        counters = _counters(self.request, name)
        if wait_s := attempts.begin(counters):
            raise forms.ValidationError(
                gettext("Too many attempts to log in. Try again in %(minutes)d min."),
                code="too_many_attempts",
                params={"minutes": int(-(-wait_s // 60))},
            )
        cleaned = dict(super().clean() or {})
        attempts.take_back(counters)
        return cleaned


class LoginForm(_Limited, AuthenticationForm):
    """Of /login."""


class AdminLoginForm(_Limited, AdminAuthenticationForm):
    """Of /admin/login/."""


def remember_browser(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Have the browser be known by the account's name from now on."""
    if _known_browser(request, user.get_username()) is None:
        response.set_signed_cookie(
            BROWSER_COOKIE,
            _SEPARATOR.join((get_random_string(22), _fold(user.get_username()))),
            max_age=BROWSER_AGE_S,
            path="/",
            httponly=True,
            samesite="Lax",
        )


def _counters(request: HttpRequest, name: str) -> list[tuple[str, int]]:
    browser = _known_browser(request, name)
    if browser is not None:
        return [(f"browser:{browser}", OF_BROWSER)]
    address, account = peer_address(request), _fold(name)
    return [
        (f"address:{address}", OF_ADDRESS),
        (f"account:{account}:{address}", OF_ACCOUNT_FROM_ADDRESS),
        (f"account:{account}", OF_ACCOUNT),
    ]


def _known_browser(request: HttpRequest, name: str) -> str | None:
    """Return the browser's own id if it was logged in to this account before."""
    value = request.get_signed_cookie(BROWSER_COOKIE, default="", max_age=BROWSER_AGE_S)
    browser, _, account = (value or "").partition(_SEPARATOR)
    return browser if browser and account == _fold(name) else None


def _fold(name: str) -> str:
    """Return what stands for the account's name in counters and cookies, of bounded length."""
    return hashlib.sha256(name.strip().casefold().encode("utf-8", "replace")).hexdigest()[:32]
