"""Headers of static files."""

from collections.abc import MutableMapping


def revalidate_page_modules(headers: MutableMapping[str, str], path: str, url: str) -> None:
    """Have browsers ask each time whether a module of the page has changed: none may be old."""
    if "/static/page/" in url:
        headers["Cache-Control"] = "no-cache"
