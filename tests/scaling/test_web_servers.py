"""Two web servers behind a load balancer: whichever a request reaches, it is the same Knowlex."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.platform import talk
from tests.scaling.conftest import Hosts
from tests.support import api
from tests.support.pdf import make_pdf
from tests.support.waiting import wait_until

RING = "Consistent hashing places the nodes on a ring. A key belongs to the first node that follows it."
QUESTION = "Where does consistent hashing place the nodes?"
HEIGHT = "The lighthouse of Norderney is 54 metres tall. It was lit in 1874."


def asked(client: httpx.Client, query: str = QUESTION, **how: Any) -> dict[str, Any]:
    reply = client.post("/v1/query", json={"query": query, **how})
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def kept(client: httpx.Client) -> Callable[[], bool]:
    return lambda: bool(asked(client)["cached"])


def test_what_one_takes_in_the_other_answers_from(hosts: Hosts):
    document = api.ingest(hosts.first, make_pdf(RING), "ring.pdf")["documentId"]
    assert api.embed(hosts.second) == 1
    answer = asked(hosts.second)
    assert "ring" in answer["answer"]
    assert [one["document_id"] for one in answer["sources"]] == [document]
    assert api.upload(hosts.second, make_pdf(RING), "ring.pdf").status_code == 409


def test_a_job_of_one_is_followed_through_the_other(hosts: Hosts):
    job = talk.accepted(hosts.first, talk.text(RING, "ring.txt"), key="ring")
    report = talk.ended(hosts.second, job["job_id"])
    assert report["status"] == "completed"
    again = talk.post(hosts.second, talk.text(RING, "ring.txt"), key="ring")
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json()["job_id"] == job["job_id"]


def test_an_answer_is_explained_rated_and_replayed_through_the_other(hosts: Hosts):
    talk.stored(hosts.first, talk.text(RING, "ring.txt"))
    first, second = asked(hosts.first), asked(hosts.first, "Which node does a key belong to?")
    replayed = hosts.second.post(f"/v1/queries/{second['query_id']}/replay", json={})
    assert replayed.status_code == 200, replayed.text
    assert replayed.json()["changes"]["same_answer"]
    rated = hosts.second.post("/v1/feedback", json={"query_id": first["query_id"], "rating": "thumbs_up"})
    assert rated.status_code < 300, rated.text
    assert hosts.second.get(f"/v1/queries/{first['query_id']}").json()["query"] == QUESTION


def test_a_conversation_goes_on_through_the_other(hosts: Hosts):
    talk.stored(hosts.first, talk.text(HEIGHT, "towers.txt"))
    begun = asked(hosts.first, "How tall is the lighthouse of Norderney?")
    then = asked(hosts.second, "When was it lit?", conversation_id=begun["conversation_id"])
    assert "Norderney" in then["rewritten_query"]
    assert "1874" in then["answer"]


@pytest.mark.parametrize("turned", [False, True], ids=["kept by the first", "kept by the second"])
def test_no_kept_answer_outlives_its_document(hosts: Hosts, turned: bool):
    keeps, deletes = (hosts.second, hosts.first) if turned else (hosts.first, hosts.second)
    document = talk.stored(hosts.first, talk.text(RING, "ring.txt"))
    asked(keeps)
    wait_until(kept(keeps), what="a kept answer")
    wait_until(kept(deletes), what="the other's kept answer")
    assert deletes.delete(f"/api/v1/documents/{document}").status_code == 204
    for client in (keeps, deletes):
        gone = asked(client)
        assert not gone["cached"]
        assert not gone["sources"]
        assert api.search(client, QUESTION).json() == []
    assert hosts.stack.stored_files() == []


def test_requests_count_together(hosts: Hosts):
    left = [
        int(client.get("/api/v1/documents").headers["X-RateLimit-Remaining"])
        for client in (hosts.first, hosts.second) * 2
    ]
    assert left == sorted(set(left), reverse=True)


def test_a_login_of_one_holds_at_the_other(hosts: Hosts):
    account = ("--username", "boss", "--email", "boss@example.org")
    hosts.stack.manage(
        "createsuperuser", "--noinput", *account, env={"DJANGO_SUPERUSER_PASSWORD": "correct horse"}
    )
    with httpx.Client(base_url=hosts.first.base_url) as browser:
        browser.get("/admin/login/")
        form = {"username": "boss", "password": "correct horse", "next": "/admin/"}
        token = {"csrfmiddlewaretoken": browser.cookies["csrftoken"]}
        assert browser.post("/admin/login/", data=form | token).status_code == 302
        cookies = dict(browser.cookies)
    with httpx.Client(base_url=hosts.second.base_url, cookies=cookies) as browser:
        there = browser.get("/admin/")
    assert there.status_code == 200
    assert "boss" in there.text
