"""The database, the disk or the process fails in the middle of an upload or a deletion."""

import hashlib
import os
import resource
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psycopg
import pytest

from documents.library.storage import sweep_orphan_files
from tests.documents.http import (
    UNKNOWN_ID,
    URL,
    assert_nothing_stored,
    assert_problem,
    ingested,
    markdown,
    upload,
)
from tests.support.commands import on
from tests.support.stack import Stack
from tests.support.waiting import wait_until

GATE = 4711  # an advisory lock: while a test holds it, no document row can be inserted


@pytest.fixture
def stack(server: Stack) -> Iterator[Stack]:
    """The shared stack, without what a test did to its database afterwards."""
    yield server
    server.sql("DROP FUNCTION IF EXISTS interfere, die CASCADE")
    server.sql("DROP SEQUENCE IF EXISTS tries")


def fail_statements(stack: Stack, event: str, table: str, body: str) -> None:
    """From now on every `event` runs the PL/pgSQL `body` first; the sequence `tries` survives rollbacks."""
    stack.sql("CREATE SEQUENCE IF NOT EXISTS tries")
    stack.sql(
        f"CREATE FUNCTION interfere() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} "
        "RETURN coalesce(NEW, OLD); END $$"
    )
    stack.sql(f"CREATE TRIGGER interfere BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION interfere()")


def age(path: Path) -> None:
    """Make the file look an hour old."""
    os.utime(path, (time.time() - 3600,) * 2)


def sweep(stack: Stack) -> None:
    """As the worker does now and then."""
    with on(stack):
        sweep_orphan_files()


def test_failure_in_the_middle_of_the_rows_leaves_nothing(stack: Stack) -> None:
    fail_statements(stack, "INSERT", "documents_chunk", "RAISE EXCEPTION 'no';")

    response = upload(stack, markdown())

    problem = assert_problem(response, 500, "INTERNAL_ERROR")
    assert "RAISE" not in problem["message"]
    assert_nothing_stored(stack)


@pytest.mark.parametrize("sqlstate", ["40P01", "40001"])
def test_deadlocks_and_serialization_failures_are_tried_again(stack: Stack, sqlstate: str) -> None:
    thrice = f"IF nextval('tries') <= 3 THEN RAISE EXCEPTION 'again' USING ERRCODE = '{sqlstate}'; END IF;"
    fail_statements(stack, "INSERT OR DELETE", "documents_document", thrice)

    document = ingested(stack)
    assert len(stack.stored_files()) == 1
    stack.sql("ALTER SEQUENCE tries RESTART")

    assert stack.client.delete(f"{URL}/{document}").status_code == 204
    assert_nothing_stored(stack)


def test_backend_killed_in_the_middle_is_tried_again(stack: Stack) -> None:
    once = "IF nextval('tries') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;"
    fail_statements(stack, "INSERT", "documents_chunk", once)

    ingested(stack)

    assert stack.count("documents_document") == len(stack.stored_files()) == 1


def test_connection_lost_during_every_commit_gives_503_and_the_sweep_clears_up(stack: Stack) -> None:
    stack.sql(
        "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); RETURN NULL; END $$"
    )
    stack.sql(
        "CREATE CONSTRAINT TRIGGER die AFTER INSERT ON documents_document "
        "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()"
    )

    assert_problem(upload(stack, markdown()), 503, "SERVICE_UNAVAILABLE")

    assert stack.count("documents_document") == 0
    for file in stack.stored_files():
        age(file)
    sweep(stack)
    assert_nothing_stored(stack)


def test_upload_killed_between_file_and_row_is_swept_but_never_while_it_lives(stack: Stack) -> None:
    fail_statements(stack, "INSERT", "documents_document", f"PERFORM pg_advisory_xact_lock({GATE});")
    content = markdown()
    kept = ingested(stack)
    age(stack.stored_files()[0])
    with psycopg.connect(stack.env["DATABASE_URL"], autocommit=True) as gate, ThreadPoolExecutor(1) as thread:
        gate.execute("SELECT pg_advisory_lock(%s)", [GATE])
        uploading = thread.submit(upload, stack, content)
        orphan = wait_until(
            lambda: [f for f in stack.stored_files() if kept not in f.name and f.parent.name == "documents"]
        )[0]
        age(orphan)
        sweep(stack)
        assert orphan.exists()
        stack.kill_web()
        assert isinstance(uploading.exception(), httpx.TransportError)

    sweep(stack)
    assert [file.stem for file in stack.stored_files()] == [kept]
    stack.start_web()
    assert upload(stack, content).status_code == 201


def test_equal_upload_of_another_process_that_commits_first_wins(stack: Stack) -> None:
    fail_statements(stack, "INSERT", "documents_document", f"PERFORM pg_advisory_xact_lock({GATE});")
    content = markdown()
    with (
        psycopg.connect(stack.env["DATABASE_URL"], autocommit=True) as other,
        ThreadPoolExecutor(1) as thread,
    ):
        other.execute("SELECT pg_advisory_lock(%s)", [GATE])
        uploading = thread.submit(upload, stack, content)
        wait_until(lambda: stack.count("pg_locks", "locktype = 'advisory' AND NOT granted"))
        other.execute(
            "INSERT INTO documents_document (id, collection_id, source, original_filename, title, checksum, "
            "size_bytes, file, page_count, chunk_count, metadata, warnings, created_at) "
            "SELECT %s, id, 'MARKDOWN', 'first.md', '', %s, 1, '', 1, 1, '{}', '[]', now() "
            "FROM documents_collection",
            [UNKNOWN_ID, hashlib.sha256(content).hexdigest()],
        )
        other.execute("SELECT pg_advisory_unlock(%s)", [GATE])
        response = uploading.result(60)

    problem = assert_problem(response, 409, "DUPLICATE", UNKNOWN_ID)
    assert problem["details"] == {"documentId": UNKNOWN_ID}
    assert stack.stored_files() == []


def test_store_that_cannot_be_written_gives_json_and_works_again_later(stack: Stack) -> None:
    folder = stack.folder / "files"
    folder.mkdir(exist_ok=True)
    blocker = folder / "incoming"
    if blocker.is_dir():
        blocker.rmdir()
    blocker.write_text("a file where the folder should be")

    problem = assert_problem(upload(stack, markdown()), 507, "INSUFFICIENT_STORAGE")
    assert str(stack.folder) not in str(problem)

    blocker.unlink()
    assert_nothing_stored(stack)
    ingested(stack)


def test_disk_that_fills_up_while_writing_keeps_nothing(stack: Stack) -> None:
    assert stack.web is not None
    limit = 150_000  # the kernel refuses to let any file of the process grow past this
    content = markdown("All is well. " * 15_000)
    assert 150_000 < len(content) < 250_000
    resource.prlimit(stack.web.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    assert_problem(upload(stack, content), 507, "INSUFFICIENT_STORAGE")
    assert_nothing_stored(stack)

    resource.prlimit(stack.web.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert upload(stack, content).status_code == 201


def test_client_that_leaves_in_mid_upload_leaves_nothing(server: Stack) -> None:
    logged = len(server.log("web"))

    def half() -> object:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\n' + b"x" * 300_000
        raise ConnectionAbortedError

    headers = {"Content-Type": "multipart/form-data; boundary=b", "Content-Length": "1000000"}
    with pytest.raises(ConnectionAbortedError):
        httpx.post(server.url + URL, content=half(), headers=headers)

    ingested(server)
    assert server.count("documents_document") == len(server.stored_files()) == 1
    assert "Traceback" not in server.log("web")[logged:]


def test_statement_that_takes_its_time_is_not_cut_off(stack: Stack) -> None:
    fail_statements(stack, "INSERT", "documents_document", "PERFORM pg_sleep(2);")
    assert upload(stack, markdown()).status_code == 201
