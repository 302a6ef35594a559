"""/v1/collections over HTTP."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.support.api import UNKNOWN_ID, ask, assert_id, assert_now, assert_problem, embed, ingest, together
from tests.support.stack import Stack

SETTINGS = {
    "embedding_model": "all-MiniLM-L6-v2",
    "chunking_strategy": "sentence",
    "chunk_size": 300,
    "chunk_overlap": 50,
    "similarity_threshold": 0.85,
    "min_chunk_size": 100,
    "default_permissions": {},
}


def make(client: httpx.Client, name: str = "Manuals", **fields: Any) -> dict[str, Any]:
    reply = client.post("/v1/collections", json={"name": name, **fields})
    assert reply.status_code == 201, reply.text
    return dict(reply.json())


def test_a_new_collection_is_empty_and_has_the_defaults(client: httpx.Client):
    reply = client.post("/v1/collections", json={"name": "  Manuals ", "description": "How to"})

    body = reply.json()
    assert reply.status_code == 201
    assert_id(body["id"])
    assert_now(body["created_at"])
    assert reply.headers["Location"] == f"/v1/collections/{body['id']}"
    assert (body["name"], body["description"], body["settings"]) == ("Manuals", "How to", SETTINGS)
    assert (body["document_count"], body["chunk_count"]) == (0, 0)
    assert client.get(reply.headers["Location"]).json() == body


def test_settings_are_kept_and_small_sizes_bring_small_overlaps(client: httpx.Client):
    permissions = {"visibility": "restricted", "allowed_users": ["ann"], "allowed_groups": []}
    given = {"chunking_strategy": "fixed", "chunk_size": 60, "default_permissions": permissions}

    settings = make(client, settings=given)["settings"]

    assert settings == {**SETTINGS, **given, "chunk_overlap": 30, "min_chunk_size": 60}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": None}, "name"),
        ({"name": 5}, "name"),
        ({"name": ""}, "name"),
        ({"name": " \u200b "}, "name"),
        ({"name": "x" * 256}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "a\u202eb"}, "name"),
        ({"name": UNKNOWN_ID}, "name"),
        ({"name": UNKNOWN_ID.replace("-", "")}, "name"),
        ({"name": "a", "description": 1}, "description"),
        ({"name": "a", "description": "x" * 10_001}, "description"),
        ({"name": "a", "settings": None}, "settings"),
        ({"name": "a", "settings": []}, "settings"),
        ({"name": "a", "settings": {"colour": "red"}}, "settings.colour"),
        ({"name": "a", "settings": {"embedding_model": "other"}}, "settings.embedding_model"),
        ({"name": "a", "settings": {"chunking_strategy": "magic"}}, "settings.chunking_strategy"),
        ({"name": "a", "settings": {"chunking_strategy": ["fixed"]}}, "settings.chunking_strategy"),
        ({"name": "a", "settings": {"chunk_size": 19}}, "settings.chunk_size"),
        ({"name": "a", "settings": {"chunk_size": 513}}, "settings.chunk_size"),
        ({"name": "a", "settings": {"chunk_size": "100"}}, "settings.chunk_size"),
        ({"name": "a", "settings": {"chunk_size": 100.0}}, "settings.chunk_size"),
        ({"name": "a", "settings": {"chunk_size": True}}, "settings.chunk_size"),
        ({"name": "a", "settings": {"chunk_size": 100, "chunk_overlap": 51}}, "settings.chunk_overlap"),
        ({"name": "a", "settings": {"chunk_overlap": -1}}, "settings.chunk_overlap"),
        ({"name": "a", "settings": {"similarity_threshold": 1.5}}, "settings.similarity_threshold"),
        ({"name": "a", "settings": {"chunk_size": 50, "min_chunk_size": 60}}, "settings.min_chunk_size"),
        ({"name": "a", "settings": {"default_permissions": []}}, "settings.default_permissions"),
        (
            {"name": "a", "settings": {"default_permissions": {"visibility": "all"}}},
            "settings.default_permissions.visibility",
        ),
        (
            {"name": "a", "settings": {"default_permissions": {"allowed_users": "ann"}}},
            "settings.default_permissions.allowed_users",
        ),
    ],
)
def test_bad_input_names_the_field(client: httpx.Client, body: dict[str, Any], field: str):
    assert_problem(client.post("/v1/collections", json=body), 400, "VALIDATION_ERROR", field=field)


@pytest.mark.parametrize("field", ["permissions", "default_permissions"])
def test_permissions_beside_the_settings_are_refused_and_not_ignored(client: httpx.Client, field: str):
    private = {field: {"visibility": "private"}}
    assert_problem(
        client.post("/v1/collections", json={"name": "a", **private}), 422, "UNPROCESSABLE", field=field
    )
    made = make(client, **{field: {"visibility": "public"}})
    reply = client.patch(f"/v1/collections/{made['id']}", json={"description": "closed", **private})
    assert_problem(reply, 422, "UNPROCESSABLE", field=field)


def test_names_are_unique_also_when_two_race(client: httpx.Client):
    replies = together([lambda: client.post("/v1/collections", json={"name": "Once"})] * 6)

    assert sorted(reply.status_code for reply in replies) == [201] + [409] * 5
    made = next(reply.json()["id"] for reply in replies if reply.status_code == 201)
    for reply in replies:
        if reply.status_code == 409:
            assert assert_problem(reply, 409, "DUPLICATE", field="name")["details"]["collectionId"] == made
    assert_problem(client.post("/v1/collections", json={"name": "default"}), 409, "DUPLICATE")


def test_changing_keeps_what_is_not_named(client: httpx.Client):
    made = make(client, description="old", settings={"chunk_size": 200})
    path = f"/v1/collections/{made['id']}"

    changed = client.patch(path, json={"name": "Guides", "settings": {"chunk_overlap": 10}}).json()

    settings = {**made["settings"], "chunk_overlap": 10}
    assert changed == {**made, "name": "Guides", "settings": settings}
    assert client.get(path).json() == changed
    assert_problem(client.patch(path, json={}), 400)
    assert_problem(client.patch(path, json={"settings": {"chunk_size": 5}}), 400, field="settings.chunk_size")
    make(client, "Other")
    assert_problem(client.patch(path, json={"name": "Other"}), 409, "DUPLICATE", field="name")


def test_default_keeps_its_name_and_follows_the_server(client: httpx.Client):
    (default,) = client.get("/v1/collections", params={"q": "DEFAULT"}).json()["collections"]
    path = f"/v1/collections/{default['id']}"

    assert (default["settings"]["chunking_strategy"], default["settings"]["chunk_size"]) == ("sentence", 300)
    assert_problem(client.patch(path, json={"name": "x"}), 403, "FORBIDDEN")
    assert_problem(client.patch(path, json={"settings": {"chunk_size": 100}}), 403, "FORBIDDEN")
    assert client.patch(path, json={"description": "All of it"}).json()["description"] == "All of it"
    client.patch(path, json={"description": ""})


def test_unknown_and_malformed_ids(client: httpx.Client):
    for path in ("", "/stats"):
        assert_problem(client.get(f"/v1/collections/{UNKNOWN_ID}{path}"), 404, "NOT_FOUND")
        assert_problem(client.get(f"/v1/collections/manuals{path}"), 400, "VALIDATION_ERROR")


def names(client: httpx.Client, **parameters: Any) -> list[str]:
    """All pages' names, one after the other."""
    found: list[str] = []
    while True:
        body = client.get("/v1/collections", params=parameters).json()
        found += [collection["name"] for collection in body["collections"]]
        if body["next_cursor"] is None:
            return found
        parameters["cursor"] = body["next_cursor"]


def test_lists_are_read_page_by_page_in_either_order(client: httpx.Client):
    for name in ("b", "d", "a", "c"):
        make(client, name)

    assert names(client, limit=2) == ["a", "b", "c", "d", "default"]
    assert names(client, limit=1, sort="-name") == ["default", "d", "c", "b", "a"]
    assert names(client, limit=3, sort="created_at") == ["default", "b", "d", "a", "c"]
    assert names(client, limit=3, sort="created_at", order="desc") == ["c", "a", "d", "b", "default"]


def test_no_list_of_collections_ends_at_the_first_page(client: httpx.Client):
    for number in range(52):
        make(client, name=f"c{number:02}")

    first = client.get("/v1/collections").json()

    assert (len(first["collections"]), first["next_cursor"] is not None) == (50, True)
    assert names(client) == [*(f"c{number:02}" for number in range(52)), "default"]
    operation = client.get("/api/schema").json()["paths"]["/v1/collections"]["get"]
    assert "next_cursor" in operation["description"]
    assert {"limit", "cursor"} <= {parameter["name"] for parameter in operation["parameters"]}


def test_a_cursor_holds_while_collections_come_and_go(client: httpx.Client):
    for name in ("b", "c", "d", "e"):
        make(client, name)
    first = client.get("/v1/collections", params={"limit": 2}).json()
    make(client, "a")

    rest = names(client, cursor=first["next_cursor"])

    assert [c["name"] for c in first["collections"]] + rest == ["b", "c", "d", "default", "e"]


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "101"}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"sort": "size"}, "sort"),
        ({"order": "up"}, "order"),
        ({"cursor": "x"}, "cursor"),
        ({"cursor": "WzFd.abc"}, "cursor"),
        ({"q": "x" * 256}, "q"),
    ],
)
def test_bad_parameters_are_told(client: httpx.Client, parameters: dict[str, str], field: str):
    assert_problem(client.get("/v1/collections", params=parameters), 400, "VALIDATION_ERROR", field=field)


def test_a_cursor_of_another_order_is_refused(client: httpx.Client):
    make(client, "a")
    cursor = client.get("/v1/collections", params={"limit": 1}).json()["next_cursor"]

    reply = client.get("/v1/collections", params={"cursor": cursor, "sort": "-name"})

    assert_problem(reply, 400, "VALIDATION_ERROR", field="cursor")


def test_search_takes_text_as_it_is(client: httpx.Client):
    make(client, "100% sure")
    make(client, "100 unsure", description="half_way")

    assert names(client, q="0%") == ["100% sure"]
    assert names(client, q="HALF_") == ["100 unsure"]
    assert names(client, q="_") == ["100 unsure"]


def test_statistics_count_what_is_there_and_what_was_asked(server: Stack, sample_pdf):
    client, made = server.client, make(server.client)
    data = sample_pdf("The lamp is green. It stands in the hall.")
    ingest(client, data, collection="Manuals")
    embed(client)
    ask(client, "Where is the lamp?", collection="Manuals")
    ask(client, "Where is the lamp?", collection=made["id"])
    path = f"/v1/collections/{made['id']}/stats"

    stats = client.get(path).json()

    assert stats["query_count_30d"] == 2
    assert UUID(stats["collection_id"]) == UUID(made["id"])
    assert (stats["document_count"], stats["chunk_count"]) == (1, 1)
    assert 5 < stats["total_tokens"] < 30
    assert len(data) + 384 * 4 < stats["storage_bytes"] < len(data) + 384 * 4 + 2000
    assert sum(stats["documents_by_status"].values()) == 1
    assert stats["documents_by_type"] == {"pdf": 1}
    assert client.get(f"/v1/collections/{made['id']}").json()["chunk_count"] == 1


def test_other_methods_are_refused_and_options_tells_which_serve(client: httpx.Client):
    reply = client.put("/v1/collections", json={})
    assert_problem(reply, 405, "METHOD_NOT_ALLOWED")
    assert set(reply.headers["Allow"].split(", ")) == {"GET", "HEAD", "POST", "OPTIONS"}
    assert client.options("/v1/collections").status_code == 204
    assert client.head("/v1/collections").status_code == 200
    assert_problem(client.post("/v1/collections", content="name=a"), 415, "UNSUPPORTED_MEDIA_TYPE")
