"""Keys at the door: asked for before a body is read, in the error shape, never let in on a doubt."""

import socket
from collections.abc import Callable

import httpx
import pytest

from tests.keys.key_factory import as_key, make_key
from tests.support.api import assert_problem, embed, ingest, upload
from tests.support.stack import Stack
from tests.support.waiting import wait_until

DOCUMENTS = "/api/v1/documents"
WRONG = "kx_00000000_" + "x" * 43
UNKNOWN_ID = "01890a5d-ac96-774b-bcce-b302099a8057"


def assert_refused(reply: httpx.Response) -> None:
    problem = assert_problem(reply, 401, "UNAUTHORIZED")
    assert problem["message"] == "Invalid or expired API key"
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_key_opens_in_either_header(keyed: Stack) -> None:
    key = make_key(keyed, "read")

    for headers in (
        {"Authorization": f"Bearer {key}"},
        {"Authorization": f"bearer  {key}"},
        {"X-API-Key": key},
        {"X-API-Key": key, "Authorization": f"Bearer {key}"},
        {"X-API-Key": key, "Authorization": "Basic YTpi"},
    ):
        assert keyed.client.get(DOCUMENTS, headers=headers).status_code == 200, headers


@pytest.mark.parametrize(
    "path", ["/query", DOCUMENTS, "/api/v1/rag/ask", "/no/such/path", "//api/v1/documents"]
)
def test_without_a_valid_key_nothing_is_answered(keyed: Stack, path: str) -> None:
    key = make_key(keyed)
    for headers in (
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": f"Basic {key}"},
        {"Authorization": key},
        {"Authorization": f"Bearer {key}x"},
        {"Authorization": f"Bearer {key[:-1]}"},
        {"Authorization": f"Bearer {WRONG}"},
        {"X-API-Key": key[:-2] + ("AA" if key[-2:] != "AA" else "BB")},
        {"X-API-Key": "' OR 1=1 --"},
        {"X-API-Key": "k\xfcche"},
        {"X-API-Key": "x" * 5000},
        {"X-API-Key": WRONG, "Authorization": f"Bearer {key}"},
        {"X-API-Key": key, "Authorization": f"Bearer {make_key(keyed)}"},
    ):
        encoded = {name: value.encode("latin-1") for name, value in headers.items()}
        assert_refused(keyed.client.post(path, headers=encoded, content=b"x"))
        assert_refused(keyed.client.get(f"{path}?api_key={key}&key={key}", headers=encoded))


def test_an_expired_and_a_revoked_key_are_refused(keyed: Stack) -> None:
    expired, key = make_key(keyed, expires_in="-1 second"), make_key(keyed, expires_in="1 hour")

    assert_refused(as_key(keyed, expired).get(DOCUMENTS))
    assert as_key(keyed, key).get(DOCUMENTS).status_code == 200
    keyed.sql("UPDATE documents_apikey SET revoked_at = now() WHERE prefix = %s", key[:11])
    assert_refused(as_key(keyed, key).get(DOCUMENTS))


def test_a_key_bound_to_a_collection_that_is_gone_opens_nothing(keyed: Stack) -> None:
    keyed.sql("INSERT INTO documents_collection (id, name, description, settings, created_at) "
              "VALUES (gen_random_uuid(), 'law', '', '{}', now())")  # fmt: skip
    client = as_key(keyed, make_key(keyed, collections=["law"]))
    assert client.get(DOCUMENTS, params={"collection": "law"}).status_code == 200

    keyed.sql("DELETE FROM documents_collection WHERE name = 'law'")

    assert_problem(client.get(DOCUMENTS), 403, "FORBIDDEN")
    assert_problem(client.get(DOCUMENTS, params={"collection": "law"}), 404, "NOT_FOUND")


@pytest.mark.parametrize("path", ["/health", "/api/schema", "/api/docs", "/", "/static/admin/css/base.css"])
def test_health_documentation_and_the_admins_files_need_no_key(keyed: Stack, path: str) -> None:
    for headers in ({}, {"X-API-Key": WRONG}):
        headers = {"Accept": "text/html,*/*", **headers}
        assert keyed.client.get(path, headers=headers).status_code in (200, 302)


def test_the_admin_has_its_own_login(keyed: Stack) -> None:
    assert keyed.client.get("/admin").status_code == 302
    assert keyed.client.get("/admin/login/").status_code == 200
    assert keyed.client.get("/admin/documents/document/").headers["Location"].startswith("/admin/login/")


@pytest.mark.parametrize("key", ["none", "reader"])
def test_an_upload_is_refused_before_its_body_is_read(keyed: Stack, key: str) -> None:
    """The body never comes: an answer shows that nobody waited for it."""
    head = (
        f"POST {DOCUMENTS} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    )
    head += "" if key == "none" else f"X-API-Key: {make_key(keyed, 'read')}\r\n"
    with socket.create_connection(("127.0.0.1", keyed.port), timeout=10) as connection:
        connection.sendall(f"{head}Content-Length: 40000000\r\n\r\n".encode())
        status = connection.recv(4096).split(b" ")[1]

    assert status == (b"401" if key == "none" else b"403")


def test_a_read_key_reads_and_asks_but_changes_nothing(keyed: Stack, admin: httpx.Client) -> None:
    document = ingest(admin, b"# Notes\n\nThe harbour opens at nine.\n", "notes.md")["documentId"]
    assert embed(admin) > 0
    reader = as_key(keyed, make_key(keyed, "read"))

    assert reader.get(f"{DOCUMENTS}/{document}/chunks").status_code == 200
    assert reader.post("/api/v1/rag/ask", json={"query": "What?"}).status_code == 200
    assert reader.post("/query", json={"query": "What?"}).status_code == 200
    assert_problem(upload(reader, b"# A\n\nText.", "a.md"), 403, "FORBIDDEN")
    assert_problem(reader.delete(f"{DOCUMENTS}/{document}"), 403, "FORBIDDEN")
    assert_problem(reader.post("/api/v1/embeddings/generate"), 403, "FORBIDDEN")
    writer = as_key(keyed, make_key(keyed, "write"))
    assert writer.get(DOCUMENTS).status_code == 200
    assert writer.delete(f"{DOCUMENTS}/{document}").status_code == 204


def test_the_last_use_is_written_once_a_minute(keyed: Stack) -> None:
    client = as_key(keyed, make_key(keyed))

    def used() -> object:
        return keyed.sql("SELECT last_used_at FROM documents_apikey")[0]["last_used_at"]

    client.get(DOCUMENTS)
    first = wait_until(used, what="the last use to be written")
    client.get(DOCUMENTS)
    assert used() == first

    keyed.sql("UPDATE documents_apikey SET last_used_at = now() - interval '61 seconds'")
    client.get(DOCUMENTS)
    wait_until(lambda: used() > first, what="the next minute's use to be written")


def test_keys_stand_in_no_log_and_no_table(keyed: Stack) -> None:
    key = make_key(keyed)
    as_key(keyed, key).get(DOCUMENTS)
    as_key(keyed, WRONG).get(f"{DOCUMENTS}/{UNKNOWN_ID}")

    (row,) = keyed.sql("SELECT id FROM documents_apikey")
    assert f"key:{row['id']}" in keyed.log("web"), "who asked can be told afterwards"
    assert key[12:] not in keyed.log("web")
    assert WRONG[12:] not in keyed.log("web")
    assert key[12:] not in str(keyed.sql("SELECT * FROM documents_apikey"))


@pytest.mark.slow
def test_with_the_database_away_nobody_is_let_in(make_stack: Callable[..., Stack]) -> None:
    stack = make_stack(KNOWLEX_REQUIRE_API_KEY="true", workers=0)
    client = as_key(stack, make_key(stack))
    assert client.get(DOCUMENTS).status_code == 200
    stack.terminate_web()
    stack.env["DATABASE_URL"] = "postgresql://nobody@127.0.0.1:9/nothing"
    stack._begin_web()
    wait_until(lambda: _alive(stack), 60, "the web server")

    reply = client.post("/query", json={"query": "What?"})

    assert_problem(reply, 503, "RETRIEVAL_FAILED")
    assert reply.elapsed.total_seconds() < 8
    assert_problem(client.get(DOCUMENTS), 503, "SERVICE_UNAVAILABLE")


def _alive(stack: Stack) -> bool:
    try:
        return stack.client.get("/api/schema").status_code == 200
    except httpx.TransportError:
        return False
