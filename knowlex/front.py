"""The address that `up` prints, opened in a browser; to a program it is an unknown path."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from knowlex.common.errors import NotFound
from knowlex.common.http import allow


@allow("GET")
async def front(request: HttpRequest) -> HttpResponse:
    if "text/html" not in request.headers.get("Accept", ""):
        raise NotFound("Not found. The documentation is at /api/docs.")
    return HttpResponseRedirect("/api/docs")
