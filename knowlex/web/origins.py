"""From which page a request comes, as the browser tells it, and the address at which we are reached.

The browser tells it by Sec-Fetch-Site, or Origin, or Referer.
"""

from django.conf import settings
from django.http import HttpRequest

OWN = ("same-origin", "none")  # none: the reader's own doing, which no page can bring about


def is_from_own_page(request: HttpRequest) -> bool:
    """Tell if the browser says that a page of this very origin sent it. No word is no proof.

    What a cookie authenticates needs this: the cookie goes along whoever asks, and SameSite lets pages of
    sibling subdomains through. Over plain HTTP browsers send no Sec-Fetch-Site.
    """
    site = request.headers.get("Sec-Fetch-Site", "").lower()
    if site:
        return site in OWN
    return _is_own(request, request.headers.get("Origin") or request.headers.get("Referer", ""))


def is_from_another_site(request: HttpRequest) -> bool:
    """Tell if the browser says that a page of another site sent it; programs say nothing."""
    site, origin = request.headers.get("Sec-Fetch-Site", "").lower(), request.headers.get("Origin", "")
    if site and site != "cross-site":
        return False
    return bool(site or origin) and not _is_own(request, origin)


def _is_own(request: HttpRequest, address: str) -> bool:
    """Tell if the address is of the host and port that was asked, over HTTPS if that was asked by HTTPS.

    A proxy that nobody told us of may have ended the HTTPS, so that a page's own scheme is no objection.
    """
    scheme, _, rest = address.partition("://")
    if request.is_secure() and scheme.lower() != "https":
        return False
    host = rest.partition("/")[0].lower()
    return bool(host) and host == request.headers.get("Host", "").lower()


def public_address(request: HttpRequest, path: str) -> str:
    """Return a path of ours as a link for people: at KNOWLEX_PUBLIC_URL, else at the host that was asked."""
    root = settings.PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")
    return f"{root}{path}"
