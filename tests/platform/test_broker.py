"""Jobs when nothing can be queued."""

import time

from tests.platform.talk import ended, post, text
from tests.support.stack import Stack


def test_a_job_is_taken_on_at_once_while_the_broker_is_away(server: Stack):
    server.stop_broker(kill=True)

    started = time.monotonic()
    reply = post(server.client, text("The lamp is green."))
    took = time.monotonic() - started
    server.ensure_running()

    assert reply.status_code == 200
    assert took < 5
    assert ended(server.client, reply.json()["job_id"])["status"] == "completed"
