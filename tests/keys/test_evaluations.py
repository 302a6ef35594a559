"""Who may upload sets and run evaluations. Routes at large: test_every_route.py."""

import httpx

from tests.evaluation.sets import line, upload, uploaded
from tests.keys.key_factory import as_key, make_key
from tests.platform.talk import collection
from tests.support.api import assert_problem
from tests.support.stack import Stack


def test_what_each_kind_of_key_may_do(keyed: Stack):
    stack = keyed
    admin, reader = as_key(stack, make_key(stack, "admin")), as_key(stack, make_key(stack, "read"))
    for name in ("ours", "theirs"):
        collection(admin, name)
    ours = as_key(stack, make_key(stack, "write", collections=["ours"]))

    everyones = uploaded(admin, line(1), name="everyone's")
    assert_problem(upload(reader, line(1), name="mine"), 403)
    assert_problem(upload(ours, line(1), name="mine"), 403)
    assert_problem(upload(ours, line(1), name="mine", collection="theirs"), 403)
    mine = uploaded(ours, line(1), name="mine", collection="ours")

    assert [one["id"] for one in ours.get("/v1/question_sets").json()["question_sets"]] == [mine]
    assert len(reader.get("/v1/question_sets").json()["question_sets"]) == 2
    assert_problem(ours.get(f"/v1/question_sets/{everyones}"), 404)
    assert_problem(ours.delete(f"/v1/question_sets/{everyones}"), 404)

    with keyed.paused_worker():
        runs(admin, ours, reader, mine, everyones)


def runs(admin: httpx.Client, ours: httpx.Client, reader: httpx.Client, mine: str, everyones: str) -> None:
    run = {"question_set": mine}
    assert_problem(reader.post("/v1/evaluations", json=run), 403)
    assert_problem(ours.post("/v1/evaluations", json={**run, "collections": ["theirs"]}), 403)
    assert_problem(ours.post("/v1/evaluations", json={"question_set": everyones}), 404)
    wide = admin.post("/v1/evaluations", json={**run, "collections": ["ours", "theirs"]}).json()["id"]
    narrow = ours.post("/v1/evaluations", json=run).json()
    assert [one["name"] for one in narrow["collections"]] == ["ours"]
    assert [one["id"] for one in ours.get("/v1/evaluations").json()["evaluations"]] == [narrow["id"]]
    assert_problem(ours.get(f"/v1/evaluations/{wide}/plot.svg"), 404)
    assert_problem(reader.delete(f"/v1/evaluations/{narrow['id']}"), 403)
    assert reader.get(f"/v1/evaluations/{narrow['id']}").json()["status"] == "pending"
    assert ours.delete(f"/v1/evaluations/{narrow['id']}").status_code == 200
