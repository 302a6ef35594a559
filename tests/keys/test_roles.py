"""What accounts may do: roles in collections, by themselves and by groups, keys of accounts, own history."""

from uuid import UUID

import httpx
import pytest

from documents.access import Access
from documents.accounts.rights import limit_to_key, read_account
from knowlex.base.ids import new_id
from tests.keys.accounts import OWN_PAGE, give_group, log_in, make_account
from tests.keys.key_factory import as_key, make_key
from tests.keys.routes import CHANGING, Side
from tests.keys.test_every_route import READING, ROUTES, everything, make_side, send
from tests.support.api import assert_problem, upload
from tests.support.stack import Stack
from tests.support.waiting import wait_until

LISTS = {
    "/v1/documents": "documents",
    "/v1/collections": "collections",
    "/v1/ingest": "jobs",
    "/v1/queries": "queries",
    "/v1/conversations": "conversations",
    "/v1/question_sets": "question_sets",
    "/v1/evaluations": "evaluations",
    "/v1/sources": "sources",
}
NOTICED_S = 5


@pytest.fixture
def sides(house: Stack) -> tuple[Side, Side]:
    """(ours, theirs)"""
    return make_side(house, "ours", "Quellenwort"), make_side(house, "theirs", "Zanzibarum")


def questions(reply: httpx.Response) -> list[str]:
    return [one["query"] for one in reply.json()["queries"]]


def test_another_account_reaches_nothing_by_any_route(house: Stack, sides: tuple[Side, Side]):
    """As a key that is bound to another collection: named 403, ids 404, and never a word."""
    make_account(house, "ann", {"ours": "manage"})
    theirs, client = sides[1], log_in(house, "ann")
    before = everything(house, theirs)

    for route in ROUTES:
        for method in sorted(set(route.methods) - {"HEAD", "OPTIONS"}):
            reply = send(client, method, route, theirs)
            assert theirs.marker not in reply.text, f"{method} {route.path}: {reply.text[:300]}"
            if (method, route.path) == ("POST", "/mcp"):  # a tool's failure is a result
                assert "FORBIDDEN" in reply.text, reply.text[:300]
            elif route.names_id(method) or route.names_collection(method):
                assert reply.status_code == route.refusal(method), (
                    f"{method} {route.path}: {reply.text[:300]}"
                )

    assert everything(house, theirs) == before


def test_no_list_shows_an_account_a_word_of_another_collection(house: Stack, sides: tuple[Side, Side]):
    make_account(house, "ann", {"ours": "manage"})
    theirs, client = sides[1], log_in(house, "ann")

    for path in LISTS:
        for params in ({}, {"collection": theirs.name}, {"q": theirs.marker}, {"job_id": theirs.job_id}):
            reply = client.get(path, params=params)
            assert theirs.marker not in reply.text, f"{path} {params}: {reply.text[:300]}"
            assert theirs.document_id not in reply.text
    counted = client.get("/v1/collections").json()["collections"]
    assert [(one["name"], one["document_count"]) for one in counted] == [("ours", 2)]


@pytest.mark.parametrize("mode", ["hybrid", "dense", "sparse"])
def test_searches_and_answers_hold_nothing_of_another_collection(
    house: Stack, sides: tuple[Side, Side], mode: str
):
    make_account(house, "ann", {"ours": "read"})
    own, theirs = sides
    client = log_in(house, "ann")

    for path in ("/v1/search", "/v1/query"):
        reply = client.post(
            path, json={"query": f"What is {theirs.marker} or {own.marker}?", "settings": {"mode": mode}}
        )
        assert reply.status_code == 200, reply.text
        assert own.document_id in reply.text
        assert theirs.document_id not in reply.text


def test_an_account_reads_what_it_may_read(house: Stack, sides: tuple[Side, Side]):
    """So that the silence above is not that of empty hands."""
    make_account(house, "ann", {"ours": "read"})
    own, client = sides[0], log_in(house, "ann")

    for path in ("", "/chunks", "/pages", "/pages/1", "/highlights", "/file"):
        assert client.get(f"/v1/documents/{own.document_id}{path}").status_code == 200, path
    assert own.marker in client.get("/v1/documents").text
    assert own.marker in client.get(f"/v1/documents/{own.document_id}/file").text


def test_a_reader_changes_nothing_by_any_route_whatever_it_may_elsewhere(
    house: Stack, sides: tuple[Side, Side]
):
    make_account(house, "ann", {"ours": "read", "theirs": "manage"})
    own, client = sides[0], log_in(house, "ann")
    before = everything(house, own)

    for route in ROUTES:
        for method in sorted(set(CHANGING) & set(route.methods)):
            names = route.names_collection(method) or route.names_id(method)
            if not names or (method == "POST" and route.path in READING) or "query_id" in route.parameters:
                continue
            assert_problem(send(client, method, route, own), 403, "FORBIDDEN")
    assert client.post("/api/v1/embeddings/generate").status_code == 200  # of what it may write to

    assert everything(house, own) == before
    assert house.count("embeddings_embedding", f"collection_id = '{sides[1].collection_id}'") == 2


def test_a_reader_of_all_is_refused_before_the_body_is_read(house: Stack, sides: tuple[Side, Side]):
    make_account(house, "ann", {"ours": "read"})
    reply = log_in(house, "ann").post("/v1/ingest", content=b"no JSON at all")
    assert "role" in assert_problem(reply, 403, "FORBIDDEN")["message"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/v1/webhooks", "Webhooks hear of all collections: this needs an admin key"),
        ("/metrics", "Metrics are of all collections; you may use only some."),
    ],
)
def test_what_no_role_allows_is_not_said_to_need_one(house: Stack, path: str, said: str):
    make_account(house, "ann", {"ours": "read"})
    assert assert_problem(log_in(house, "ann").get(path), 403, "FORBIDDEN")["message"].startswith(said)


@pytest.mark.parametrize(("role", "changes", "manages"), [("write", 201, 403), ("manage", 201, 200)])
def test_writers_add_and_managers_also_delete_the_collection(
    house: Stack, sides: tuple[Side, Side], role: str, changes: int, manages: int
):
    make_account(house, "ann", {"ours": role})
    client, path = log_in(house, "ann"), f"/v1/collections/{sides[0].collection_id}"

    assert upload(client, b"# New\n\nText.\n", "new.md", collection="ours").status_code == changes
    assert client.delete(f"/v1/documents/{sides[0].document_id}").status_code == 200
    assert client.patch(path, json={"description": "new"}).status_code == manages
    assert client.delete(path).status_code == manages


def test_the_greatest_role_counts_and_groups_bring_theirs(house: Stack, sides: tuple[Side, Side]):
    make_account(house, "ann", {"ours": "read"}, groups=["lawyers", "clerks"])
    make_account(house, "bob")
    give_group(house, "lawyers", "write", "ours")
    give_group(house, "clerks", "read", "theirs")
    ann, bob = log_in(house, "ann"), log_in(house, "bob")

    assert upload(ann, b"# New\n\nText.\n", "new.md", collection="ours").status_code == 201
    assert upload(ann, b"# New\n\nText.\n", "new.md", collection="theirs").status_code == 403
    assert {one["name"] for one in ann.get("/v1/collections").json()["collections"]} == {"ours", "theirs"}
    assert bob.get("/v1/collections").json()["collections"] == []


def test_a_role_that_was_taken_away_is_gone_within_seconds(house: Stack, sides: tuple[Side, Side]):
    make_account(house, "ann", {"ours": "manage"})
    client = log_in(house, "ann")
    assert client.get("/v1/documents").json()["documents"] != []

    house.sql("DELETE FROM documents_collectionmember")

    wait_until(lambda: client.get("/v1/documents").json()["documents"] == [], NOTICED_S, "the empty list")


def test_an_account_in_no_collection_sees_empty_lists(house: Stack, sides: tuple[Side, Side]):
    make_account(house, "ann")
    client = log_in(house, "ann")

    for path, name in LISTS.items():
        reply = client.get(path)
        assert (reply.status_code, reply.json()[name]) == (200, []), f"{path}: {reply.text}"
    assert client.post("/v1/search", json={"query": "What is Quellenwort?"}).json()["results"] == []
    answered = client.post("/v1/query", json={"query": "What is Quellenwort?"})
    assert answered.status_code == 200
    assert "Quellenwort is" not in answered.text
    assert_problem(client.get("/metrics"), 403, "FORBIDDEN")


# What needs no collection


def test_only_staff_and_superusers_make_collections(house: Stack):
    make_account(house, "ann", {"default": "manage"})
    make_account(house, "sam", staff=True)
    make_account(house, "root", superuser=True)

    assert_problem(log_in(house, "ann").post("/v1/collections", json={"name": "a"}), 403, "FORBIDDEN")
    staff = log_in(house, "sam")
    made = staff.post("/v1/collections", json={"name": "sam's"})
    assert made.status_code == 201
    assert [one["name"] for one in staff.get("/v1/collections").json()["collections"]] == ["sam's"]
    assert staff.delete(f"/v1/collections/{made.json()['id']}").status_code == 200
    assert log_in(house, "root").post("/v1/collections", json={"name": "b"}).status_code == 201


def test_only_superusers_make_question_sets_of_no_collection(house: Stack, sides: tuple[Side, Side]):
    make_account(house, "sam", {"ours": "write", "theirs": "read"}, staff=True)
    make_account(house, "root", superuser=True)
    staff, root = log_in(house, "sam"), log_in(house, "root")
    one = {"questions": [{"question": "What?", "answers": ["that"]}]}

    assert_problem(staff.post("/v1/question_sets", json={"name": "a", **one}), 403, "FORBIDDEN")
    assert staff.post("/v1/question_sets", json={"name": "b", "collection": "ours", **one}).status_code == 201
    theirs = {"name": "c", "collection": "theirs", **one}
    assert_problem(staff.post("/v1/question_sets", json=theirs), 403, "FORBIDDEN")
    assert root.post("/v1/question_sets", json={"name": "d", **one}).status_code == 201


def test_a_superuser_may_do_everything(house: Stack, sides: tuple[Side, Side]):
    make_account(house, "root", superuser=True)
    client = log_in(house, "root")

    assert {one["name"] for one in client.get("/v1/collections").json()["collections"]} == {
        "default",
        "ours",
        "theirs",
    }
    assert client.delete(f"/v1/collections/{sides[1].collection_id}").status_code == 200


# Keys of accounts


def keep_key(stack: Stack, user_id: int, scope: str = "admin", **options: object) -> httpx.Client:
    key = make_key(stack, scope, **options)  # type: ignore[arg-type]
    stack.sql("UPDATE documents_apikey SET user_id = %s WHERE prefix = %s", user_id, key[:11])
    return as_key(stack, key)


def test_a_key_never_does_more_than_its_account(house: Stack, sides: tuple[Side, Side]):
    ann = make_account(house, "ann", {"ours": "read"})
    key = keep_key(house, ann)

    assert [one["name"] for one in key.get("/v1/collections").json()["collections"]] == ["ours"]
    assert upload(key, b"# New\n\nText.\n", "new.md", collection="ours").status_code == 403
    assert_problem(key.get(f"/v1/collections/{sides[1].collection_id}"), 403, "FORBIDDEN")
    assert_problem(key.post("/v1/collections", json={"name": "a"}), 403, "FORBIDDEN")
    house.sql("UPDATE documents_collectionmember SET role = 'write'")
    assert upload(key, b"# New\n\nText.\n", "new.md", collection="ours").status_code == 201


def test_nor_does_it_more_than_it_was_made_for(house: Stack, sides: tuple[Side, Side]):
    ann = make_account(house, "ann", {"ours": "manage", "theirs": "manage"})
    root = make_account(house, "root", superuser=True)
    reader, bound = keep_key(house, ann, "read"), keep_key(house, ann, collections=["theirs"])

    assert upload(reader, b"# New\n\nText.\n", "new.md", collection="ours").status_code == 403
    assert [one["name"] for one in bound.get("/v1/collections").json()["collections"]] == ["theirs"]
    assert bound.get(f"/v1/documents/{sides[0].document_id}").status_code == 404
    assert keep_key(house, root, "read").post("/v1/collections", json={"name": "a"}).status_code == 403
    narrow = keep_key(house, root, collections=["ours"])
    assert narrow.get(f"/v1/documents/{sides[1].document_id}").status_code == 404


def test_a_key_ends_with_its_account(house: Stack):
    ann = make_account(house, "ann", {"default": "read"})
    key = keep_key(house, ann)
    assert key.get("/v1/documents").status_code == 200

    house.sql("UPDATE auth_user SET is_active = false")

    assert_problem(key.get("/v1/documents"), 401, "UNAUTHORIZED")


def test_whoever_asks_is_known_by_its_principals():
    mine, other = new_id(), new_id()
    row = {
        "user_id": 7,
        "username": "ann",
        "is_staff": False,
        "is_superuser": False,
        "memberships": [[str(mine), "read"], [str(mine), "manage"], [str(other), "write"]],
        "groups": ["clerks", "lawyers"],
    }
    access = read_account(row).access
    key = limit_to_key(access, key_id=UUID(int=1), scope="write", collection_ids=(mine,))

    assert access.principals == key.principals == ("user:ann", "group:clerks", "group:lawyers")
    assert access.roles == {mine: "admin", other: "write"}
    assert (key.scope, key.roles, key.allowed) == ("write", {mine: "write"}, [mine])
    assert access.limited_to("admin").allowed == [mine]
    assert not access.may("write", new_id())
    assert Access("admin", None).principals == ()


# Questions that were asked


def test_past_questions_are_their_askers_alone(house: Stack, sides: tuple[Side, Side]):
    ann, bob = make_account(house, "ann", {"ours": "write"}), make_account(house, "bob", {"ours": "write"})
    own, other = log_in(house, "ann"), log_in(house, "bob")
    asked = own.post("/v1/query", json={"query": "What is Quellenwort to ann?"}).json()
    query_id, conversation = asked["query_id"], asked["conversation_id"]

    assert own.post("/v1/feedback", json={"query_id": query_id, "rating": "thumbs_up"}).status_code == 200
    assert keep_key(house, ann).get(f"/v1/queries/{query_id}").status_code == 200
    assert own.get(f"/v1/conversations/{conversation}").status_code == 200
    assert [one["id"] for one in own.get("/v1/conversations").json()["conversations"]] == [conversation]
    everybody_else = [other, keep_key(house, bob), as_key(house, make_key(house, "write"))]
    for client in everybody_else:
        assert "to ann" not in client.get("/v1/queries").text
        assert "to ann" not in client.get("/v1/conversations").text
        for method, path, body in (
            ("GET", f"/v1/queries/{query_id}", None),
            ("DELETE", f"/v1/queries/{query_id}", None),
            ("POST", f"/v1/queries/{query_id}/replay", {}),
            ("GET", f"/v1/conversations/{conversation}", None),
            ("POST", "/v1/feedback", {"query_id": query_id, "rating": "thumbs_down"}),
        ):
            reply = client.request(method, path, json=body)
            assert reply.status_code == 404, f"{method} {path}: {reply.text}"
            assert "to ann" not in reply.text
    assert own.post(f"/v1/queries/{query_id}/replay", json={}).status_code == 200
    operator = as_key(house, make_key(house, "admin"))
    assert "What is Quellenwort to ann?" in operator.get("/v1/queries").text


def test_a_conversation_carries_on_only_for_who_began_it(house: Stack, sides: tuple[Side, Side]):
    make_account(house, "ann", {"ours": "read"})
    make_account(house, "bob", {"ours": "read"})
    own, other = log_in(house, "ann"), log_in(house, "bob")
    begun = own.post("/v1/query", json={"query": "What is Quellenwort?"}).json()["conversation_id"]
    then = {"query": "And who else knows it?", "conversation_id": begun}

    carried = own.post("/v1/query", json=then).json()
    alone = other.post("/v1/query", json=then).json()

    assert "Quellenwort" in own.get(f"/v1/queries/{carried['query_id']}").json()["rewritten_query"]
    assert not other.get(f"/v1/queries/{alone['query_id']}").json()["rewritten_query"]


def test_what_is_said_of_an_answer_is_the_accounts_own(house: Stack, sides: tuple[Side, Side]):
    """By whichever of its keys, and from whichever address."""
    ann = make_account(house, "ann", {"ours": "read"})
    own = log_in(house, "ann")
    query_id = own.post("/v1/query", json={"query": "What is Quellenwort?"}).json()["query_id"]
    own.post("/v1/feedback", json={"query_id": query_id, "rating": "thumbs_up"})
    keep_key(house, ann).post("/v1/feedback", json={"query_id": query_id, "rating": "thumbs_down"})

    rows = house.sql("SELECT caller, rating FROM rag_feedback WHERE query_id = %s", query_id)
    assert [(row["caller"], row["rating"]) for row in rows] == [(f"account:{ann}", "thumbs_down")]


def test_the_answers_of_one_are_not_served_from_the_cache_to_another(house: Stack, sides: tuple[Side, Side]):
    make_account(house, "ann", {"ours": "read"})
    make_account(house, "bob", {"theirs": "read"})
    question = {"query": "What is the secret word of the vault?"}
    first = log_in(house, "ann").post("/v1/query", json=question)
    second = log_in(house, "bob").post("/v1/query", json=question)

    assert "Quellenwort" in first.text
    assert "Quellenwort" not in second.text


def test_idempotency_keys_of_accounts_are_their_own(house: Stack, sides: tuple[Side, Side]):
    make_account(house, "ann", {"ours": "write"})
    make_account(house, "bob", {"theirs": "write"})
    headers = {"Idempotency-Key": "same", **OWN_PAGE}
    body = {"documents": [{"source": {"type": "text", "content": "Something new."}}]}
    mine = {"collection_id": sides[0].collection_id, **body}
    first = log_in(house, "ann").post("/v1/ingest", json=mine, headers=headers)
    second = log_in(house, "bob").post("/v1/ingest", json=mine, headers=headers)

    assert first.status_code in (200, 202), first.text
    assert_problem(second, 403, "FORBIDDEN")
