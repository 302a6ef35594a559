"""No web page of another site acts here through its reader's browser.

A form, or a script that asks for no answer, may POST to any address, this machine's own included, and an
API without keys would take it for its user. Browsers say where such a request comes from; programs say
nothing and are served. Who sends a key has proved more than an origin can.
"""

from collections.abc import Awaitable, Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import async_only_middleware

from knowlex.base.errors import Forbidden

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


@async_only_middleware
def cross_site(
    serve: Callable[[HttpRequest], Awaitable[HttpResponseBase]],
) -> Callable[[HttpRequest], Awaitable[HttpResponseBase]]:
    """Raises Forbidden on a change that a page of another site asks for; the body is not read."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.method not in SAFE_METHODS and _is_from_another_site(request):
            raise Forbidden("Pages of other sites may not do this.")
        return await serve(request)

    return middleware


def _is_from_another_site(request: HttpRequest) -> bool:
    if request.META.get("HTTP_SEC_FETCH_SITE", "").lower() != "cross-site":
        return False
    headers = request.headers
    return not ("Authorization" in headers or "X-API-Key" in headers or _is_own_origin(request))


def _is_own_origin(request: HttpRequest) -> bool:
    """Whether the page came from here: the same host and port, whatever the scheme a proxy speaks."""
    host = request.headers.get("Origin", "").partition("://")[2].lower()
    return bool(host) and host == request.headers.get("Host", "").lower()
