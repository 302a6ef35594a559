"""All routes; the one module that imports every app. No route but /admin/ ends in a slash."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView
from rest_framework.renderers import JSONRenderer

from knowlex.common import middleware

urlpatterns = [
    *(
        path("", include(f"{app}.urls"))
        for app in ("documents", "embeddings", "rag")
        if find_spec(f"{app}.urls")
    ),
    path("api/schema", SpectacularJSONAPIView.as_view(renderer_classes=[JSONRenderer]), name="schema"),
    path("api/docs", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    path("admin", RedirectView.as_view(url="/admin/")),
    path("admin/", admin.site.urls),
]

handler400 = handler403 = handler404 = middleware.refused
handler500 = middleware.server_error
