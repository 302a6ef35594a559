"""What a lenient JSON parser would let through, on plain views and on DRF's alike."""

import gzip
import json

import httpx
import pytest

from tests.edges.server import WebProcess
from tests.edges.test_errors import check_body

ECHO = "/api/v1/probe/echo"
VIEWS = (ECHO, "/api/v1/probe/echo-in-drf")


def post(web: WebProcess, path: str, body: bytes, content_type: str = "application/json") -> httpx.Response:
    return web.client.post(path, content=body, headers={"Content-Type": content_type})


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"a":',
        b"{'a': 1}",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": 1e999}',
        b'{"a": ' + b"1" * 5000 + b"}",
        b'{"a": "\xff"}',
        b"\xef\xbb\xbf{}",
        '{"a": 1}'.encode("utf-16"),
        b"[" * 5000,
        b'{"a":' * 5000,
        b'{"a":' * 200 + b"1" + b"}" * 200,
        b'{"a": "\\u0000"}',
        b'{"a": "\\ud800"}',
        b'{"\\ud800": 1}',
        b'{"a": ["b", {"c": "\\udfff"}]}',
        b'{"a": "\x00"}',
    ],
    ids=lambda body: repr(body[:16]),
)
def test_unusable_json_is_400(web: WebProcess, body: bytes) -> None:
    response = post(web, ECHO, body)

    assert response.status_code == 400
    assert check_body(response)["error"] == "VALIDATION_ERROR"


@pytest.mark.parametrize("body", [b"null", b"[]", b'"text"', b"1", b"true", b""])
def test_what_is_not_an_object_is_400(web: WebProcess, body: bytes) -> None:
    response = post(web, ECHO, body)

    assert response.status_code == 400
    check_body(response)


def test_a_request_without_body_and_type_is_400(web: WebProcess) -> None:
    assert web.client.post(ECHO).status_code == 400


@pytest.mark.parametrize("path", VIEWS)
@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "text/json", "", "x" * 300]
)
def test_another_content_type_is_415(web: WebProcess, path: str, content_type: str) -> None:
    response = post(web, path, b'{"a": 1}', content_type)

    assert response.status_code == 415
    assert check_body(response)["error"] == "UNSUPPORTED_MEDIA_TYPE"


def test_a_compressed_body_is_415(web: WebProcess) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    response = web.client.post(ECHO, content=gzip.compress(b'{"a": 1}'), headers=headers)

    assert response.status_code == 415
    assert "Content-Encoding" in check_body(response)["message"]
    assert web.client.post(ECHO, content=b"{}", headers=headers | {"Content-Encoding": "identity"}).is_success


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "application/json; charset=utf-8", 'application/json;charset="UTF-8"'],
)
def test_good_json_arrives_as_it_was_sent(web: WebProcess, content_type: str) -> None:
    body = '{"text": "Zażółć 😀", "escaped": "\\ud83d\\ude00", "list": [1, -2.5, true, null]}'

    response = post(web, ECHO, body.encode(), content_type)

    assert response.json()["received"] == {
        "text": "Zażółć 😀",
        "escaped": "😀",
        "list": [1, -2.5, True, None],
    }


@pytest.mark.parametrize("target", [b"/api/v1/probe/report?a=\xff", b"/\xff\xfe"])
def test_a_target_that_is_not_ascii_is_400(web: WebProcess, target: bytes) -> None:
    status, _, body = web.raw(b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

    assert status == 400
    assert json.loads(body)["error"] == "VALIDATION_ERROR"


def test_an_escaped_query_string_that_is_not_utf8_does_no_harm(web: WebProcess) -> None:
    assert web.client.get("/api/v1/probe/report?a=%ff%fe%00").status_code == 200
