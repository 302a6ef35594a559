"""What the clients do when the network, the server or something in between fails."""

import re
import time
from collections.abc import Callable

import pytest

from knowlex_client import (
    ConnectionFailed,
    Knowlex,
    RateLimited,
    Retry,
    ServerFailed,
    UnexpectedAnswer,
)
from tests.client.conftest import Either
from tests.client.relay import relay
from tests.support.servers import port_of_nobody
from tests.support.stack import Stack

QUICK = Retry(base_s=0.01)
LAMP = ("lamp.txt", b"The lamp in the hall is green. It was hung there in 1931.")
MakeClient = Callable[..., Either]


def test_an_ingest_whose_answer_was_lost_is_repeated_and_done_once(server: Stack, make_client: MakeClient):
    with relay(server.port, "lost", "lost") as between:
        ingested = make_client(between.url, retry=QUICK).ingest(LAMP, wait=False)

    keys = re.findall(rb"(?i)idempotency-key: (\w+)", b"".join(between.requests))
    assert (len(keys), len(set(keys))) == (3, 1)
    assert [str(job.job_id) for job in ingested.jobs] == [
        job["job_id"] for job in server.client.get("/v1/ingest").json()["jobs"]
    ]


@pytest.mark.parametrize("fate", ["refused", "lost", "halved", "bad gateway"])
def test_a_question_is_asked_again(server: Stack, make_client: MakeClient, fate: str):
    make_client(server.url).ingest(LAMP)
    with relay(server.port, fate, fate) as between:
        answer = make_client(between.url, retry=QUICK).ask("What colour is the lamp in the hall?")
    assert "green" in answer.answer


def test_tries_end(server: Stack, make_client: MakeClient):
    with relay(server.port, *["bad gateway"] * 9) as between, pytest.raises(ServerFailed) as raised:
        make_client(between.url, retry=QUICK).search("lamp")
    assert between.connections == QUICK.tries
    assert (raised.value.status, raised.value.code) == (502, "HTTP_502")
    with port_of_nobody() as port, pytest.raises(ConnectionFailed, match="cannot be reached"):
        make_client(f"http://127.0.0.1:{port}", retry=QUICK).search("lamp")


@pytest.mark.parametrize("fate", ["lost", "bad gateway"])
def test_what_may_have_been_done_is_not_done_again(server: Stack, make_client: MakeClient, fate: str):
    with relay(server.port, fate) as between:
        client = make_client(between.url, retry=QUICK)
        with pytest.raises((ConnectionFailed, ServerFailed)):
            client.create_collection("Manuals")
    assert between.connections == 1


def test_a_stream_that_breaks_off_is_an_error(server: Stack, make_client: MakeClient):
    make_client(server.url).ingest(LAMP)
    with relay(server.port, "unfinished") as between, pytest.raises(ConnectionFailed):
        make_client(between.url, retry=QUICK).stream("What colour is the lamp in the hall?")


def test_another_server_is_told(server: Stack, make_client: MakeClient):
    with relay(server.port, "another's page") as between, pytest.raises(UnexpectedAnswer):
        make_client(between.url).ask("What colour is the lamp?")


def test_a_refusal_is_waited_out_and_told_where_that_takes_too_long(server: Stack, make_client: MakeClient):
    with relay(server.port, "busy", "busy") as between:
        started = time.monotonic()
        make_client(between.url).create_collection("Manuals")  # nothing was done before
        assert time.monotonic() - started > 2
    with relay(server.port, "busy") as between, pytest.raises(RateLimited) as raised:
        make_client(between.url, retry=Retry(max_wait_s=0.5)).collections()
    assert (raised.value.code, raised.value.retry_after_s) == ("RATE_LIMITED", 1)


@pytest.mark.slow  # a second web server; the fast variant is above
def test_the_servers_own_rate_limit_is_waited_for(server: Stack):
    with server.another_web(KNOWLEX_RATE_LIMIT="2/s") as web, Knowlex(str(web.base_url)) as client:
        assert [len(list(client.collections())) for _ in range(7)] == [1] * 7
        with Knowlex(str(web.base_url), retry=Retry(max_wait_s=0)) as hasty, pytest.raises(RateLimited):
            [list(hasty.collections()) for _ in range(50)]


def test_pauses_double_and_are_bounded():
    retry = Retry(tries=4, base_s=1, max_wait_s=10)
    assert 0.5 <= (retry.pause(1, 0, None) or 0) <= 1
    assert 2 <= (retry.pause(3, 0, None) or 0) <= 4
    assert retry.pause(4, 0, None) is None
    assert retry.pause(1, 0, 10) == 10
    assert retry.pause(1, 0, 11) is None
    assert retry.pause(1, 5, 6) is None
