"""The middleware of every request, outermost first as settings.EDGE_MIDDLEWARE lists it: async, no threads.

Django's own middleware (settings.MIDDLEWARE: sessions, users, CSRF, messages) hops to a thread for each of
its hooks; only /admin and /static need it, so only they pass through it (knowlex.asgi).
"""

import logging
import re
import time
from collections.abc import Awaitable, Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.decorators import async_only_middleware

from knowlex.base.errors import DependencyUnavailable, Forbidden, KnowlexError, RateLimited
from knowlex.base.event_loops import PerLoop
from knowlex.base.rates import Rate
from knowlex.runtime.admission import Admission, holding
from knowlex.runtime.logging import accepted_or_new, current_request_id
from knowlex.runtime.metrics import count_refused_question, count_request
from knowlex.web.body import ClientGone
from knowlex.web.exceptions import SOMETHING_WENT_WRONG
from knowlex.web.origins import is_from_another_site, is_from_own_page
from knowlex.web.rate_limit import RateLimiter, Verdict, peer_address
from knowlex.web.responses import problem_response
from knowlex.web.sse import EventStream

Serve = Callable[[HttpRequest], Awaitable[HttpResponseBase]]
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


@async_only_middleware
def cross_site(serve: Serve) -> Serve:
    """Raises Forbidden on a change that a page of another site asks for; the body is not read.

    A form, or a script that asks for no answer, may POST to any address, this machine's own included, and an
    API without keys would take it for its user. Browsers say where such a request comes from; programs say
    nothing and are served. Who sends a key has proved more than an origin can. What only a cookie
    authenticates must come from a page of our own, and the browser must say so.
    """

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.method not in SAFE_METHODS and not _may_change(request):
            raise Forbidden("Pages of other sites may not do this.")
        return await serve(request)

    return middleware


def _may_change(request: HttpRequest) -> bool:
    if is_by_cookie(request):
        return is_from_own_page(request)
    has_key = "Authorization" in request.headers or "X-API-Key" in request.headers
    return has_key or not is_from_another_site(request)


def is_by_cookie(request: HttpRequest) -> bool:
    """Tell if a session cookie, and no key, authenticated the request."""
    return bool(getattr(request, "by_cookie", False))


access_log = logging.getLogger("knowlex.access")

CLIENT_LEFT = 499
NO_PAGE_POLICY = "default-src 'none'; frame-ancestors 'none'"
PAGE_POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; "
    "base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}
PAGES = ("/admin/", "/login", "/accounts/")  # for people, whose errors are pages as well
UNLIMITED = ("/health", "/api/schema", "/api/docs", "/static/")


@async_only_middleware
def request_id(serve: Serve) -> Serve:
    """Give the request its id, the caller's own if it is a sane one, and every response X-Request-ID."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        request.request_id = accepted_or_new(request.META.get("HTTP_X_REQUEST_ID", ""))  # type: ignore[attr-defined]
        token = current_request_id.set(request.request_id)  # type: ignore[attr-defined]
        try:
            response = await serve(request)
        finally:
            current_request_id.reset(token)
        response["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
        return response

    return middleware


@async_only_middleware
def access_lines(serve: Serve) -> Serve:
    """Log each request in one line: the route's pattern if there is one, never a query string or a body.

    A stream of events is logged at its end, with the time of the whole.
    """

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()

        def log(status: int) -> None:
            _log_access(request, status, (time.perf_counter() - started) * 1000)

        try:
            response = await serve(request)
        except BaseException:
            log(CLIENT_LEFT)  # or the server stops: nobody was answered
            raise
        if isinstance(response, EventStream):
            response.on_end.append(lambda whole: log(response.status_code if whole else CLIENT_LEFT))
        else:
            log(response.status_code)
        return response

    return middleware


def _log_access(request: HttpRequest, status: int, duration_ms: float) -> None:
    match = request.resolver_match
    route = f"/{match.route}" if match is not None else ""
    count_request(request.method, route, status, duration_ms / 1000)
    fields = {
        "method": request.method,
        "path": route or request.path,
        "status": status,
        "duration_ms": round(duration_ms, 1),
        "peer": request.META.get("REMOTE_ADDR", ""),
    }
    if client := getattr(request, "rate_client", ""):
        fields["client"] = client  # the key's id; the key itself is never logged
    access_log.info("request", extra=fields)


@async_only_middleware
def security_headers(serve: Serve) -> Serve:
    """Add headers that forbid a browser to guess, frame or run anything; a view's own value stays."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        response = await serve(request)
        for name, value in SECURITY_HEADERS.items():
            response.headers.setdefault(name, value)
        if request.is_secure():  # over plain http browsers ignore it, with an error in the console
            response.headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
        if is_by_cookie(request):  # no other site embeds it, and nothing of it outlasts the log-out
            response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
            response.headers.setdefault("Cache-Control", "no-store")
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        response.headers.setdefault("Content-Security-Policy", PAGE_POLICY if is_page else NO_PAGE_POLICY)
        return response

    return middleware


@async_only_middleware
def problems(serve: Serve) -> Serve:
    """Answer whatever is raised below by the error body; a client that has left gets nothing."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        try:
            return await serve(request)
        except ClientGone:
            raise
        except Exception as exc:  # noqa: BLE001 (the last line of defence: logged, and answered as a 500)
            return problem_response(request, exc)

    return middleware


@async_only_middleware
def admission(serve: Serve) -> Serve:
    """Refuse a question, before anything is done for it, where it would be worked on for too long.

    Its place is held until the response begins: of a stream, until the first token. How fast a client reads,
    or sends its question, holds nobody else up.
    """
    is_question = re.compile(settings.QUESTION_PATTERN).fullmatch
    questions = PerLoop(lambda: Admission(settings.ANSWER_TIMEOUT_S / 4))  # the rest is the chat model's

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.method != "POST" or not is_question(request.path):
            return await serve(request)
        try:
            place = await questions.get().enter()
        except DependencyUnavailable as exc:
            count_refused_question()
            return problem_response(request, exc)
        served = False
        try:
            with holding(place):
                response = await serve(request)
            served = response.status_code == 200
        finally:
            place.leave(served=served)
        return response

    return middleware


@async_only_middleware
def rate_limit(serve: Serve) -> Serve:
    """Allow KNOWLEX_RATE_LIMIT requests a key, or a peer without a valid one, before a body is read."""
    rate = Rate.parse(settings.RATE_LIMIT)
    if rate is None:
        return serve
    limiter = RateLimiter(rate)

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith(UNLIMITED):
            return await serve(request)
        verdict = await limiter.check(getattr(request, "rate_client", "") or peer_address(request))
        response = await serve(request) if verdict.allowed else _refusal(request, verdict)
        response["X-RateLimit-Limit"] = str(verdict.limit)
        response["X-RateLimit-Remaining"] = str(verdict.remaining)
        response["X-RateLimit-Reset"] = str(_seconds(verdict))
        return response

    return middleware


def _refusal(request: HttpRequest, verdict: Verdict) -> HttpResponse:
    error = RateLimited("Rate limit exceeded, try again later", retry_after_s=_seconds(verdict))
    return problem_response(request, error)


def _seconds(verdict: Verdict) -> int:
    """Return the seconds rounded up: whoever waits that long is let in."""
    return max(int(-(-verdict.reset_s // 1)), 1)


class SecureCookies:
    """Have cookies that were set over HTTPS come back over HTTPS only; outermost of settings.MIDDLEWARE."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.is_secure():
            for cookie in response.cookies.values():
                cookie["secure"] = True
        return response


class ProblemMiddleware:
    """Sends the error body where Django's own handler (its test client) serves a view; not in the admin."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exc: Exception) -> HttpResponse | None:
        return None if request.path.startswith(PAGES) else problem_response(request, exc)


def refused(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler400, handler403 and handler404 of the URL configuration."""
    return problem_response(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """handler500; Django has logged the traceback."""
    return problem_response(request, KnowlexError(SOMETHING_WENT_WRONG))
