"""GET /metrics: for Prometheus, in its text format."""

from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from documents.access.scopes import access_of
from knowlex.base.errors import Forbidden
from knowlex.runtime.metrics import REGISTRY
from knowlex.web.responses import allow
from rag.metrics import collect_state


@allow("GET")
async def metrics(request: HttpRequest) -> HttpResponse:
    """What this web process counted since it started, and how things stand now.

    Of the whole installation: an API key that is bound to collections gets 403.
    """
    if access_of(request).collection_ids is not None:
        raise Forbidden("Metrics are of all collections; this API key is bound to some.")
    text = generate_latest(REGISTRY) + generate_latest(await collect_state())
    response = HttpResponse(text, content_type=CONTENT_TYPE_LATEST)
    response["Cache-Control"] = "no-store"
    return response
