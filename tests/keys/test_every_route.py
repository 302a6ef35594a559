"""Every route of the URL conf: without a key, beyond the key's scope, and with another collection's key."""

from collections.abc import Iterator

import httpx
import pytest

from knowlex.base.ids import new_id
from tests.keys.key_factory import as_key, make_key
from tests.keys.routes import CHANGING, METHODS, OF_ALL, OF_PDF, UNNAMED, Route, Side, all_routes
from tests.support.api import assert_problem, embed, ingest
from tests.support.stack import Stack

ROUTES = all_routes()
READING = (
    "/query",
    "/api/v1/rag/query",
    "/api/v1/rag/ask",
    "/api/v1/embeddings/search",
    "/v1/search",
    "/v1/query",
    "/mcp",
    "/v1/queries/<query_id>/replay",
    "/v1/feedback",
    "/v1/chat/completions",
    "/v1/dify/retrieval",
    "/v1/embeddings",
)
ITEM = """
    INSERT INTO documents_ingestitem (id, job_id, collection_id, position, source_type, source_url, filename,
        title, metadata, file, checksum, status, stage, attempts, pages_total, pages_done, chunks_made,
        warnings, error_code, error, created_at)
    VALUES (%s, %s, %s, 0, 'text', '', %s, '', '{}', '', '', 'failed', 'ended', 1, 0, 0, 0, '[]',
        'UNPROCESSABLE', %s, now())
"""
JOB = """
    INSERT INTO documents_ingestjob (id, collection_id, settings, origin, created_at)
    VALUES (%s, %s, '{}', 'api', now())
"""
COLLECTION = """
    INSERT INTO documents_collection (id, name, description, settings, created_at)
    VALUES (%s, %s, %s, '{}', now())
"""
QUESTION_SET = """
    INSERT INTO rag_questionset (id, name, description, collection_id, question_count, created_at)
    VALUES (%s, %s, %s, %s, 1, now())
"""
SET_QUESTION = """
    INSERT INTO rag_setquestion (question_set_id, position, key, question, answers, document, pages,
        chapter, section, answerable, answer_type, lang, document_lang, evidence, key_numbers, relevant,
        tags, metadata)
    VALUES (%s, 0, 'one', %s, '[]', 'x', '{}', '', '', true, '', 'en', '', '', '[]', '{}', '{}', '{}')
"""
EVALUATION = """
    INSERT INTO rag_evaluation (id, question_set_id, collection_ids, configurations, answers, status, error,
        total, done, attempts, created_at)
    VALUES (%s, %s, ARRAY[%s::uuid], '[{"name": "default", "settings": {}}]', false, 'failed', %s, 1, 0,
        0, now())
"""
SOURCE = """
    INSERT INTO documents_source (id, collection_id, name, kind, config, secret, state, stage, run, dry_run,
        counts, error, attempts, brought_by, created_at)
    VALUES (%s, %s, %s, 'folder', '{"path": "/srv/papers"}', '', 'failed', '', 1, false, '{}', %s, 0, '',
        now())
"""
SOURCE_ITEM = """
    INSERT INTO documents_sourceitem (id, source_id, path, size_bytes, version, checksum, owned, state,
        reason, listed_version, listed_size, listed_in, step)
    VALUES (%s, %s, %s, 0, '', '', false, 'skipped', '', '', 0, 1, '')
"""


def make_side(stack: Stack, name: str, marker: str) -> Side:
    """A collection with an embedded document, one that waits for `generate`, and a job that failed."""
    collection_id, job_id = new_id(), new_id()
    stack.sql(COLLECTION, collection_id, name, f"About {marker}")
    with as_key(stack, make_key(stack, collections=[name])) as client:
        text = (
            f"# Vault {marker}\n\nThe secret word of the vault is {marker}. Nobody else knows it.\n".encode()
        )
        document_id = ingest(client, text, f"{marker}.md", collection=name)["documentId"]
        embed(client)
        asked = client.post("/v1/query", json={"query": f"What is {marker}?", "collections": [name]}).json()
        assert marker in client.get(f"/v1/queries/{asked['query_id']}").text
        ingest(client, text + b"More.\n", f"{marker}2.md", collection=name)
    stack.sql(JOB, job_id, collection_id)
    stack.sql(ITEM, new_id(), job_id, collection_id, f"{marker}3.md", f"No text in {marker}.")
    set_id, run_id = new_id(), new_id()
    stack.sql(QUESTION_SET, set_id, f"Set {marker}", f"About {marker}", collection_id)
    stack.sql(SET_QUESTION, set_id, f"What is {marker}?")
    stack.sql(EVALUATION, run_id, set_id, collection_id, f"No {marker}.")
    source_id = new_id()
    stack.sql(SOURCE, source_id, collection_id, f"Source {marker}", f"No {marker}.")
    stack.sql(SOURCE_ITEM, new_id(), source_id, f"{marker}.md")
    return Side(
        name,
        marker,
        str(collection_id),
        document_id,
        str(job_id),
        str(set_id),
        str(run_id),
        asked["query_id"],
        str(source_id),
    )


@pytest.fixture
def sides(keyed: Stack) -> tuple[Side, Side]:
    """(ours, theirs)"""
    return make_side(keyed, "ours", "Quellenwort"), make_side(keyed, "theirs", "Zanzibarum")


@pytest.fixture
def ours(keyed: Stack, sides: tuple[Side, Side]) -> Iterator[httpx.Client]:
    """May do everything in the collection `ours`."""
    with as_key(keyed, make_key(keyed, "admin", collections=["ours"])) as client:
        yield client


def everything(stack: Stack, side: Side) -> dict[str, list[str]]:
    """All rows of the side's collection, to be the same afterwards."""
    own = f"collection_id = '{side.collection_id}'"
    documents = f"SELECT id FROM documents_document WHERE {own}"
    chunks = f"SELECT id FROM documents_chunk WHERE document_id IN ({documents})"
    tables = {
        "documents_collection": f"id = '{side.collection_id}'",
        "documents_document": own,
        "documents_page": f"document_id IN ({documents})",
        "documents_chunk": f"document_id IN ({documents})",
        "documents_ingestjob": own,
        "documents_ingestitem": own,
        "embeddings_embedding": own,
        "documents_source": own,
        "rag_questionset": own,
        "rag_evaluation": f"'{side.collection_id}' = ANY(collection_ids)",
        "rag_query": f"'{side.collection_id}' = ANY(collection_ids)",
        "rag_feedback": f"query_id = '{side.query_id}'",
        "embeddings_embeddingrequest": f"chunk_id IN ({chunks})",
    }
    return {
        table: sorted(
            # told_at: noted by the sweep, whoever asks
            str(row)
            for row in stack.sql(f"SELECT to_jsonb(t) - 'told_at' FROM {table} t WHERE {where}")
        )
        for table, where in tables.items()
    }


def send(client: httpx.Client, method: str, route: Route, side: Side) -> httpx.Response:
    return client.request(method, route.filled(side), **route.request(method, side))


def test_the_walk_finds_the_routes():
    paths = {route.path for route in ROUTES}

    assert {"/api/v1/documents", "/api/v1/documents/<documentId>", "/query", "/v1/collections"} <= paths
    assert not {"/health", "/api/docs"} & paths


def test_without_a_key_every_method_of_every_route_is_refused(keyed: Stack):
    nobody = Side("default", "", *(str(new_id()) for _ in range(3)))

    for route in ROUTES:
        for method in METHODS:
            reply = keyed.client.request(method, route.filled(nobody))
            assert reply.status_code == 401, f"{method} {route.path}"
            if method != "HEAD":
                assert_problem(reply, 401, "UNAUTHORIZED")


def test_a_read_key_changes_nothing_by_any_route(keyed: Stack, sides: tuple[Side, Side]):
    before = everything(keyed, sides[0])
    reader = as_key(keyed, make_key(keyed, "read"))

    for route in ROUTES:
        for method in CHANGING:
            if not (method == "POST" and route.path in READING):
                sent = route.request(method, sides[0]) if method in route.methods else {}
                reply = reader.request(method, route.filled(sides[0]), **sent)
                assert_problem(reply, 403, "FORBIDDEN")
    assert everything(keyed, sides[0]) == before


def test_a_write_key_changes_and_deletes_no_collection(keyed: Stack, sides: tuple[Side, Side]):
    writer = as_key(keyed, make_key(keyed, "write"))

    for route in ROUTES:
        for method in {"PUT", "PATCH", "DELETE"} & set(route.methods):
            if route.parameters == ["collection_id"]:
                assert_problem(send(writer, method, route, sides[0]), 403, "FORBIDDEN")


def test_another_collections_key_reaches_nothing_by_any_route(
    keyed: Stack, sides: tuple[Side, Side], ours: httpx.Client
):
    """Named: 403. Ids: 404. And no answer holds a word of it, whatever its status."""
    theirs = sides[1]
    before = everything(keyed, theirs)

    for route in ROUTES:
        for method in sorted(set(route.methods) - {"HEAD", "OPTIONS"}):
            reply = send(ours, method, route, theirs)
            assert theirs.marker not in reply.text, f"{method} {route.path}: {reply.text[:300]}"
            if (method, route.path) == ("POST", "/mcp"):  # a tool's failure is a result
                assert "FORBIDDEN" in reply.text, reply.text[:300]
            elif route.names_id(method) or route.names_collection(method):
                assert reply.status_code == route.refusal(method), (
                    f"{method} {route.path}: {reply.text[:300]}"
                )

    assert everything(keyed, theirs) == before


def test_no_list_shows_a_word_of_another_collection(sides: tuple[Side, Side], ours: httpx.Client):
    """However it is named, and whatever a parameter is called: with a name that no list knows, too."""
    theirs = sides[1]
    named = [("collection", theirs.name), ("collection", theirs.collection_id)]
    named += [("collection_id", theirs.collection_id), ("job_id", theirs.job_id), ("q", theirs.marker)]
    ways = [{}, *({name: value} for name, value in named)]
    for route in ROUTES:
        if "GET" in route.methods and not route.parameters:
            for params in ways:
                reply = ours.get(route.path, params=params)
                assert theirs.marker not in reply.text, f"{route.path} {params}: {reply.text[:300]}"
                assert theirs.document_id not in reply.text, f"{route.path} {params}: {reply.text[:300]}"
                assert theirs.job_id not in reply.text, f"{route.path} {params}: {reply.text[:300]}"


def test_lists_show_what_is_the_keys_own(sides: tuple[Side, Side], ours: httpx.Client):
    """So that the silence above is not that of empty lists."""
    for path in ("/v1/documents", "/v1/collections", "/v1/ingest"):
        reply = ours.get(path)
        assert (reply.status_code, sides[0].collection_id in reply.text) == (200, True), reply.text
    counted = ours.get("/v1/collections").json()["collections"]
    assert [(one["name"], one["document_count"]) for one in counted] == [("ours", 2)]


def test_a_repeated_request_is_another_one_for_another_key(
    keyed: Stack, sides: tuple[Side, Side], ours: httpx.Client
):
    """Nobody is told what somebody else was answered who chose the same Idempotency-Key."""
    headers = {"Idempotency-Key": "same"}
    theirs = as_key(keyed, make_key(keyed, "write", collections=["theirs"]))
    source = {"type": "text", "content": "Something new."}
    body = {"collection_id": sides[1].collection_id, "documents": [{"source": source}]}
    job = theirs.post("/v1/ingest", json=body, headers=headers)
    assert job.status_code in (200, 202), job.text

    reply = ours.post("/v1/ingest", json=body, headers=headers)

    refused = assert_problem(reply, 403, "FORBIDDEN")
    assert refused["message"] == "You don't have access to this collection"
    assert job.json()["job_id"] not in reply.text


def test_the_same_requests_do_reach_it_with_a_key_of_its_own(keyed: Stack, sides: tuple[Side, Side]):
    """So that the refusals above are the key's, and not those of requests that were wrong anyway."""
    theirs = sides[1]
    client = as_key(keyed, make_key(keyed, "admin", collections=["theirs"]))

    for route in ROUTES:
        if "GET" in route.methods and route.parameters and route.path not in OF_ALL:
            reply = send(client, "GET", route, theirs)
            expected_status = 422 if ("GET", route.path) in OF_PDF else 200
            assert reply.status_code == expected_status, f"{route.path}: {reply.text[:300]}"
        if "POST" in route.methods and route.path in READING and ("POST", route.path) not in UNNAMED:
            reply = send(client, "POST", route, theirs)
            assert reply.status_code == 200
            expected = theirs.query_id if route.path == "/v1/feedback" else theirs.marker
            assert expected in reply.text, f"{route.path}: {reply.text[:300]}"


def test_a_bound_key_that_names_no_collection_searches_its_own(ours: httpx.Client, sides: tuple[Side, Side]):
    own, theirs = sides
    found = ours.post("/v1/search", json={"query": "What is the secret word?"})
    assert found.status_code == 200
    assert own.marker in found.text
    assert theirs.marker not in found.text
    filters = {"documents": [theirs.document_id]}
    assert_problem(ours.post("/v1/search", json={"query": "What?", "filters": filters}), 404, "NOT_FOUND")


def test_a_bound_key_that_names_nothing_means_default_and_may_not(ours: httpx.Client):
    bodies = {
        "/api/v1/rag/ask": {"query": "What?"},
        "/query": {"query": "What?"},
        "/api/v1/rag/query": {"question": "What?"},
    }
    for path, body in bodies.items():
        assert_problem(ours.post(path, json=body), 403, "FORBIDDEN")
    headers = {"Content-Type": "text/plain"}
    assert_problem(
        ours.post("/api/v1/embeddings/search", content=b"What?", headers=headers), 403, "FORBIDDEN"
    )
    assert_problem(ours.get("/api/v1/documents"), 403, "FORBIDDEN")
    assert_problem(ours.post("/api/v1/documents", files={"file": ("a.md", b"# A\n\nB.")}), 403, "FORBIDDEN")


def test_generate_embeds_in_the_keys_collections_only(
    keyed: Stack, sides: tuple[Side, Side], ours: httpx.Client
):
    before = everything(keyed, sides[1])

    assert embed(ours) == 1
    assert embed(ours) == 0
    assert everything(keyed, sides[1]) == before
