"""F50, F51: two that start at once, on a database of an older release, while people read."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import httpx
import pytest

from tests.support import processes
from tests.support.api import ask, embed, ingest
from tests.support.environment import PROJECT
from tests.support.stack import Stack
from tests.support.texts import facts_pdf, question
from tests.support.waiting import wait_until

# Of what is written down after an answer: the running server, which is of this release, answers without it.
MIGRATIONS = sorted(file.stem for file in (PROJECT / "rag" / "migrations").glob("0*.py"))
APPLIED = f"app = 'rag' AND name = '{MIGRATIONS[-1]}'"
STARTS_AT_ONCE = 2


@pytest.fixture
def older(server: Stack) -> Iterator[Stack]:
    """A running Knowlex whose database lacks the latest migration of answers, and any account."""
    ingest(server.client, facts_pdf(5))
    embed(server.client)
    server.manage("migrate", "rag", MIGRATIONS[-2])
    server.sql("TRUNCATE auth_user CASCADE")
    yield server
    if not server.count("django_migrations", APPLIED):
        server.manage("migrate")


def test_f50_f51_two_starts_at_once_migrate_once_and_nobody_is_kept_from_reading(older: Stack):
    over = Event()

    def read(number: int) -> set[int]:
        statuses = set()
        with httpx.Client(base_url=older.url, timeout=30) as client:
            while not over.is_set():
                statuses.add(client.get("/api/v1/documents").status_code)
                statuses.add(ask(client, question(number)).status_code)
        return statuses

    logs = [older.folder / f"start{number}.log" for number in range(STARTS_AT_ONCE)]
    command = [sys.executable, str(PROJECT / "manage.py"), "prepare"]
    with ThreadPoolExecutor(4) as readers:
        reading = [readers.submit(read, number) for number in range(4)]
        try:
            starts = [processes.start(command, env=older.env, log=log) for log in logs]
            wait_until(lambda: not any(map(processes.runs, starts)), 60, "both to be ready")
        finally:
            over.set()
    said = [log.read_text() for log in logs]
    assert [start.returncode for start in starts] == [0] * STARTS_AT_ONCE, said
    assert set().union(*(one.result() for one in reading)) == {200}
    assert older.count("django_migrations", APPLIED) == 1
    assert older.count("auth_user") == 1
