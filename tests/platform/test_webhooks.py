"""Addresses that are told of ends: what is sent and signed, tried again, refused, and never lost."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import httpx
import pytest

from documents.webhooks import EVENTS, MAX_ATTEMPTS, sign
from knowlex.runtime.secrets import SecretLost, decrypt_secret, encrypt_secret
from tests.conftest import MakeStack
from tests.evaluation.sets import evaluate, line, uploaded
from tests.keys.key_factory import as_key, make_key
from tests.platform import talk
from tests.support.api import UNKNOWN_ID, assert_problem
from tests.support.environment import PROJECT
from tests.support.stack import Stack
from tests.support.waiting import wait_until

NOTE = "The weir of Otterburn was built in 1821."
MAKE_DUE = (
    "UPDATE documents_webhookdelivery SET due_at = now(), leased_until = now() WHERE status = 'pending'"
)


class Receiver:
    """A program that is told. statuses: of the next answers, else 204. hold: answers wait until it is set."""

    def __init__(self) -> None:
        self.messages: list[tuple[dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        self.hold = Event()
        self.hold.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.messages.append(({k.lower(): v for k, v in self.headers.items()}, body))
                receiver.hold.wait(60)
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 204)
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/told"
        Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.hold.set()
        self.server.shutdown()
        self.server.server_close()

    def ids(self) -> Counter[str]:
        """Which messages came, and how often."""
        return Counter(headers["webhook-id"] for headers, _ in self.messages)

    def wait(self, count: int = 1) -> list[dict[str, Any]]:
        """The bodies, once so many have come."""
        wait_until(lambda: len(self.messages) >= count, what=f"{count} messages")
        return [json.loads(body) for _, body in self.messages]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with closing(Receiver()) as running:
        yield running


@pytest.fixture(scope="module")
def _told_stack(make_module_stack: MakeStack) -> Stack:
    return make_module_stack(KNOWLEX_URL_ALLOWED_HOSTS="127.0.0.1", KNOWLEX_REQUIRE_API_KEY="true")


@pytest.fixture
def stack(_told_stack: Stack) -> Stack:
    _told_stack.ensure_running()
    _told_stack.clean()
    return _told_stack


@pytest.fixture
def admin(stack: Stack) -> httpx.Client:
    return as_key(stack, make_key(stack, "admin"))


def hooked(client: httpx.Client, url: str, *events: str) -> dict[str, Any]:
    reply = client.post("/v1/webhooks", json={"url": url, **({"events": events} if events else {})})
    assert reply.status_code == 201, reply.text
    return dict(reply.json())


def last_delivery(client: httpx.Client, webhook: dict[str, Any]) -> dict[str, Any]:
    deliveries = client.get(f"/v1/webhooks/{webhook['id']}").json()["deliveries"]
    return dict(deliveries[0]) if deliveries else {}


def ended_as(client: httpx.Client, webhook: dict[str, Any], status: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        delivery = last_delivery(client, webhook)
        return delivery if delivery.get("status") == status else None

    return wait_until(look, what=f"a delivery that is {status}")


def assert_signed(secret: str, headers: dict[str, str], body: bytes) -> None:
    """By the program that docs/webhooks.md gives to readers."""
    program = re.search(r"```python\n(.*?)```", (PROJECT / "docs/webhooks.md").read_text(), re.DOTALL)
    assert program
    given: dict[str, Any] = {}
    exec(program[1], given)
    assert given["is_ours"](headers, body, secret)
    assert not given["is_ours"](headers, body + b" ", secret)
    assert not given["is_ours"]({**headers, "webhook-timestamp": "1614265330"}, body, secret)


def test_the_signature_is_that_of_standard_webhooks():
    """By the example of its libraries' tests."""
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    headers = sign(body, message_id="msg_p5jXN8AQM9LWM0D4loKWxJek", secret=secret, at=1614265330)
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_is_read_by_its_own_key_and_purpose_alone(settings: Any):
    stored = encrypt_secret("whsec_x", purpose="webhooks")
    assert "whsec" not in stored
    assert decrypt_secret(stored, purpose="webhooks") == "whsec_x"
    with pytest.raises(SecretLost):
        decrypt_secret(stored, purpose="sources")
    settings.SECRET_KEY = "another"
    with pytest.raises(SecretLost):
        decrypt_secret(stored, purpose="webhooks")


def test_the_end_of_a_job_is_told_and_again_after_a_retry(
    stack: Stack, admin: httpx.Client, receiver: Receiver
):
    """Jobs that had ended before the webhook was made are told nobody."""
    talk.ingested(admin, talk.text("An old note.", "old.txt"))
    wait_until(lambda: stack.count("documents_ingestjob", "told_at IS NOT NULL") == 1, what="the sweep")
    webhook = hooked(admin, receiver.url)
    assert webhook["events"] == list(EVENTS)
    broken = talk.file(b"%PDF-1.4 broken", "broken.pdf")
    job = talk.ingested(admin, talk.text(NOTE, "note.txt"), broken)

    (told,) = receiver.wait()
    assert told["type"] == "job.ended"
    assert told["data"]["job_id"] == job["job_id"]
    assert (told["data"]["status"], told["data"]["total"], told["data"]["failed"]) == ("completed", 2, 1)
    assert told["data"]["collection"] == "default"
    assert NOTE not in json.dumps(told)
    headers, body = receiver.messages[0]
    assert headers["content-type"] == "application/json"
    assert_signed(webhook["secret"], headers, body)
    delivery = ended_as(admin, webhook, "delivered")
    assert (delivery["id"], delivery["response_status"]) == (headers["webhook-id"], 204)
    assert (delivery["attempts"], delivery["error"]) == (1, None)

    assert admin.post(f"/v1/ingest/{job['job_id']}/retry").status_code == 202
    assert receiver.wait(2)[1]["data"]["job_id"] == job["job_id"]
    assert receiver.messages[1][0]["webhook-id"] != headers["webhook-id"]
    stored = stack.sql("SELECT secret FROM documents_webhook")[0]["secret"]
    assert webhook["secret"] not in stored
    for path in ("/v1/webhooks", f"/v1/webhooks/{webhook['id']}"):
        assert "whsec_" not in admin.get(path).text


def test_evaluations_and_syncs_are_told_to_who_wants_them(
    stack: Stack, admin: httpx.Client, receiver: Receiver
):
    with closing(Receiver()) as other:
        hooked(admin, receiver.url, "evaluation.ended")
        hooked(admin, other.url, "sync.ended")
        talk.ingested(admin, talk.text(NOTE, "note.txt"))
        set_id = uploaded(admin, line(1), collection="default")
        run = evaluate(admin, question_set=set_id)
        publishing = "from documents.webhooks import *; publish(SYNC_ENDED, {'added': 3})"
        stack.manage("shell", "-c", publishing)
        (told,) = receiver.wait()
        assert (told["type"], told["data"]["evaluation_id"]) == ("evaluation.ended", run)
        assert (told["data"]["status"], told["data"]["total"]) == ("completed", 1)
        (told,) = other.wait()
        assert (told["type"], told["data"]) == ("sync.ended", {"added": 3})


def test_what_fails_is_sent_again_the_same_and_given_up_in_the_end(
    stack: Stack, admin: httpx.Client, receiver: Receiver
):
    """A redirect is a failure, too."""
    receiver.statuses = [302, 503]
    webhook = hooked(admin, receiver.url)
    talk.ingested(admin, talk.text(NOTE, "note.txt"))
    receiver.wait()
    delivery = wait_until(lambda: (one := last_delivery(admin, webhook))["error"] and one)
    assert (delivery["status"], delivery["attempts"]) == ("pending", 1)
    assert (delivery["response_status"], delivery["error"]) == (302, "The address answered 302.")
    assert delivery["due_at"] > delivery["created_at"]

    stack.sql("UPDATE documents_webhookdelivery SET attempts = %s, due_at = now()", MAX_ATTEMPTS - 1)
    delivery = ended_as(admin, webhook, "failed")
    assert (delivery["attempts"], delivery["response_status"]) == (MAX_ATTEMPTS, 503)
    assert delivery["ended_at"]
    assert len(receiver.messages) == 2
    assert len({body for _, body in receiver.messages}) == 1
    assert len({headers["webhook-id"] for headers, _ in receiver.messages}) == 1
    for headers, body in receiver.messages:
        assert_signed(webhook["secret"], headers, body)


def test_a_killed_worker_loses_no_message_and_a_slow_address_holds_up_itself_alone(
    stack: Stack, admin: httpx.Client, receiver: Receiver
):
    with closing(Receiver()) as quick:
        receiver.hold.clear()
        hooked(admin, receiver.url)
        hooked(admin, quick.url)
        for number in range(2):
            talk.accepted(admin, talk.text(f"{NOTE} Number {number}.", f"note{number}.txt"))
        quick.wait(2)
        delivered = "status = 'delivered'"
        wait_until(lambda: stack.count("documents_webhookdelivery", delivered) == 2, what="the quick ones")
        assert len(receiver.ids()) == 1
        stack.kill_worker()
        receiver.hold.set()
        stack.start_worker()
        stack.sql(MAKE_DUE)  # else its lease ends half a minute later
        wait_until(lambda: stack.count("documents_webhookdelivery", delivered) == 4, what="the slow ones")
        assert max(receiver.ids().values()) >= 2  # once more, with the same id
        assert len(receiver.ids()) == 2
        assert list(quick.ids().values()) == [1, 1]


def test_addresses_obey_the_rules_of_fetching(stack: Stack, admin: httpx.Client):
    """Those written as addresses are refused at once, names when they are resolved."""
    for url in (
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://2130706433/",
        "http://hooks.example:8080/",
        "http://ann:secret@hooks.example/",
        "ftp://hooks.example/",
        "hooks.example",
    ):
        assert_problem(admin.post("/v1/webhooks", json={"url": url}), 400, "VALIDATION_ERROR", field="url")
    inner = hooked(admin, "http://localhost/told")
    talk.ingested(admin, talk.text(NOTE, "note.txt"))
    delivery = wait_until(lambda: (one := last_delivery(admin, inner)).get("error") and one)
    assert "not on the public internet" in delivery["error"]
    assert (delivery["status"], delivery["response_status"]) == ("pending", None)


def test_a_webhook_is_listed_changed_and_deleted_with_what_it_was_to_be_told(
    stack: Stack, admin: httpx.Client, receiver: Receiver
):
    receiver.statuses = [500] * 9
    first, second = hooked(admin, receiver.url), hooked(admin, "https://hooks.example/b", "sync.ended")
    page = admin.get("/v1/webhooks", params={"limit": 1}).json()
    assert [one["id"] for one in page["webhooks"]] == [second["id"]]
    rest = admin.get("/v1/webhooks", params={"limit": 1, "cursor": page["next_cursor"]}).json()
    assert ([one["id"] for one in rest["webhooks"]], rest["next_cursor"]) == ([first["id"]], None)

    changed = admin.patch(f"/v1/webhooks/{second['id']}", json={"url": receiver.url, "events": ["job.ended"]})
    assert (changed.json()["url"], changed.json()["events"]) == (receiver.url, ["job.ended"])
    talk.ingested(admin, talk.text(NOTE, "note.txt"))
    receiver.wait(2)
    assert_signed(second["secret"], *next(m for m in receiver.messages if is_for(stack, m, second)))
    for one in (first, second):
        assert admin.delete(f"/v1/webhooks/{one['id']}").status_code == 204
        assert_problem(admin.get(f"/v1/webhooks/{one['id']}"), 404, "NOT_FOUND")
    assert stack.count("documents_webhookdelivery") == 0
    assert_problem(admin.delete(f"/v1/webhooks/{UNKNOWN_ID}"), 404, "NOT_FOUND")


def is_for(stack: Stack, message: tuple[dict[str, str], bytes], webhook: dict[str, Any]) -> bool:
    mine = f"id = '{message[0]['webhook-id']}' AND webhook_id = '{webhook['id']}'"
    return stack.count("documents_webhookdelivery", mine) == 1


def test_only_admin_keys_of_all_collections_have_webhooks(stack: Stack, admin: httpx.Client):
    made = hooked(admin, "https://hooks.example/")
    for key in (
        make_key(stack, "read"),
        make_key(stack, "write"),
        make_key(stack, "admin", collections=["default"]),
    ):
        client = as_key(stack, key)
        for method, path, body in (
            ("GET", "/v1/webhooks", None),
            ("POST", "/v1/webhooks", {"url": "https://hooks.example/"}),
            ("GET", f"/v1/webhooks/{made['id']}", None),
            ("PATCH", f"/v1/webhooks/{made['id']}", {"events": ["job.ended"]}),
            ("DELETE", f"/v1/webhooks/{made['id']}", None),
        ):
            assert_problem(client.request(method, path, json=body), 403, "FORBIDDEN")
    assert len(admin.get("/v1/webhooks").json()["webhooks"]) == 1
