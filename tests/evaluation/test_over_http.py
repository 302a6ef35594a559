"""Question sets are uploaded, evaluations run in the background, figures are read: over HTTP."""

import xml.etree.ElementTree as ET

import httpx

from tests.evaluation.sets import (
    UNANSWERABLE,
    ended,
    evaluate,
    lighthouses,
    line,
    read,
    upload,
    uploaded,
)
from tests.support.api import UNKNOWN_ID, assert_problem
from tests.support.stack import Stack

PLAIN = {"name": "dense", "settings": {"mode": "dense", "threshold": 0}}
HYBRID = {"name": "hybrid", "settings": {"top_k": 10, "rrf_k": 30, "dense_weight": 0.6}}


def test_a_set_is_stored_shown_and_deleted(client: httpx.Client):
    made = upload(client, *(line(n) for n in range(5)), description="Five lights")
    assert made.status_code == 201
    body = made.json()
    assert made.headers["Location"] == f"/v1/question_sets/{body['id']}"
    assert (body["question_count"], body["description"], body["collection"]) == (5, "Five lights", None)

    page = client.get(made.headers["Location"], params={"limit": 3}).json()
    rest = client.get(made.headers["Location"], params={"limit": 3, "cursor": page["next_cursor"]}).json()
    keys = [one["id"] for one in (*page["questions"], *rest["questions"])]
    assert (keys, rest["next_cursor"]) == ([f"light-{n}" for n in range(5)], None)
    assert page["questions"][0]["document"] == "lights.pdf"

    assert_problem(upload(client, line(1)), 409, "DUPLICATE")
    assert client.get("/v1/question_sets", params={"q": "LIGHT"}).json()["question_sets"] == [body]
    assert client.delete(made.headers["Location"]).json() == {"deleted": True, "questions_removed": 5}
    assert_problem(client.get(made.headers["Location"]), 404)


def test_a_set_as_one_json_object(client: httpx.Client):
    reply = client.post("/v1/question_sets", json={"name": "json", "questions": [line(1), line(2)]})

    assert (reply.status_code, reply.json()["question_count"]) == (201, 2)
    again = client.post("/v1/question_sets", json={"name": "more", "questions": [line(1), line(1)]})
    assert_problem(again, 400, "VALIDATION_ERROR")
    assert again.json()["details"] == {"line": 2, "field": "id"}
    assert client.get("/v1/question_sets").json()["question_sets"][0]["name"] == "json"


def test_hostile_uploads_are_refused_whole(client: httpx.Client):
    def post(content: bytes, kind: str = "application/x-ndjson", **params: str) -> httpx.Response:
        return client.post(
            "/v1/question_sets", content=content, params=params, headers={"Content-Type": kind}
        )

    good = b'{"question": "a", "doc": "b"}\n'
    bad = post(good + b'{"question": "a\n', name="x")
    assert_problem(bad, 400, "VALIDATION_ERROR")
    assert bad.json()["details"] == {"line": 2}
    assert_problem(post(good), 400)
    assert_problem(post(b"", name="x"), 400)
    assert_problem(post(good, "text/csv", name="x"), 415)
    assert_problem(post(good, name="0190" + UNKNOWN_ID[4:]), 400)
    assert_problem(post(good, name="x" * 256), 400)
    assert_problem(post(good, name="x", collection="nowhere"), 404)
    assert_problem(post(b'{"question": "' + b"x" * 300_000 + b'"}', name="x"), 400)
    assert_problem(post(good * 10_001, name="x"), 400)
    assert_problem(post(b" " * (16 * 1024 * 1024 + 1), name="x"), 413)
    too_large = b'{"name": "x", "questions": [' + b" " * 1024 * 1024 + b"]}"
    assert_problem(post(too_large, "application/json"), 413)
    assert client.get("/v1/question_sets").json() == {"question_sets": [], "next_cursor": None}


def test_two_configurations_are_run_and_compared(client: httpx.Client, server: Stack):
    lights = lighthouses(client)
    questions = [line(n) for n in range(0, 40, 4)]
    questions.append({"id": "nothing", "question": UNANSWERABLE, "answerable": False})
    uploaded(client, *questions, collection="Lighthouses")

    run = evaluate(client, question_set="lights", configurations=[PLAIN, HYBRID], answers=True)
    body = ended(client, run)

    assert (body["status"], body["error"]) == ("completed", None)
    assert body["progress"] == {"total": 11, "done": 11}
    assert body["collections"] == [{"id": lights, "name": "Lighthouses"}]
    dense, hybrid = body["configurations"]
    assert (dense["name"], hybrid["settings"], dense["errors"]) == ("dense", HYBRID["settings"], 0)
    assert hybrid["metrics"]["hit@10"]["n"] == 10
    assert hybrid["metrics"]["hit@5"]["value"] == 1
    assert hybrid["metrics"]["answer_accuracy"]["value"] >= 0.9
    assert hybrid["metrics"]["abstention_on_unanswerable"] == {
        **hybrid["metrics"]["abstention_on_unanswerable"],
        "value": 1,
        "n": 1,
    }
    assert dense["metrics"]["abstention_on_unanswerable"]["value"] == 0  # its threshold lets all pass
    assert hybrid["metrics"]["latency_p95_ms"]["value"] > 0
    assert hybrid["reliability"]
    difference = body["differences"]["hit@1"]
    assert difference["difference"] == round(
        hybrid["metrics"]["hit@1"]["value"] - dense["metrics"]["hit@1"]["value"], 4
    )
    assert difference["better"] + difference["worse"] + difference["equal"] == 10

    first = [one for one in body["results"] if one["id"] == "light-0"]
    assert [one["configuration"] for one in first] == ["dense", "hybrid"]
    assert first[1]["found"][0]["document"] == "lights.pdf"
    assert first[1]["expected_answers"][0] in first[1]["answer"]
    missing = read(client, run, failing="abstention_on_unanswerable")["results"]
    assert [(one["id"], one["answered"]) for one in missing] == [("nothing", True), ("nothing", False)]

    picture = client.get(body["plot"])
    assert picture.headers["Content-Type"] == "image/svg+xml"
    assert "nDCG@10" in "".join(ET.fromstring(picture.text).itertext())

    listed = client.get("/v1/evaluations", params={"status": "completed"}).json()["evaluations"]
    assert [one["id"] for one in listed] == [run]
    document = server.sql("SELECT id FROM documents_document")[0]["id"]
    assert client.delete(f"/api/v1/documents/{document}").status_code == 204
    assert {one["answer"] for one in read(client, run)["results"]} == {None}
    assert client.delete(f"/v1/collections/{lights}").status_code == 200
    assert_problem(client.get(f"/v1/evaluations/{run}"), 404)
    assert server.count("rag_evaluationresult") == server.count("rag_setquestion") == 0


def test_an_evaluation_that_cannot_be_is_refused_with_its_field(client: httpx.Client):
    uploaded(client, line(1))

    def field_of(status: int = 400, **body: object) -> str:
        reply = client.post("/v1/evaluations", json={"question_set": "lights", **body})
        assert_problem(reply, status)
        return str(reply.json()["details"]["field"])

    one = {"name": "a", "settings": {}}
    assert field_of(404, question_set="nothing") == "question_set"
    assert field_of(question_set=None) == "question_set"
    assert field_of(404, collections=["nowhere"]) == "collections"
    assert field_of(collections="default") == "collections"
    assert field_of(answers="yes") == "answers"
    assert field_of(configurations=[]) == "configurations"
    assert field_of(configurations=[one, one]) == "configurations[1].name"
    assert field_of(configurations=[one, {**one, "name": "b"}, {**one, "name": "c"}]) == "configurations"
    assert field_of(configurations=[{**one, "settings": {"top_k": 0}}]) == "configurations[0].settings.top_k"
    assert field_of(configurations=[{**one, "settings": {"mode": "x"}}]) == "configurations[0].settings.mode"
    assert field_of(configurations=[{**one, "settings": {"depth": 1}}]) == "configurations[0].settings"
    assert field_of(configurations=[{**one, "settings": {"threshold": 2}}]) == (
        "configurations[0].settings.threshold"
    )
    gone = [{**one, "settings": {"embedding_model": "nobody's"}}]
    assert_problem(
        client.post("/v1/evaluations", json={"question_set": "lights", "configurations": gone}), 404
    )


def test_a_collection_without_documents_gives_zeros_and_no_failure(client: httpx.Client):
    uploaded(client, line(1))
    body = ended(client, evaluate(client, question_set="lights"))

    (default,) = body["configurations"]
    assert (body["status"], default["name"], default["metrics"]["hit@10"]["value"]) == (
        "completed",
        "default",
        0,
    )
    assert body["differences"] is None
    assert "answer_accuracy" not in default["metrics"]
