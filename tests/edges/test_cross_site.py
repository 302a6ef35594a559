"""A page of another site cannot use its reader's browser to change anything here."""

import httpx
import pytest

from tests.edges.server import WebProcess
from tests.support.api import assert_problem

ECHO = "/api/v1/probe/echo"
FOREIGN = {"Origin": "https://other.example", "Sec-Fetch-Site": "cross-site"}


def echo(web: WebProcess, headers: dict[str, str], method: str = "POST") -> httpx.Response:
    return web.client.request(method, ECHO, json={"a": 1}, headers=headers)


@pytest.mark.parametrize(
    "headers",
    [
        FOREIGN,
        {**FOREIGN, "Origin": "null"},
        {**FOREIGN, "Origin": "http://127.0.0.1:1"},
        {**FOREIGN, "Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "https://other.example"},
        {"Origin": "null"},
    ],
)
def test_a_page_of_another_site_is_forbidden_to_post(web: WebProcess, headers: dict[str, str]) -> None:
    assert_problem(echo(web, headers), 403, "FORBIDDEN")


@pytest.mark.parametrize("path", ["/api/v1/documents", "/api/v1/embeddings/generate", "/query"])
def test_it_is_told_before_anything_else_is_looked_at(web: WebProcess, path: str) -> None:
    reply = web.client.post(path, headers={**FOREIGN, "Content-Type": "text/plain"}, content=b"a" * 2_000_000)
    assert_problem(reply, 403, "FORBIDDEN")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {**FOREIGN, "Authorization": "Bearer a"},
        {**FOREIGN, "X-API-Key": "a"},
    ],
)
def test_programs_own_pages_and_holders_of_keys_may_post(web: WebProcess, headers: dict[str, str]) -> None:
    assert echo(web, headers).status_code == 200


def test_a_page_of_our_own_may_post_whatever_brought_its_reader(web: WebProcess) -> None:
    assert echo(web, {**FOREIGN, "Origin": web.url}).status_code == 200
    assert echo(web, {"Origin": web.url}).status_code == 200  # a browser over plain HTTP says no more


def test_a_link_from_another_site_may_be_followed(web: WebProcess) -> None:
    assert web.client.get("/api/docs", headers=FOREIGN).status_code == 200
    assert web.client.options(ECHO, headers=FOREIGN).status_code == 204
