"""`manage.py vector_store check|repair`: what it finds, what it mends, and with what code it ends."""

import pytest

from tests.outbox.looking import Chroma, active_model, chunk_ids, compared
from tests.support.api import embed, ingest
from tests.support.stack import Stack
from tests.support.texts import facts_pdf

STRANGER = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.fixture
def stored(outside: Stack) -> Stack:
    """With some thirty vectors in the store."""
    ingest(outside.client, facts_pdf(60))
    embed(outside.client)
    return outside


def test_repair_mends_a_store_that_somebody_has_been_at(stored: Stack, chroma: Chroma):
    model = active_model(stored)
    records = chroma.records(model)
    lost, moved, changed, *_ = sorted(records)
    vector, payload = records[moved]
    chroma.remove(model, lost)
    chroma.put(model, moved, like=vector, payload=payload | {"collection_id": STRANGER})
    chroma.put(model, changed, like=vector, payload=payload | {"chunk_hash": "0" * 64})
    chroma.put(model, STRANGER, like=vector, payload=payload)
    code, told = compared(stored)
    (space,) = told["spaces"]
    found = {kind: space[kind] for kind in ("missing", "strange", "elsewhere", "other_text", "waiting")}
    assert found == {"missing": 1, "strange": 1, "elsewhere": 1, "other_text": 1, "waiting": 0}
    assert space["sample"] == {
        "missing": [lost],
        "strange": [STRANGER],
        "elsewhere": [moved],
        "other_text": [changed],
    }
    assert (code, told["ok"]) == (1, False)

    code, told = compared(stored, "repair")
    assert (code, told["ok"]) == (0, True), told
    assert chroma.points(model) == {id_: payload for id_, (_, payload) in records.items()}


def test_vectors_of_another_making_are_found_out_and_sent_anew(stored: Stack, chroma: Chroma):
    model = active_model(stored)
    records = chroma.records(model)
    for id_, (vector, payload) in records.items():
        chroma.put(model, id_, like=[*vector[1:], vector[0]], payload=payload)
    code, told = compared(stored)
    (space,) = told["spaces"]
    assert (code, space["other_vector"], space["missing"]) == (1, 20, 0)
    assert set(space["sample"]["other_vector"]) <= set(records)

    assert compared(stored, "repair")[0] == 0
    assert {id_: vector for id_, (vector, _) in chroma.records(model).items()} == {
        id_: pytest.approx(vector, abs=1e-6) for id_, (vector, _) in records.items()
    }


def test_repair_fills_a_store_that_was_wiped_and_drops_what_a_removed_model_left(
    stored: Stack, chroma: Chroma
):
    model = active_model(stored)
    stored.sql("SELECT nextval('embeddings_embeddingmodel_id_seq')")
    gone = stored.sql("SELECT last_value AS n FROM embeddings_embeddingmodel_id_seq")[0]["n"]
    chroma.wipe()
    chroma.make(gone)
    chroma.put(gone, STRANGER, like=[1.0, 2.0], payload={"chunk_id": STRANGER})
    code, told = compared(stored)
    assert code == 1
    assert {one["model_id"]: (one["missing"], one["strange"]) for one in told["spaces"]} == {
        model: (len(chunk_ids(stored)), 0),
        gone: (0, 1),
    }
    assert compared(stored, "repair")[0] == 0
    assert set(chroma.points(model)) == chunk_ids(stored)
    assert len(chroma.collections()) == 1


def test_what_waits_in_the_outbox_is_told_and_is_no_difference(stored: Stack):
    with stored.paused_worker():
        first = min(chunk_ids(stored))
        stored.sql("DELETE FROM embeddings_embedding WHERE chunk_id = %s", first)
        code, told = compared(stored)
    assert (code, told["ok"], told["waiting"]) == (0, True, 1)


def test_without_a_store_outside_there_is_nothing_to_compare(server: Stack):
    assert "nothing to compare" in server.manage("vector_store", "check")
    code, told = compared(server, "repair")
    assert (code, told["store"]) == (0, None)


def test_whoever_finds_strangers_hears_of_the_other_knowlex_before_a_repair(stored: Stack, chroma: Chroma):
    model = active_model(stored)
    vector, payload = next(iter(chroma.records(model).values()))
    chroma.put(model, STRANGER, like=vector, payload=payload)
    with pytest.raises(AssertionError, match="another VECTOR_STORE_COLLECTION first"):
        stored.manage("vector_store", "check")


def test_a_shell_that_does_not_name_the_store_in_use_is_not_told_that_all_is_well(outside: Stack):
    with pytest.raises(AssertionError, match="set KNOWLEX_VECTOR_STORE and VECTOR_STORE_URL"):
        outside.manage("vector_store", "check", env={"KNOWLEX_VECTOR_STORE": ""})
