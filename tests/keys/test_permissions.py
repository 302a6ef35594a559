"""Permissions of documents: who is not allowed finds, sees, counts and quotes nothing of them."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.conftest import MakeStack
from tests.keys.accounts import forget_accounts
from tests.keys.conftest import ASKS_FOR_KEYS, forget_attempts
from tests.keys.permissions_oracle import (
    HOUSE,
    LOCKED_ACTS,
    Caller,
    House,
    Secret,
    build_house,
    run_requests,
    set_permissions,
)
from tests.support.api import assert_problem, embed, ingest, upload
from tests.support.environment import PROJECT
from tests.support.stack import Stack

WITHOUT_FILTERS = Path(__file__).parent / "without_filters"
LOCKED_TABLES = ("documents_document", "documents_page", "documents_chunk", "documents_ingestitem")


def fill(stack: Stack) -> House:
    forget_attempts(stack)
    return build_house(stack, random.Random(16), documents=14)


@pytest.fixture
def house(_keyed_stack: Stack) -> House:
    """For the tests that only look; they share it."""
    return _keyed_stack.filled(fill)


def hidden_from(house: House, label: str) -> tuple[Caller, Secret]:
    caller = house.callers[label]
    return caller, next(secret for secret in house.secrets if not secret.is_for(caller))


def exact(caller: Caller, word: str) -> list[Any]:
    return list(
        caller.client.post("/v1/search", json={"query": word, "settings": {"mode": "exact"}}).json()[
            "results"
        ]
    )


def test_random_requests_show_nothing_that_the_oracle_hides(house: House):
    run_requests(house, random.Random(1), 120)


def test_whoever_may_read_finds_it_in_every_mode(house: House):
    for caller in house.callers.values():
        for secret in house.secrets[:6]:
            for mode in ("hybrid", "dense", "sparse", "exact"):
                query = secret.word if mode == "exact" else f"The secret word of {secret.topic}"
                body = {"query": query, "collections": [HOUSE], "settings": {"mode": mode, "top_k": 5}}
                found = caller.client.post("/v1/search", json=body).json()["results"]
                is_found = secret.document_id in {one["document_id"] for one in found}
                assert is_found is secret.is_for(caller), (caller.label, mode, secret)


def test_a_limit_counts_only_what_may_be_seen(house: House):
    for caller in house.callers.values():
        readable = {secret.document_id for secret in house.secrets if secret.is_for(caller)}
        body = {"query": "secret word", "settings": {"mode": "dense", "top_k": 50, "rerank": False}}
        found = caller.client.post("/v1/search", json=body).json()["results"]
        assert {one["document_id"] for one in found} == readable, caller.label


def test_a_duplicate_that_the_caller_may_not_read_is_not_named(house: House):
    caller, secret = hidden_from(house, "write key")

    refused = upload(caller.client, secret.text, "x.md", collection=HOUSE)

    assert_problem(refused, 409, "DUPLICATE")
    assert secret.document_id not in refused.text
    known = upload(house.callers["admin key"].client, secret.text, "x.md", collection=HOUSE)
    assert secret.document_id in known.text


def test_an_answer_in_the_cache_is_of_those_who_may_read_it(house: House):
    caller, secret = hidden_from(house, "read key")
    body = {"query": f"What is the secret word of {secret.topic}?", "collections": [HOUSE]}
    for _ in range(2):
        assert secret.word in house.callers["admin key"].client.post("/v1/query", json=body).text
    assert secret.word not in caller.client.post("/v1/query", json=body).text


def test_a_compound_is_put_right_only_by_what_the_caller_may_read(house: House):
    caller, secret = hidden_from(house, "read key")
    body = {"query": f"secret {secret.word[:3]}-{secret.word[3:]}", "collections": [HOUSE]}

    asked = [one.client.post("/v1/query", json=body).json() for one in (house.callers["admin key"], caller)]

    assert [reply["rewritten_query"] for reply in asked] == [f"secret {secret.word}", None]


SHOWN = """
    SELECT (SELECT coalesce(jsonb_agg(id::text), '[]') FROM documents_document) AS documents,
        (SELECT coalesce(jsonb_agg(document_id::text), '[]') FROM documents_page) AS pages,
        (SELECT coalesce(jsonb_agg(document_id::text), '[]') FROM documents_chunk) AS chunks,
        (SELECT coalesce(jsonb_agg(id::text), '[]') FROM documents_entry) AS entries
"""


def test_without_any_filter_the_database_shows_only_what_may_be_read(house: House):
    """Row security alone: a statement that names no reader, for random callers, against the oracle."""
    rng = random.Random(3)
    stack = house.stack
    ids = {row["username"]: row["id"] for row in stack.sql("SELECT username, id FROM auth_user")}
    with psycopg.connect(stack.postgres.url(stack.database), row_factory=dict_row) as connection:
        for _ in range(200):
            name = rng.choice(["ann", "bob", "cyd", "dan", "nobody"])
            groups = tuple(group for group in ("lawyers", "board") if rng.random() < 0.4)
            caller = Caller(name, house.callers["admin key"].client, name, groups)
            named = [f"user:{name}", f"account:{ids.get(name, 0)}", *(f"group:{group}" for group in groups)]
            readable = {secret.document_id for secret in house.secrets if secret.is_for(caller)}

            connection.execute("SELECT documents_read_as(%s::text[])", [named])
            row = connection.execute(SHOWN).fetchone() or {}
            connection.rollback()

            assert {table: set(shown) for table, shown in row.items()} == dict.fromkeys(row, readable)
            assert len(row) == 4


def fill_anew(stack: Stack) -> House:
    return fill(stack)


@pytest.fixture
def changing(_keyed_stack: Stack) -> House:
    """Another one, which tests change: none of them minds what the others did."""
    return _keyed_stack.filled(fill_anew)


def test_the_statistics_do_not_grow_with_what_is_hidden(changing: House):
    path = f"/v1/collections/{changing.collection_id}/stats"
    admin, cyd = changing.callers["admin key"].client, changing.callers["cyd"].client
    before, whole = cyd.get(path).json(), admin.get(path).json()
    assert before.get("storage_bytes", 0) > 0, before
    assert set_permissions(changing, {"visibility": "private"}).status_code == 200
    text = "# Hidden\n\n" + "\n\n".join(f"Nobody is to know of sentence {n} here." for n in range(200))
    ingest(admin, text.encode(), "hidden.md", collection=HOUSE)
    embed(admin)

    assert cyd.get(path).json() == before
    grown = admin.get(path).json()
    assert all(grown[name] > whole[name] for name in ("document_count", "chunk_count", "storage_bytes"))


def test_a_past_question_is_hidden_with_what_it_quotes(changing: House):
    ann = changing.callers["ann"]
    secret = next(one for one in changing.secrets if one.is_for(ann) and one.bringer != "ann")
    body = {"query": f"What is the secret word of {secret.topic}?", "collections": [HOUSE]}
    asked = ann.client.post("/v1/query", json=body).json()
    assert ann.client.get(f"/v1/queries/{asked['query_id']}").status_code == 200

    changing.stack.sql(
        """UPDATE documents_document SET permissions = '{"visibility": "private"}' WHERE id = %s""",
        secret.document_id,
    )

    assert ann.client.get(f"/v1/queries/{asked['query_id']}").status_code == 404
    assert secret.word not in ann.client.get("/v1/queries").text
    assert secret.word not in ann.client.post("/v1/query", json=body).text  # cached before
    assert ann.client.get(f"/v1/conversations/{asked['conversation_id']}").status_code == 404


def test_a_new_version_keeps_the_permissions(changing: House):
    caller, secret = hidden_from(changing, "ann")
    admin = changing.callers["admin key"].client
    file = {"file": ("new.md", b"# New\n\nThe secret is Zanzibarum now.\n")}

    replaced = admin.put(f"/v1/documents/{secret.document_id}", files=file, params={"wait": 30})

    assert replaced.status_code in (200, 202), replaced.text
    job = admin.get(f"/v1/ingest/{replaced.json()['job_id']}", params={"wait": 30}).json()
    assert job["status"] == "completed"
    assert len(exact(changing.callers["admin key"], "Zanzibarum")) == 1
    assert exact(caller, "Zanzibarum") == []
    assert caller.client.get(f"/v1/documents/{secret.document_id}").status_code == 404
    assert caller.client.get(f"/v1/ingest/{replaced.json()['job_id']}").status_code == 404


def test_readers_without_a_visibility_are_the_only_readers(changing: House):
    assert set_permissions(changing, {"allowed_users": ["ann"]}).status_code == 200
    admin = changing.callers["admin key"].client
    body = admin.get(f"/v1/collections/{changing.collection_id}").json()
    assert body["settings"]["default_permissions"] == {"visibility": "restricted", "allowed_users": ["ann"]}
    made = ingest(admin, b"# Late\n\nText.\n", "late.md", collection=HOUSE)["documentId"]

    assert changing.callers["ann"].client.get(f"/v1/documents/{made}").status_code == 200
    assert changing.callers["bob"].client.get(f"/v1/documents/{made}").status_code == 404


@pytest.fixture
def unfiltered(make_module_stack: MakeStack) -> Iterator[Stack]:
    """A stack whose statements have no condition on readers."""
    stack = make_module_stack(
        **ASKS_FOR_KEYS, KNOWLEX_RATE_LIMIT="1000000/min", PYTHONPATH=f"{WITHOUT_FILTERS}:{PROJECT}"
    )
    stack.ensure_running()
    stack.clean()
    forget_accounts(stack)
    yield stack
    forget_accounts(stack)
    for table in LOCKED_TABLES:
        stack.sql(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")


@pytest.mark.parametrize("requests", [120, pytest.param(1000, marks=pytest.mark.slow)])
def test_row_security_alone_shows_nothing_that_the_oracle_hides(unfiltered: Stack, requests: int):
    house = build_house(unfiltered, random.Random(17), documents=14)

    run_requests(house, random.Random(2), requests, LOCKED_ACTS)

    caller, secret = hidden_from(house, "read key")
    for table in LOCKED_TABLES:  # so that it shows that no filter held
        unfiltered.sql(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    assert caller.client.get(f"/v1/documents/{secret.document_id}").status_code == 200
    assert secret.document_id in str(exact(caller, secret.word))


@pytest.fixture(scope="module")
def unlimited(make_module_stack: MakeStack) -> Stack:
    """A stack that nobody asks too often."""
    return make_module_stack(**ASKS_FOR_KEYS, KNOWLEX_RATE_LIMIT="1000000/min")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_ten_thousand_random_requests(unlimited: Stack, seed: int):
    """A thousand of them in each of ten houses."""
    unlimited.ensure_running()
    unlimited.clean()
    forget_accounts(unlimited)
    house = build_house(unlimited, random.Random(seed), documents=24)

    run_requests(house, random.Random(seed), 1000)
