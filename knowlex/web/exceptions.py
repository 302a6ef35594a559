"""Turns other libraries' exceptions into ours, so that one table decides what a client sees."""

import errno
from typing import Any

import kombu.exceptions
import psycopg
import redis.exceptions
from django.core import exceptions as django_exceptions
from django.db import InterfaceError, InternalError, OperationalError
from django.http import Http404, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions as drf

from knowlex.base import errors

DATABASE_DOWN = (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)
BROKER_DOWN = (
    kombu.exceptions.OperationalError,
    redis.exceptions.ConnectionError,
    redis.exceptions.TimeoutError,
)
TOO_MANY = (django_exceptions.TooManyFieldsSent, django_exceptions.TooManyFilesSent)
MALFORMED = (
    django_exceptions.SuspiciousOperation,
    django_exceptions.BadRequest,
    MultiPartParserError,
    UnreadablePostError,
)
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
SOMETHING_WENT_WRONG = "Something went wrong"

_BY_STATUS: dict[int, type[errors.KnowlexError]] = {
    401: errors.Unauthorized,
    403: errors.Forbidden,
    404: errors.NotFound,
    405: errors.MethodNotAllowed,
    413: errors.PayloadTooLarge,
    415: errors.UnsupportedMediaType,
    503: errors.DependencyUnavailable,
}


def as_knowlex_error(exc: BaseException) -> errors.KnowlexError:
    """Return the domain error for any exception; a plain KnowlexError (500) for what nobody foresaw."""
    if isinstance(exc, errors.KnowlexError):
        return exc
    if isinstance(exc, drf.APIException):
        return _from_drf(exc)
    if isinstance(exc, Http404):
        return errors.NotFound("Resource not found")
    if isinstance(exc, DATABASE_DOWN):
        return errors.DatabaseUnavailable("The database cannot be reached.", retry_after_s=5)
    if isinstance(exc, InternalError) and isinstance(exc.__cause__, psycopg.errors.ReadOnlySqlTransaction):
        return errors.DatabaseUnavailable("The database takes no writes at the moment.", retry_after_s=5)
    if isinstance(exc, BROKER_DOWN):
        return errors.BrokerUnavailable("The message broker cannot be reached.", retry_after_s=5)
    if isinstance(exc, OSError) and exc.errno in NO_ROOM:
        return errors.StorageUnavailable("There is no room to store this.")
    return _refused_by_django(exc) or errors.KnowlexError(SOMETHING_WENT_WRONG)


def _refused_by_django(exc: BaseException) -> errors.KnowlexError | None:
    if isinstance(exc, django_exceptions.PermissionDenied):
        return errors.Forbidden("This is not allowed.")
    if isinstance(exc, django_exceptions.RequestDataTooBig):
        return errors.PayloadTooLarge("The request body is too large.")
    if isinstance(exc, TOO_MANY):
        return errors.InvalidInput("The request holds too many fields or files.")
    if isinstance(exc, django_exceptions.DisallowedHost):
        return errors.InvalidInput("The Host header names no host that this server serves.")
    if isinstance(exc, MALFORMED):
        return errors.InvalidInput("The request is malformed.")
    return None


def _from_drf(exc: drf.APIException) -> errors.KnowlexError:
    if isinstance(exc, drf.Throttled):
        wait = int(getattr(exc, "wait", None) or 1)
        return errors.RateLimited("Rate limit exceeded, try again later", retry_after_s=wait)
    if exc.status_code >= 500 and exc.status_code != 503:
        return errors.KnowlexError(SOMETHING_WENT_WRONG)
    field, message = _first_detail(exc.detail)
    if isinstance(exc, drf.NotAuthenticated | drf.AuthenticationFailed):  # DRF may have made it a 403
        return errors.Unauthorized(message)
    if exc.status_code in _BY_STATUS:
        return _BY_STATUS[exc.status_code](message)
    return errors.InvalidInput(f"{field}: {message}" if field else message, field=field)


def _first_detail(detail: Any) -> tuple[str | None, str]:
    """Return (field, message) of the first complaint; field None if it is about the whole."""
    field: str | None = None
    while not isinstance(detail, str):
        if isinstance(detail, dict) and detail:
            key, detail = next(iter(detail.items()))
            if key not in ("non_field_errors", "detail"):
                field = f"{field}.{key}" if field else str(key)
        elif isinstance(detail, list | tuple) and detail:
            detail = next((item for item in detail if item), "is not valid.")
        else:
            detail = "is not valid."
    return field, str(detail)
