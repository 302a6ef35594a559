"""What is recorded of questions that fail and of answers that are streamed, with a chat model."""

import time
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest

from tests.answers.asking import QUESTION, Library, make_library, platform, streamed
from tests.conftest import MakeStack
from tests.provider import Provider
from tests.support import environment
from tests.support.api import UNKNOWN_ID, ask, assert_problem
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.waiting import wait_until


def library_of(stack: Stack, provider: Provider) -> Library:
    library = make_library(stack, provider)
    library.client.get("/v1/queries")  # what earlier tests asked is written now
    stack.sql("TRUNCATE rag_query CASCADE")
    return library


def test_questions_that_fail_are_recorded_with_their_code(provider_server: Stack, provider: Provider):
    library = library_of(provider_server, provider)
    provider.rule("status", status=401, on="chat")
    assert ask(library.client, QUESTION).status_code == 500
    assert platform(library.client).status_code == 503

    first, second = library.client.get("/v1/queries", params={"answered": "false"}).json()["queries"]

    assert (first["error"], first["face"], first["query"]) == ("SYNTHESIS_FAILED", "platform", QUESTION)
    assert (second["error"], second["face"]) == ("SYNTHESIS_FAILED", "ask")
    told = library.client.get(f"/v1/queries/{first['query_id']}").json()
    assert (told["answer"], told["reason"], told["usage"], told["citations"]) == (None, None, None, [])
    replayed = library.client.post(f"/v1/queries/{first['query_id']}/replay", json={})
    assert_problem(replayed, 503, "SERVICE_UNAVAILABLE")
    provider.reset()
    healed = library.client.post(f"/v1/queries/{first['query_id']}/replay", json={}).json()
    assert (bool(healed["citations"]), healed["changes"]["same_answer"]) == (True, None)


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_failure_tells_the_id_under_which_it_is_recorded(
    provider_server: Stack, provider: Provider, accept: str
):
    library = library_of(provider_server, provider)
    provider.rule("status", status=401, on="chat")

    def failed(path: str, **body: str) -> str:
        reply = library.client.post(path, json=body, headers={"Accept": accept})
        assert reply.status_code in (500, 503)
        return reply.headers.get("X-Query-ID", "")

    faces = [
        ("/v1/query", "query"),
        ("/query", "query"),
        ("/query", "question"),
        ("/api/v1/rag/ask", "query"),
    ]
    ids = [failed(path, **{field: QUESTION}) for path, field in faces]
    ids.append(failed(f"/v1/queries/{ids[0]}/replay"))

    recorded = library.client.get("/v1/queries").json()["queries"]
    assert [one["query_id"] for one in recorded] == ids[::-1]
    assert {one["error"] for one in recorded} == {"SYNTHESIS_FAILED"}
    for body in ({"query": ""}, {"query": QUESTION, "collections": ["none"]}):
        assert "X-Query-ID" not in library.client.post("/v1/query", json=body).headers
    assert "X-Query-ID" not in library.client.post(f"/v1/queries/{UNKNOWN_ID}/replay").headers


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_question_whose_client_left_is_recorded(provider_server: Stack, provider: Provider, accept: str):
    library = library_of(provider_server, provider)
    provider.speaks_in(4)
    provider.hold_stream(4) if "stream" in accept else provider.hold(on="chat")
    headers = {"Accept": accept, "Cache-Control": "no-cache"}
    begun = ""
    with suppress(httpx.ReadTimeout):
        asked = library.client.stream(
            "POST", "/v1/query", json={"query": QUESTION}, headers=headers, timeout=1
        )
        with asked as reply:
            begun = reply.headers["X-Query-ID"]
    wait_until(lambda: provider.abandoned, 5, "the model to be let go")

    (one,) = wait_until(lambda: library.client.get("/v1/queries").json()["queries"], 5, "the record")
    assert (one["error"], one["answered"], one["answer"]) == ("CLIENT_LEFT", False, None)
    assert one["query_id"] == (begun or one["query_id"])
    said = {"query_id": one["query_id"], "rating": "thumbs_down"}
    assert library.client.post("/v1/feedback", json=said).status_code == 200


def test_an_answer_that_was_told_is_recorded_as_one_whatever_its_reader_does(
    provider_server: Stack, provider: Provider
):
    library = library_of(provider_server, provider)
    for _ in range(2):  # from the model, and from the cache
        streamed(library.client, "/v1/query", query=QUESTION)

    recorded = library.client.get("/v1/queries").json()["queries"]
    assert [(one["error"], one["answered"]) for one in recorded] == [(None, True)] * 2


def test_a_streamed_answer_is_there_when_done_has_come(provider_server: Stack, provider: Provider):
    library = library_of(provider_server, provider)

    _, done = streamed(library.client, "/v1/query", query=QUESTION)[-1]

    told = library.client.get(f"/v1/queries/{done['query_id']}").json()
    assert (told["answer"], told["usage"]) == (done["answer"], done["usage"])
    assert [one["quoted_text"] for one in told["citations"]] == [
        one["quoted_text"] for one in done["citations"]
    ]


def test_logs_hold_neither_questions_nor_answers_nor_comments(provider_server: Stack, provider: Provider):
    library = library_of(provider_server, provider)
    asked = platform(library.client, "How tall is the lighthouse of Norderney, Xyzzy?").json()
    library.client.post("/v1/feedback", json={"query_id": asked["query_id"], "comment": "Plugh indeed."})
    assert library.client.get(f"/v1/queries/{asked['query_id']}").json()["feedback"]["comment"]

    log = provider_server.log("web")

    assert "Xyzzy" not in log
    assert "Plugh" not in log
    assert asked["answer"] not in log


@pytest.mark.slow
def test_off_means_that_nothing_is_kept(make_stack: MakeStack):
    stack = make_stack(workers=0, KNOWLEX_QUERY_LOG="off")
    asked = platform(stack.client).json()

    unknown = stack.client.get(f"/v1/queries/{asked['query_id']}")
    assert_problem(unknown, 404, "NOT_FOUND")
    assert "KNOWLEX_QUERY_LOG is off" in unknown.json()["message"]
    said = stack.client.post("/v1/feedback", json={"query_id": asked["query_id"], "rating": "thumbs_up"})
    assert_problem(said, 404, "NOT_FOUND")
    assert stack.client.get("/v1/queries").json()["queries"] == []
    assert stack.count("rag_query") == 0


@pytest.fixture
def cluster() -> Iterator[Postgres]:
    own = Postgres(environment.FOLDER / "memory")
    yield own
    own.stop(crash=True)


@pytest.mark.slow
def test_the_database_goes_and_comes_and_the_server_ends(cluster: Postgres, make_stack: MakeStack):
    """What was answered before is recorded later, readers are told within 5 s, and the last is not lost."""
    stack = make_stack(workers=0, cluster=cluster)
    first, second = platform(stack.client).json()["query_id"], platform(stack.client).json()["query_id"]
    cluster.stop(crash=True)
    started = time.monotonic()
    assert_problem(stack.client.get(f"/v1/queries/{second}"), 503, "SERVICE_UNAVAILABLE")
    assert time.monotonic() - started < 6
    cluster.start()

    def found() -> bool:
        replies = [stack.client.get(f"/v1/queries/{query_id}") for query_id in (first, second)]
        assert {reply.status_code for reply in replies} <= {200, 503}  # never a 404
        return all(reply.status_code == 200 for reply in replies)

    wait_until(found, 30, "the records")
    last = platform(stack.client).json()["query_id"]
    stack.terminate_web()
    assert stack.count("rag_query", f"id = '{last}'") == 1
