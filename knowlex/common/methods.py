"""One route, several methods, each a plain function of its own."""

from collections.abc import Callable
from typing import Any, cast

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from knowlex.common.errors import MethodNotAllowed
from knowlex.common.http import problem_response

View = Callable[..., Any]


def methods(**views: View) -> View:
    """`methods(GET=show, DELETE=remove)`: HEAD goes with GET, OPTIONS tells what there is, others get 405.

    Views that block run on the server's threads, coroutine views on its loop; a route has one kind only.
    """
    if "GET" in views:
        views = {**views, "HEAD": views["GET"]}
    allowed = [*views, "OPTIONS"]

    def route(request: HttpRequest, /, **parameters: str) -> HttpResponseBase:
        view = views.get(request.method or "")
        return cast(HttpResponseBase, view(request, **parameters)) if view else _other(request, allowed)

    async def async_route(request: HttpRequest, /, **parameters: str) -> HttpResponseBase:
        view = views.get(request.method or "")
        return cast(HttpResponseBase, await view(request, **parameters)) if view else _other(request, allowed)

    found: Any = async_route if all(iscoroutinefunction(view) for view in views.values()) else route
    found.allowed_methods = allowed
    return cast(View, found)


def _other(request: HttpRequest, allowed: list[str]) -> HttpResponse:
    if request.method == "OPTIONS":
        response = HttpResponse(status=204)
        del response["Content-Type"]
    else:
        response = problem_response(
            request, MethodNotAllowed(f"Method {request.method} is not allowed here.")
        )
    response["Allow"] = ", ".join(allowed)
    return response
