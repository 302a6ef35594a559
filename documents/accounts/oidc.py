"""Accounts of an OpenID Connect provider: made at the first log-in, with the groups that the provider tells.

Only imported where KNOWLEX_OIDC_URL is set: what it stands on is not installed as an app otherwise.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect

log = logging.getLogger(__name__)

MAX_GROUPS, MAX_NAME_CHARS = 500, 150


class OidcAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """A new account has no collections until it, or one of its groups, is given some."""

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: dict[str, Any]) -> User:
        """Of what the provider tells, keep the groups alone, before anything is looked up or stored."""
        groups = read_groups(sociallogin.account.extra_data, settings.OIDC_GROUPS_CLAIM)
        sociallogin.account.extra_data = {"groups": groups}
        told = {
            name: value.replace("\0", "") if isinstance(value, str) else value for name, value in data.items()
        }
        user: User = super().populate_user(request, sociallogin, told)
        return user

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        if sociallogin.is_existing:
            _set_groups(sociallogin.user, sociallogin.account.extra_data["groups"])

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        user: User = super().save_user(request, sociallogin, form)
        _set_groups(user, sociallogin.account.extra_data["groups"])
        return user

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, **kwargs: Any
    ) -> NoReturn:
        """Go back to the log-in page, which says so; the reason is for the log only."""
        reason = type(exception).__name__ if exception else str(error)
        raise ImmediateHttpResponse(_tell_failure(reason))


class ProviderFailures:
    """Lead back to the log-in page where the provider cannot be reached, or answers with something else."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """All that `requests` raises is an OSError; a KeyError names what a provider left out."""
        if request.path.startswith("/accounts/oidc/") and isinstance(exception, (OSError, KeyError)):
            return _tell_failure(type(exception).__name__)
        return None


def _tell_failure(reason: str) -> HttpResponse:
    log.warning("a log-in by OpenID Connect failed", extra={"reason": reason})
    return HttpResponseRedirect(f"{settings.LOGIN_URL}?failed")


def read_groups(data: Mapping[str, Any], claim: str) -> list[str]:
    """Return the names of groups in a claim of the user's information, else of the id token."""
    for part in (data.get("userinfo"), data.get("id_token")):
        if isinstance(part, Mapping) and claim in part:
            told = part[claim]
            names = [told] if isinstance(told, str) else told if isinstance(told, list) else []
            usable = (name for name in names if isinstance(name, str) and 0 < len(name) <= MAX_NAME_CHARS)
            return [name for name in dict.fromkeys(usable) if "\0" not in name][:MAX_GROUPS]
    return []


def _set_groups(user: User, names: list[str]) -> None:
    """Give the account exactly the groups that the provider tells; who left one there has left it here."""
    Group.objects.bulk_create([Group(name=name) for name in names], ignore_conflicts=True)
    user.groups.set(Group.objects.filter(name__in=names))
