"""Fixed paths are resolved once for each method, others each time."""

import pytest
from django.test import override_settings
from django.urls import Resolver404, path

from knowlex.web.handler import Routes
from knowlex.web.methods import methods


def show(request: object) -> str:
    return "show"


def make(request: object) -> str:
    return "make"


urlpatterns = [path("things", methods(GET=show, POST=make)), path("things/<str:name>", show)]


@override_settings(ROOT_URLCONF="tests.edges.test_routes")
def test_each_method_has_its_view_and_each_path_its_parameters() -> None:
    routes = Routes()

    for _ in range(2):
        assert routes.match("/things", "GET").func is show
        assert routes.match("/things", "POST").func is make
        assert routes.match("/things/a", "GET").kwargs == {"name": "a"}
        assert routes.match("/things/b", "GET").kwargs == {"name": "b"}
    with pytest.raises(Resolver404):
        routes.match("/nothing", "GET")


def test_other_routes_are_not_taken_for_these() -> None:
    routes = Routes()
    with override_settings(ROOT_URLCONF="tests.edges.test_routes"):
        assert routes.match("/things", "GET").func is show

    with pytest.raises(Resolver404):
        routes.match("/things", "GET")
