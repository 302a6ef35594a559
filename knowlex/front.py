"""The address that `up` prints, opened in a browser."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from knowlex.common.http import allow


@allow("GET")
async def front(request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect("/api/docs")
