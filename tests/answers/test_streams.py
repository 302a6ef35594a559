"""Streamed answers of all faces over HTTP: the same answers as plain ones, and how they fail and end."""

import json
import re
from typing import Any

import httpx
import pytest

from tests.answers.asking import QUESTION, Library, block_with, events_in, platform, streamed, text_of
from tests.support.api import BOOK_NO_ANSWER, NO_ANSWER, assert_problem, leave
from tests.support.stack import Stack
from tests.support.waiting import wait_until

FACES = [("/v1/query", "query"), ("/query", "query"), ("/query", "question"), ("/api/v1/rag/ask", "query")]
CHANGING = {"latency_ms", "stage_times_ms", "stageTimesMs", "processingTimeMs", "query_id", "queryId"}
CHANGING |= {"conversation_id", "cached"}
STREAM = {"Accept": "text/event-stream"}


def several_claims(prompt: Any) -> str:
    steps, tall = block_with(prompt, "253 steps"), block_with(prompt, "54 metres tall")
    borkum = block_with(prompt, "60 metres tall")
    return (
        f"**It has 253 steps** [{steps}]. The lighthouse of Norderney is 54 metres tall [{tall}]."
        f" The lighthouse of Borkum is 60 metres tall [{borkum}]. It was lit in 1879 [{borkum}]."
    )


def lasting(value: Any) -> Any:
    """Without what differs from asking to asking."""
    if isinstance(value, dict):
        return {name: lasting(one) for name, one in value.items() if name not in CHANGING}
    return [lasting(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("path", "field"), FACES)
def test_a_streamed_answer_is_the_plain_one(library: Library, path: str, field: str):
    library.provider.says(several_claims)
    plain = library.client.post(path, json={field: QUESTION}).json()
    events = streamed(library.client, path, **{field: QUESTION})
    names = [name for name, _ in events]
    assert names[-2:] == ["sources", "done"]
    assert set(names[:-2]) == {"token"}
    done, sources = events[-1][1], events[-2][1]
    assert text_of(events) == done["answer"] == plain["answer"]
    assert done["query_id"]
    kept = {**plain, **({"sources": None} if path == "/v1/query" else {})}
    expected = {name: one for name, one in kept.items() if one is not None or name != "sources"}
    assert lasting(done) == lasting(expected)
    listed = next(name for name in ("citedDocuments", "sourceChunks", "sources") if name in plain)
    assert sources[listed] == sources["sources"] == plain[listed]


@pytest.mark.parametrize(("path", "field"), FACES)
def test_not_enough_is_one_token_with_the_sentence(library: Library, path: str, field: str):
    library.provider.says("refusal")
    events = streamed(library.client, path, **{field: QUESTION})
    sentence = BOOK_NO_ANSWER if field == "question" else NO_ANSWER
    assert events[0] == ("token", {"text": sentence})
    assert [name for name, _ in events] == ["token", "sources", "done"]
    assert events[1][1]["sources"] == []
    assert events[2][1]["answer"] == sentence


@pytest.mark.parametrize(("path", "field"), FACES)
def test_done_has_the_answer_where_what_was_written_cites_nothing(library: Library, path: str, field: str):
    library.provider.says("The lighthouse of Norderney is 54 metres tall [99].")
    plain = library.client.post(path, json={field: QUESTION}).json()
    _, done = streamed(library.client, path, **{field: QUESTION})[-1]

    assert done["answer"] == plain["answer"] == (BOOK_NO_ANSWER if field == "question" else NO_ANSWER)


def test_the_stream_is_not_to_be_stored_or_buffered(library: Library):
    reply = library.client.post("/v1/query", json={"query": QUESTION}, headers=STREAM)
    assert reply.headers["Cache-Control"] == "no-cache, no-transform"
    assert reply.headers["X-Accel-Buffering"] == "no"
    assert reply.headers["X-Request-ID"]
    assert "X-RateLimit-Remaining" in reply.headers
    assert "Content-Length" not in reply.headers
    for block in reply.text.split("\n\n")[:-1]:
        assert re.fullmatch(r"event: \w+\ndata: [^\n\r]+", block)


ACCEPTED = {
    "text/event-stream": True,
    "TEXT/Event-Stream; q=0.9, application/json;q=0.1": True,
    "text/event-stream, */*": True,
    "*/*, text/event-stream": True,
    "text/event-stream, application/json": True,
    "application/json, text/event-stream": False,
    "application/json, text/event-stream;q=0.9": False,
    "text/event-stream;q=0": False,
    "*/*": False,
    "text/*": True,
    "": False,
    "text/html": False,
    "nonsense;;q=x,,": False,
}


def test_accept_decides(provider_server: Stack):
    for accept, stream in ACCEPTED.items():
        reply = provider_server.client.post("/query", json={"query": QUESTION}, headers={"Accept": accept})
        assert reply.status_code == 200
        assert reply.headers["Content-Type"].startswith("text/event-stream") == stream, accept


def test_the_setting_streaming_is_heeded_where_the_client_takes_it(library: Library):
    wanted = {"settings": {"streaming": True}}
    assert events_in(platform(library.client, **wanted).text)[-1][0] == "done"
    reply = library.client.post(
        "/v1/query", json={"query": QUESTION, **wanted}, headers={"Accept": "application/json"}
    )
    assert reply.json()["answer"]


@pytest.mark.parametrize(("path", "field"), FACES)
def test_a_failure_before_the_first_token_is_a_plain_error(library: Library, path: str, field: str):
    def send(**request: Any) -> httpx.Response:
        return library.client.post(path, headers={**STREAM, **request.pop("headers", {})}, **request)

    library.provider.rule("status", status=401, on="chat")
    reply = send(json={field: QUESTION})
    assert_problem(reply, 500 if path == "/api/v1/rag/ask" else 503)
    assert_problem(send(json={field: " "}), 400)
    assert_problem(send(content=b"{}", headers={"Content-Type": "text/plain"}), 415)
    assert_problem(library.client.get(path, headers=STREAM), 405, "METHOD_NOT_ALLOWED")


def test_the_model_is_let_go_when_the_reader_leaves(library: Library):
    provider = library.provider
    provider.hold(on="chat")
    leave(
        library.stack.url, "/v1/query", {"query": QUESTION}, when=lambda: provider.wait_held("chat"), **STREAM
    )
    wait_until(lambda: provider.abandoned, 6.0, "the upstream call to end")  # 2 s, and patience


def test_a_stored_answer_is_streamed_as_it_was(library: Library):
    library.provider.says(several_claims)
    plain = platform(library.client).json()
    reply = library.client.post("/v1/query", json={"query": QUESTION}, headers=STREAM)
    events = events_in(reply.text)
    assert text_of(events) == plain["answer"]
    assert events[-1][1]["cached"]
    assert len(library.provider.calls("chat")) == 1


def test_the_access_line_tells_the_whole_stream(library: Library):
    def line() -> dict[str, Any] | None:
        lines = [one for one in library.stack.log("web").splitlines() if request_id in one]
        found = [json.loads(one) for one in lines if '"knowlex.access"' in one]
        return found[0] if found else None

    library.provider.takes(0.3)
    reply = library.client.post("/v1/query", json={"query": QUESTION}, headers=STREAM)
    request_id = reply.headers["X-Request-ID"]
    told = wait_until(line, what="the access line")
    assert told["status"] == 200
    assert told["path"] == "/v1/query"
    assert told["duration_ms"] >= 290
