"""All routes; the one module that imports every app. No route but /admin/ ends in a slash."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from knowlex.openapi import docs, schema
from knowlex.web import middleware

admin.autodiscover()  # not in all processes: commands and workers have no pages
urlpatterns = [
    path("", include("documents.urls")),
    path("", include("embeddings.urls")),
    path("", include("rag.urls")),
    path("api/schema", schema, name="schema"),
    path("api/docs", docs, name="docs"),
    path("admin", RedirectView.as_view(url="/admin/")),
    path("admin/", admin.site.urls),
]
if settings.OIDC_NAME:
    urlpatterns += [
        path("accounts/login/", RedirectView.as_view(url=settings.LOGIN_URL)),
        path("accounts/", include("allauth.urls")),
    ]

handler400 = handler403 = handler404 = middleware.refused
handler500 = middleware.server_error
