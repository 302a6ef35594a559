"""GET /health: the Service's `health_check()`; 200 when healthy or degraded, 503 when unhealthy."""

from django.http import HttpRequest, HttpResponse

from knowlex.web.responses import allow, json_response
from rag.health import health_check


@allow("GET")
async def health(request: HttpRequest) -> HttpResponse:
    body = await health_check()
    response = json_response(body, 503 if body["status"] == "unhealthy" else 200)
    response["Cache-Control"] = "no-store"
    return response
