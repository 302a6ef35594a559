"""Searches that read from a streaming replica find what the primary has, whatever becomes of it."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pytest

from tests.platform import talk
from tests.scaling.replication import PRIMARY, replica_of
from tests.support import api, environment
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.waiting import wait_until

RING = "Consistent hashing places the nodes on a ring. A key belongs to the first node that follows it."
TEA = "Green tea steeps for two minutes at eighty degrees. Boiling water makes it bitter."
WHERE = "Where does consistent hashing place the nodes?"
LONG = "How long does green tea steep?"


@dataclass(frozen=True, slots=True)
class Replicated:
    stack: Stack
    replica: Postgres

    def found(self, text: str) -> list[str]:
        reply = self.stack.client.post("/v1/search", json={"query": text})
        assert reply.status_code == 200, reply.text
        return [one["document_id"] for one in reply.json()["results"]]

    def reads(self, outcome: str) -> float:
        """Statements that ended so: "replica", "behind" or "away"."""
        page = self.stack.client.get("/metrics").text
        told = re.search(rf'knowlex_replica_reads_total{{outcome="{outcome}"}} (\S+)', page)
        return float(told[1]) if told else 0.0

    def comes_from_replica(self, text: str = WHERE) -> bool:
        before = self.reads("replica")
        self.found(text)
        return self.reads("replica") > before

    def on_replica(self, query: str) -> None:
        self.replica.execute(query, database=self.stack.database)


@pytest.fixture(scope="module")
def replicated() -> Iterator[Replicated]:
    primary = Postgres(environment.FOLDER / "primary", **PRIMARY)
    replica = replica_of(primary, environment.FOLDER / "replica")
    stack = Stack(primary, environment.FOLDER / "replicated", workers=1, env={})
    stack.env["DATABASE_READ_URL"] = replica.url(stack.database)
    try:
        with stack:
            yield Replicated(stack, replica)
    finally:
        replica.stop(crash=True)
        primary.stop(crash=True)


@pytest.mark.slow
def test_a_replica_answers_what_it_has_and_the_primary_the_rest(replicated: Replicated) -> None:
    client = replicated.stack.client
    ring = talk.stored(client, talk.text(RING, "ring.txt"))
    wait_until(replicated.comes_from_replica, what="a search that the replica answers")
    assert replicated.found(WHERE) == [ring]

    replicated.on_replica("SELECT pg_wal_replay_pause()")
    tea = talk.stored(client, talk.text(TEA, "tea.txt"))
    assert tea in replicated.found(LONG)
    assert client.delete(f"/v1/documents/{ring}").status_code < 300
    behind = replicated.reads("behind")
    for _ in range(5):
        assert replicated.found(WHERE) == [tea]
    assert replicated.reads("behind") >= behind + 5

    replicated.on_replica("SELECT pg_wal_replay_resume()")
    wait_until(lambda: replicated.comes_from_replica(LONG), what="the replica again")
    assert replicated.found(LONG) == [tea]


@pytest.mark.slow
def test_nobody_waits_long_for_a_replica_that_hangs(replicated: Replicated) -> None:
    tea = talk.stored(replicated.stack.client, talk.text(TEA + " It is loose.", "loose.txt"))
    wait_until(lambda: replicated.comes_from_replica(LONG), what="a search that the replica answers")
    with replicated.replica.hanging():
        began = time.monotonic()
        found = api.together([partial(replicated.found, LONG)] * 40)
        took_s = time.monotonic() - began
    assert all(tea in ids for ids in found)
    assert took_s < 10  # of which the replica is waited for twice 2 s at most, however many ask
    wait_until(lambda: replicated.comes_from_replica(LONG), 30, "the replica again")


@pytest.mark.slow
def test_nobody_fails_while_the_replica_is_gone(replicated: Replicated) -> None:
    tea = talk.stored(replicated.stack.client, talk.text(TEA + " It is green.", "green.txt"))
    wait_until(lambda: replicated.comes_from_replica(LONG), what="a search that the replica answers")
    replicated.replica.stop(crash=True)
    for _ in range(5):
        assert tea in replicated.found(LONG)
    assert replicated.reads("away") >= 5
    replicated.replica.start()
    wait_until(lambda: replicated.comes_from_replica(LONG), 30, "the replica again")
