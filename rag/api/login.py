"""Log-in and log-out of accounts, for the page: plain forms, which need no JavaScript."""

from typing import Any

from django.conf import settings
from django.contrib.auth import logout as end_login
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.csrf import csrf_exempt

from documents.accounts.login import LoginForm, remember_browser
from knowlex.base.errors import Forbidden
from knowlex.web.methods import methods
from knowlex.web.origins import is_from_own_page

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


class LogIn(LoginView):
    """GET and POST /login; where no key is asked for, nobody needs to log in."""

    authentication_form = LoginForm
    template_name = "page/login.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.REQUIRE_API_KEY:
            return HttpResponseRedirect("/")
        with translation.override(translation.get_language_from_request(request)):
            response = super().dispatch(request, *args, **kwargs)
            if isinstance(response, TemplateResponse):
                response.render()
        response["Content-Security-Policy"] = POLICY
        return response

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        """Return the path to go on to, never one of another host."""
        path = str(self.request.POST.get("next", self.request.GET.get("next", "")))
        own = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
        return path if own else ""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {
            "oidc_name": settings.OIDC_NAME,
            "oidc_failed": "failed" in self.request.GET,
        }

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        remember_browser(self.request, response, form.get_user())
        return response


@csrf_exempt  # instead it must come from a page of our own, as all that a cookie authenticates
def log_out(request: HttpRequest) -> HttpResponseBase:
    """End the session of the cookie."""
    if request.method != "POST":
        refused: HttpResponseBase = _ONLY_POST(request)
        return refused
    if not is_from_own_page(request):
        raise Forbidden("Pages of other sites may not do this.")
    end_login(request)
    return HttpResponse(status=204)


_ONLY_POST = methods(POST=log_out)
