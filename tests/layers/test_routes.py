"""Every route of the URL conf keeps the rules that no single view can be trusted to keep."""

import re
from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from tests.support.api import UNKNOWN_ID, assert_problem
from tests.support.stack import Stack

SERVED_BY_DJANGO = ("admin", "login", "static/")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
PAGES = ("api/docs",)


def routes(patterns: list[URLPattern | URLResolver], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, path)
        elif not path.startswith(SERVED_BY_DJANGO):
            yield path


ROUTES = sorted(set(routes(get_resolver().url_patterns)))


def test_the_specified_routes_are_there():
    ours = {re.sub("<[^>]*>", "ID", route) for route in ROUTES}
    assert ours >= {
        "api/v1/documents",
        "api/v1/documents/ID",
        "api/v1/documents/ID/chunks",
        "api/v1/embeddings/generate",
        "api/v1/embeddings/generate/ID",
        "api/v1/embeddings/search",
        "api/v1/rag/ask",
        "api/v1/rag/query",
        "query",
        "health",
        "api/schema",
        "api/docs",
    }


@pytest.mark.parametrize("route", ROUTES)
def test_no_route_ends_with_a_slash(route: str):
    assert not route.endswith("/")


def concrete(route: str) -> str:
    parts = (UNKNOWN_ID if part.startswith("<") else part for part in route.split("/"))
    return "/" + "/".join(parts)


@pytest.mark.parametrize("route", ROUTES)
def test_every_failure_of_every_route_is_json_in_the_error_shape(server: Stack, route: str):
    for method in METHODS:
        reply = server.client.request(
            method, concrete(route), content=b"\xff", headers={"Content-Type": "x/y"}
        )
        if reply.status_code >= 400:
            assert_problem(reply, reply.status_code)
            assert reply.status_code < 500
        elif route not in PAGES:
            assert "text/html" not in reply.headers.get("Content-Type", "")


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_tells_its_methods(server: Stack, route: str):
    reply = server.client.options(concrete(route))

    assert reply.status_code in (200, 204), reply.text
    assert "OPTIONS" in reply.headers["Allow"]


def test_no_two_operations_of_the_schema_have_one_name(server: Stack):
    items = server.client.get("/api/schema").json()["paths"].values()
    names = [operation["operationId"] for item in items for operation in item.values()]

    assert len(set(names)) == len(names)
    assert not [
        name for name in names if re.search(r"_\d+$", name)
    ]  # as generators mark a name that was given twice


def test_the_address_that_up_prints_is_the_page_for_a_browser(server: Stack):
    reply = server.client.get("/", headers={"Accept": "text/html,*/*;q=0.8"})

    assert (reply.status_code, reply.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert '<div id="page">' in reply.text


def test_the_schema_names_the_failures_of_the_edges_for_every_operation(server: Stack):
    paths = server.client.get("/api/schema").json()["paths"]

    asked = {status for path in ("/query", "/api/v1/rag/ask") for status in paths[path]["post"]["responses"]}
    assert {"400", "403", "408", "413", "415", "429", "500", "503"} <= asked
    assert {"403", "429", "500"} <= set(paths["/api/v1/documents/{documentId}"]["delete"]["responses"])
    assert {"401", "403"} <= set(paths["/api/v1/documents"]["get"]["responses"])
    assert "401" not in paths["/health"]["get"]["responses"]
    assert "/" not in paths


def test_the_schema_names_both_counts_of_query_and_the_id_of_a_failed_question(server: Stack):
    schema = server.client.get("/api/schema").json()

    for name in ("QueryRequest", "BookRequest"):
        assert {"topK", "maxSources"} <= set(schema["components"]["schemas"][name]["properties"])
    failures = schema["paths"]["/query"]["post"]["responses"]
    assert [status for status in failures if "X-Query-ID" in failures[status].get("headers", {})] == [
        "200",
        "503",
    ]
