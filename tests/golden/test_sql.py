"""The SQL of every way to search, as it reaches the database: one file for each request."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import MakeStack
from tests.golden.comparing import assert_golden
from tests.golden.exchanges import Ask, Recorder, body_shown
from tests.golden.statements_sent import LOGGED, log_of, statements_in
from tests.platform import talk
from tests.search.conftest import BREAD, HASHING, RADIO
from tests.support import commands
from tests.support.pdf import make_pdf
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.waiting import wait_until

FILTERS = {
    "tags": ["systems"],
    "metadata": {"year": {"gte": 2019}},
    "page": {"from": 1, "to": 9},
    "date_range": {"start": "2020-01-01"},
}
QUIET = {"KNOWLEX_CACHE": "off", "KNOWLEX_QUERY_LOG": "off", **LOGGED}
MODES = ("hybrid", "dense", "sparse", "exact")
PDF = make_pdf(HASHING, BREAD, RADIO, title="Three pages")


def _search(mode: str, query: str = "node", **fields: Any) -> Ask:
    return Ask("", "POST", "/v1/search", {"query": query, "settings": {"mode": mode}, **fields})


PLAIN = {mode: _search(mode) for mode in MODES}
FILTERED = {f"{mode}-filtered": _search(mode, filters=FILTERS) for mode in MODES}
IN_POSTGRESQL = {
    **PLAIN,
    "exact-several-words": _search("exact", "the keys of that node"),
    "exact-without-a-word": _search("exact", "%"),
    **FILTERED,
    "explained": _search("hybrid", explain="<chunk>"),
    "answered": Ask("", "POST", "/v1/query", {"query": "What happens when a node leaves?"}),
    "embeddings-search": Ask(
        "", "POST", "/api/v1/embeddings/search", b"node", {"Content-Type": "text/plain"}
    ),
}
BY_INDEX = {
    f"{name}-by-index": {**PLAIN, **FILTERED}[name]
    for name in ("hybrid", "dense", "hybrid-filtered", "dense-filtered")
}
IN_ANOTHER_STORE = {
    f"{name}-another-store": {**PLAIN, **FILTERED}[name] for name in ("hybrid", "dense-filtered")
}


class Listener:
    """Asks one server, and tells what that sent to its database."""

    def __init__(self, client: httpx.Client, log: Path, ids: dict[str, str]) -> None:
        self._recorder, self._log = Recorder(client), log
        self._recorder.ids |= ids
        self._met: dict[str, str] = {}
        self._size, self._grew_at = -1, 0.0
        self._warm_up(client)

    def _warm_up(self, client: httpx.Client) -> None:
        """Nothing that a server reads at its start comes in between. What it may remember is not asked."""
        wait_until(lambda: client.get("/health").json()["embedding_model"] == "loaded", what="the model")
        client.post("/v1/search", json={"query": "warm", "filters": {"tags": ["nothing"]}}).raise_for_status()
        wait_until(self._is_silent, what="the server's first statements")

    def _is_silent(self) -> bool:
        """Whether the log has not grown for longer than the server's own chores wait."""
        size, now = self._log.stat().st_size, time.monotonic()
        if size != self._size:
            self._size, self._grew_at = size, now
        return now - self._grew_at > 1.5

    def sent_by(self, name: str, ask: Ask) -> str:
        """One whose text an earlier request has sent is named, and not written again."""
        before = self._log.stat().st_size
        reply = self._recorder.send(ask)
        assert reply.status_code == 200, reply.text
        with self._log.open("rb") as log:
            log.seek(before)
            sent = statements_in(log.read().decode())
        parts = [f"-- {ask.method} {ask.path}", f"-- {body_shown(ask.body)}"]
        for number, (statement, parameters) in enumerate(sent, start=1):
            here = f"{name}.sql, statement {number}"
            first = self._met.setdefault(statement, here)
            parts += ["", f"-- Statement {number}" + ("" if first == here else f", as {first}"), *parameters]
            parts += [statement] if first == here else []
        return self._recorder.masked("\n".join(parts))

    def sent_by_all(self, asks: Mapping[str, Ask]) -> dict[str, str]:
        return {name: self.sent_by(name, ask) for name, ask in asks.items()}


def fill(stack: Stack) -> dict[str, str]:
    """A document of three pages; its id, and that of its first chunk."""
    document = talk.stored(stack.client, talk.file(PDF, "pages.pdf", year=2020, tags=["systems"]))
    chunks = stack.client.get(f"/v1/documents/{document}/chunks").json()["chunks"]
    return {"document": document, "chunk": chunks[0]["id"]}


@pytest.fixture(scope="module")
def sent(make_module_stack: MakeStack, postgres: Postgres) -> dict[str, str]:
    """What each request sent; asked in one go, since what a server has read once it does not read again."""
    stack = make_module_stack(workers=1, **QUIET)
    ids, log = fill(stack), log_of(postgres)
    stack.kill_worker()  # which would speak in between
    listener = Listener(stack.client, log, ids)
    told = listener.sent_by_all(IN_POSTGRESQL)
    with stack.another_web(KNOWLEX_VECTOR_STORE="memory") as client:
        told |= Listener(client, log, ids).sent_by_all(IN_ANOTHER_STORE)
    commands.manage(stack, "vector_index", "build", "--force", "--min-rows", "1")
    stack.sql("UPDATE embeddings_vectorindex SET exact_below = 0")  # else so few rows are read one by one
    return told | listener.sent_by_all(BY_INDEX)


@pytest.mark.parametrize("name", [*IN_POSTGRESQL, *BY_INDEX, *IN_ANOTHER_STORE])
def test_the_statements_of_a_search(sent: dict[str, str], name: str):
    assert_golden(f"sql/{name}.sql", sent[name])
