"""Which view serves a path."""

from django.urls import ResolverMatch, URLResolver, get_resolver

from knowlex.common.methods import chosen


class Routes:
    """Django's resolver, which tries one pattern after the other, asked only once for each fixed path.

    A path with parameters is resolved each time, so what is kept is bounded by the routes there are.
    """

    def __init__(self) -> None:
        self._resolver: URLResolver | None = None
        self._fixed: dict[tuple[str, str | None], ResolverMatch] = {}

    def match(self, path: str, method: str | None) -> ResolverMatch:
        """With the view of this method as `func`. Raises Resolver404."""
        resolver = get_resolver()
        if resolver is not self._resolver:
            self._resolver, self._fixed = resolver, {}
        match = self._fixed.get((path, method))
        if match is None:
            match = resolver.resolve(path)
            match.func = chosen(match.func, method)
            if not match.kwargs and not match.args:
                self._fixed[path, method] = match
        return match
