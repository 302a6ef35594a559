"""Who asks: every request gets its `access` here, before anything of it is read."""

from collections.abc import Awaitable, Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import async_only_middleware

from documents.access import FULL

Serve = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@async_only_middleware
def identify(serve: Serve) -> Serve:
    """Sets `request.access`, which `access_of` reads: all is allowed where no key is asked for."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        request.access = FULL  # type: ignore[attr-defined]
        return await serve(request)

    return middleware
