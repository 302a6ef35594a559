"""One route, several methods, each a plain function of its own, with ids of the path as UUIDs."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast
from uuid import UUID

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from knowlex.base.errors import MethodNotAllowed
from knowlex.base.ids import parse_id
from knowlex.web.responses import no_content, problem_response

View = Callable[..., Any]


def methods(**views: View) -> View:
    """Make a route: `methods(GET=show, DELETE=remove)`. HEAD goes with GET, other methods get 405.

    Each may be a coroutine or not: `chosen` picks it before it is run where its kind belongs.
    """
    views = {method: _with_ids(view) for method, view in views.items()}
    if "GET" in views:
        views = {**views, "HEAD": views["GET"]}
    allowed = [*views, "OPTIONS"]

    def route(request: HttpRequest, /, **parameters: str) -> HttpResponseBase:
        return _other(request, allowed)

    found: Any = route
    found.allowed_methods, found.by_method = allowed, views
    return cast(View, found)


def chosen(view: View, method: str | None) -> View:
    """Return the view of this method, where `methods` made the route; else the route's view itself."""
    views: dict[str | None, View] = getattr(view, "by_method", {})
    return views.get(method, view)


def _with_ids(view: View) -> View:
    """Return the view behind a check of the parameters that it takes as UUIDs.

    The check raises InvalidInput, naming the one that is malformed.
    """
    names = [name for name, kind in view.__annotations__.items() if kind is UUID]
    if not names:
        return view

    def read(parameters: dict[str, Any]) -> dict[str, Any]:
        return parameters | {name: parse_id(parameters[name], field=name) for name in names}

    @wraps(view)
    def run(request: HttpRequest, /, **parameters: str) -> Any:
        return view(request, **read(parameters))

    @wraps(view)
    async def run_async(request: HttpRequest, /, **parameters: str) -> Any:
        return await view(request, **read(parameters))

    return run_async if iscoroutinefunction(view) else run


def _other(request: HttpRequest, allowed: list[str]) -> HttpResponse:
    if request.method == "OPTIONS":
        response = no_content()
    else:
        response = problem_response(
            request, MethodNotAllowed(f"Method {request.method} is not allowed here.")
        )
    response["Allow"] = ", ".join(allowed)
    return response
