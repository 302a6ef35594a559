"""Responses: bodies of shapes, the one error body of every route, and 204 and 405 for plain views.

Views raise domain errors; `faces` says which status and code each face gives them.
"""

import logging
import re
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from pydantic import BaseModel
from rest_framework import exceptions as drf
from rest_framework.views import set_rollback

from knowlex.base.errors import Forbidden, KnowlexError, MethodNotAllowed, NotFound, Unauthorized
from knowlex.base.ids import new_id
from knowlex.base.times import utc_timestamp
from knowlex.runtime.metrics import count_error
from knowlex.web.exceptions import as_knowlex_error
from knowlex.web.faces import face_of
from knowlex.web.json_output import json_bytes, plain_json_bytes

JSON = "application/json"
QUERY_ID_HEADER = "X-Query-ID"
P = ParamSpec("P")
AsyncView = Callable[Concatenate[HttpRequest, P], Coroutine[Any, Any, HttpResponseBase]]
log = logging.getLogger("knowlex.errors")


def json_response(data: Any, status: int = 200) -> HttpResponse:
    """Return JSON with UUIDs and datetimes; a lone surrogate becomes `?`, so that it is valid UTF-8."""
    return HttpResponse(json_bytes(data), status=status, content_type=JSON)


def plain_json_response(data: Any) -> HttpResponse:
    """Return JSON of what is sent often and holds no dates, times or decimals; see `plain_json_bytes`."""
    return HttpResponse(plain_json_bytes(data), content_type=JSON)


def body_response(body: BaseModel | list[Any], status: int = 200, *, location: str = "") -> HttpResponse:
    """Return a shape as JSON. location: where the client finds what was made."""
    response = HttpResponse(plain_json_bytes(body), status=status, content_type=JSON)
    if location:
        response["Location"] = location
    return response


def no_content() -> HttpResponse:
    response = HttpResponse(status=204)
    del response["Content-Type"]
    return response


def request_id_of(request: HttpRequest | None) -> str:
    """Return the request's id; a fresh one where no middleware has given it any."""
    return str(getattr(request, "request_id", "") or new_id())


def problem_body(request: HttpRequest | None, exc: BaseException) -> tuple[int, dict[str, Any]]:
    """Return (status, error body) of any exception, as the face that owns the path words it."""
    error = as_knowlex_error(exc)
    path = request.path if request is not None else ""
    face = face_of(path)
    status, code = face.outcome(path, error)
    count_error(code)
    if face.like_openai:
        return status, {"error": _openai_error(status, code, error)}
    body = {
        "status": status,
        "error": code,
        "message": error.message,
        "details": error.details,
        "timestamp": utc_timestamp(),
        face.request_id_key: request_id_of(request),
    }
    if face.like_dify:
        body |= {"error_code": _dify_code(request, status, error), "error_msg": error.message}
    return status, body


def _dify_code(request: HttpRequest | None, status: int, error: KnowlexError) -> int:
    """Return what Dify's documentation has a number for; of everything else the status."""
    if isinstance(error, Unauthorized):
        sent = request.headers.get("Authorization", "") if request is not None else ""
        return 1002 if re.fullmatch(r"(?i:bearer)\s+\S+", sent.strip()) else 1001
    if isinstance(error, Forbidden):
        return 1002
    return 2001 if isinstance(error, NotFound) else status


# How OpenAI calls them; its clients choose the exception by the status alone.
_OPENAI_CODES = {
    "UNAUTHORIZED": "invalid_api_key",
    "RATE_LIMITED": "rate_limit_exceeded",
}
_OPENAI_TYPES = {403: "permission_error", 429: "rate_limit_error"}


def _openai_error(status: int, code: str, error: KnowlexError) -> dict[str, Any]:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    field = error.details.get("field")
    named = "model_not_found" if (status, field) == (404, "model") else code.lower()
    return {
        "message": error.message,
        "type": _OPENAI_TYPES.get(status, kind),
        "param": field,
        "code": _OPENAI_CODES.get(code, named),
    }


def problem_event(request: HttpRequest | None, exc: BaseException) -> dict[str, Any]:
    """Return the error body for a response that is under way already; logged as in `problem_response`."""
    status, body = problem_body(request, exc)
    _log(request, exc, status)
    return body


def problem_response(request: HttpRequest | None, exc: BaseException) -> HttpResponse:
    """Return the error response of any exception; one that is our fault is logged, with its traceback."""
    status, body = problem_body(request, exc)
    _log(request, exc, status)
    response = json_response(body, status)
    for name, value in _headers(request, exc).items():
        response[name] = value
    return response


def exception_handler(exc: Exception, context: dict[str, Any]) -> HttpResponse:
    """Return the same for DRF's views, which call it by REST_FRAMEWORK["EXCEPTION_HANDLER"]."""
    set_rollback()
    request = context.get("request")
    return problem_response(getattr(request, "_request", request), exc)


def allow(*methods: str) -> Callable[[AsyncView[P]], AsyncView[P]]:
    """Answer only these methods of an async view: OPTIONS tells them, HEAD goes with GET, others get 405."""
    allowed = [*methods, "OPTIONS"] if "GET" not in methods else [*methods, "HEAD", "OPTIONS"]

    def decorate(view: AsyncView[P]) -> AsyncView[P]:
        @wraps(view)
        async def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if request.method in allowed and request.method != "OPTIONS":
                return await view(request, *args, **kwargs)
            if request.method == "OPTIONS":
                response = no_content()
            else:
                error = MethodNotAllowed(f"Method {request.method} is not allowed here.")
                response = problem_response(request, error)
            response["Allow"] = ", ".join(allowed)
            return response

        guarded.allowed_methods = allowed  # type: ignore[attr-defined]
        return guarded

    return decorate


def failed_query(request: HttpRequest, query_id: UUID) -> None:
    """Let the error response carry the id of the question, which is recorded as failed."""
    request.failed_query_id = query_id  # type: ignore[attr-defined]


def _headers(request: HttpRequest | None, exc: BaseException) -> dict[str, str]:
    error = as_knowlex_error(exc)
    headers: dict[str, str] = {}
    query_id = getattr(request, "failed_query_id", None)
    if query_id is not None:
        headers[QUERY_ID_HEADER] = str(query_id)
    retry_after_s = getattr(error, "retry_after_s", None)
    if retry_after_s is not None:
        headers["Retry-After"] = str(retry_after_s)
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = 'Bearer realm="knowlex"'
    return headers


def _log(request: HttpRequest | None, exc: BaseException, status: int) -> None:
    if status < 500:
        return
    fields = {"request_id": request_id_of(request), "status": status, "error": type(exc).__name__}
    foreseen = isinstance(exc, KnowlexError) or type(as_knowlex_error(exc)) is not KnowlexError
    if foreseen and not isinstance(exc, drf.APIException):
        log.warning("request failed", extra=fields)
    else:
        log.error("request failed", extra=fields, exc_info=exc)
