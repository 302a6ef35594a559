"""The page to browse /api/schema with."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from drf_spectacular.views import SpectacularSwaggerSplitView


class DocsPage(SpectacularSwaggerSplitView):
    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        """Nothing but `Allow`: DRF's own answer is data, which a page's template cannot tell."""
        response = HttpResponse(status=204)
        del response["Content-Type"]
        return response
