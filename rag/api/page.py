"""The page for people: an empty shell, whose modules speak to the public API with the reader's own rights."""

from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.translation.trans_real import DjangoTranslation
from django.views.i18n import JSONCatalog

from documents.accounts.rights import Account
from documents.accounts.sessions import find_account
from knowlex.base.errors import DatabaseUnavailable, NotFound
from knowlex.environment import SERVED_LANGUAGES
from knowlex.web.responses import allow

LOCALE = Path(__file__).parents[1] / "locale"
MODULES = (
    "api",
    "answer",
    "ask",
    "conversation",
    "copying",
    "documents",
    "i18n",
    "markup",
    "routing",
    "sources",
    "upload",
    "viewer",
)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)


@allow("GET")
async def page(request: HttpRequest, document_id: str = "") -> HttpResponse:
    """Return the shell; which view it shows is read from the address, in the browser."""
    if "text/html" not in request.headers.get("Accept", ""):
        raise NotFound("Not found. The documentation is at /api/docs.")
    language = translation.get_language_from_request(request)
    account = await _find_account(request)
    with translation.override(language):
        response = render(
            request,
            "page/index.html",
            {
                "language": language,
                "direction": "rtl" if translation.get_language_bidi() else "ltr",
                "catalog": _catalog(language),
                "modules": MODULES,
                "login": settings.LOGIN_URL if settings.REQUIRE_API_KEY else "",
                "account": account.name if account else "",
                "languages": {model: list(codes) for model, codes in SERVED_LANGUAGES.items()},
                "manages": account.access.is_staff if account else not settings.REQUIRE_API_KEY,
            },
        )
    response["Content-Security-Policy"] = POLICY
    response["Cache-Control"] = "no-cache"
    response["Vary"] = "Accept-Language, Cookie"
    return response


async def _find_account(request: HttpRequest) -> Account | None:
    """Return who is logged in; nobody while the database is away, which the requests of the page will say."""
    if not settings.REQUIRE_API_KEY:
        return None
    try:
        return await find_account(request)
    except DatabaseUnavailable:
        return None


@cache
def _catalog(language: str) -> dict[str, Any]:
    """Return the messages of the page's modules in this language, {} for English."""
    view = JSONCatalog()
    view.translation = DjangoTranslation(language, domain="djangojs", localedirs=[str(LOCALE)])
    return {"messages": view.get_catalog()}
