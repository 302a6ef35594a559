"""Files in a bucket: two hosts with nothing in common on their disks, and a store that refuses or loses."""

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from embeddings.sweeper import LEADER_LOCK
from tests.platform import talk
from tests.support import api, environment, processes
from tests.support.pdf import make_pdf
from tests.support.postgres import Postgres
from tests.support.s3 import S3Server
from tests.support.stack import Stack
from tests.support.waiting import wait_until

PREFIX = "kx/main"
LAMP = make_pdf("The lamp in the hall is green.", "The lamp in the attic is red.")
KETTLE = make_pdf("The kettle of the office holds three litres.")


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="module")
def _stack(postgres: Postgres, s3: S3Server) -> Iterator[Stack]:
    with Stack(postgres, environment.FOLDER / "bucket", workers=1, env=s3.env(PREFIX)) as stack:
        yield stack


@pytest.fixture
def stack(_stack: Stack) -> Stack:
    _stack.ensure_running()
    _stack.clean()
    return _stack


def host(stack: Stack, folder: Path) -> dict[str, str]:
    """The environment of another host, with nothing of this one's on its disk."""
    folder.mkdir(parents=True, exist_ok=True)
    secret = (stack.folder / "secret_key").read_text().strip()
    return {"KNOWLEX_DATA_DIR": str(folder), "KNOWLEX_SECRET_KEY": secret}


def names(stack: Stack) -> set[str]:
    """Of the files on record."""
    query = "SELECT file FROM documents_document UNION SELECT file FROM documents_ingestitem WHERE file <> ''"
    return {row["file"] for row in stack.sql(query)}


def stored_names(s3: S3Server) -> set[str]:
    return {name for name in s3.keys(PREFIX) if name.startswith("documents/")}


def kept_locally(folder: Path) -> list[str]:
    files = folder / "files"
    return sorted(str(path.relative_to(files)) for path in files.rglob("*") if path.is_file())


def found(client: httpx.Client, question: str) -> list[str]:
    """The documents that an answer cites."""
    reply = client.post("/v1/query", json={"query": question}).raise_for_status()
    return [source["document_id"] for source in reply.json()["sources"]]


def test_a_document_lives_in_the_bucket_from_upload_to_deletion(stack: Stack, s3: S3Server):
    client, before = stack.client, stored_names(s3)
    uploaded = api.ingest(client, LAMP, "lamp.pdf")["documentId"]
    brought = talk.stored(client, talk.file(KETTLE, "kettle.pdf"))
    assert stored_names(s3) - before == names(stack)
    assert len(names(stack)) == 2
    assert kept_locally(stack.folder) == []
    for document, data in ((uploaded, LAMP), (brought, KETTLE)):
        reply = client.get(f"/v1/documents/{document}/file")
        assert (reply.content, reply.headers["Content-Length"]) == (data, str(len(data)))
    for page in (1, 2):
        assert client.get(f"/v1/documents/{uploaded}/pages/{page}/image").content.startswith(b"\x89PNG")
    assert client.get(f"/v1/documents/{uploaded}/pages/2").json()["lines"][0]["text"] == (
        "The lamp in the attic is red."
    )
    assert sum(name.endswith("/original") for name in kept_locally(stack.folder)) == 1  # and was fetched once

    (former,) = (name for name in names(stack) if uploaded in name)
    body = talk.file(make_pdf("The lamp in the hall is blue."), "lamp.pdf")
    job = client.put(f"/v1/documents/{uploaded}", json=body).raise_for_status().json()
    assert talk.ended(client, job["job_id"])["status"] == "completed"
    wait_until(lambda: former not in s3.keys(PREFIX), what="the old version's file to go")
    assert stored_names(s3) - before == names(stack)
    assert "All is well." in stack.manage("sanity", "--deep")

    def pictures() -> list[str]:
        return [name for name in kept_locally(stack.folder) if hashlib.sha256(KETTLE).hexdigest() in name]

    assert client.get(f"/v1/documents/{brought}/pages/1/image").status_code == 200
    assert len(pictures()) == 2  # and the original
    for document in (uploaded, brought):
        assert client.delete(f"/v1/documents/{document}").status_code == 200
    assert stored_names(s3) == before
    assert pictures() == []


def test_two_hosts_share_files_by_the_bucket_alone(stack: Stack, s3: S3Server, tmp_path: Path):
    env = host(stack, tmp_path / "second")
    with stack.another_web(**env) as second:
        stack.kill_worker()
        other = stack.another_worker(**env)
        try:
            id_ = talk.stored(stack.client, talk.file(LAMP, "lamp.pdf"))  # read by the other host's worker
        finally:
            processes.terminate(other)
        assert second.get(f"/v1/documents/{id_}/file").content == LAMP
        assert second.get(f"/v1/documents/{id_}/pages/1/image").status_code == 200
        assert found(second, "What colour is the lamp in the attic?") == [id_]
        assert stack.client.delete(f"/v1/documents/{id_}").status_code == 200
        assert second.get(f"/v1/documents/{id_}/file").status_code == 404
        assert kept_locally(tmp_path / "second") != []
    with stack.another_web(**env):  # a host without workers sweeps its pictures, too
        wait_until(lambda: kept_locally(tmp_path / "second") == [], what="the pictures to go")


def test_one_of_two_worker_groups_leads_and_another_takes_over(stack: Stack, tmp_path: Path):
    def leaders() -> list[int]:
        query = (
            "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND granted "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        return [row["pid"] for row in stack.sql(query, LEADER_LOCK)]

    def words() -> int:
        said = "this worker group does the chores of all"
        return stack.log("worker").count(said) + stack.log("worker2").count(said)

    (first,) = wait_until(leaders, what="a leader")
    before = words()
    other = stack.another_worker(**host(stack, tmp_path / "second"))
    try:
        assert (leaders(), words()) == ([first], before)
        stack.kill_worker()
        stack.start_worker()
        wait_until(lambda: leaders() not in ([], [first]), what="the next leader")
        wait_until(lambda: words() == before + 1, what="its word")
        assert len(leaders()) == 1
    finally:
        processes.terminate(other)


def test_a_store_that_refuses_loses_nothing_and_says_so(stack: Stack, s3: S3Server):
    client = stack.client
    kept = api.ingest(client, LAMP, "lamp.pdf")["documentId"]
    with stack.paused_worker():
        job = talk.accepted(client, talk.file(KETTLE, "kettle.pdf"))
        with s3.forbidden():
            processes.pause_group(stack.worker, on=False)  # type: ignore[arg-type]
            reply = api.upload(client, make_pdf("The door of the cellar is locked."), "door.pdf")
            api.assert_problem(reply, 503, "SERVICE_UNAVAILABLE")
            api.assert_problem(client.get(f"/v1/documents/{kept}/file"), 503)
            assert client.get(f"/v1/documents/{kept}").status_code == 200
            wait_until(lambda: client.get("/health").json()["files"] == "read_only", 40, "what /health says")
            assert client.get("/health").json()["status"] == "degraded"
            wait_until(lambda: "document put back" in stack.log("worker"), what="the worker to try")
    (one,) = talk.ended(client, job["job_id"])["documents"]
    assert one["status"] == "completed"
    assert client.get(f"/v1/documents/{kept}/file").content == LAMP
    wait_until(lambda: client.get("/health").json()["files"] == "writable", what="what /health says")


@pytest.mark.slow
def test_a_store_that_hangs_holds_up_nothing_but_files(stack: Stack, s3: S3Server):
    client = stack.client
    talk.stored(client, talk.file(LAMP, "lamp.pdf"))
    with stack.paused_worker():
        job = talk.accepted(client, talk.file(KETTLE, "kettle.pdf"))
        s3.pause(on=True)
    try:
        began = time.monotonic()
        reply = api.upload(client, make_pdf("The door of the cellar is locked."), "door.pdf")
        api.assert_problem(reply, 503, "SERVICE_UNAVAILABLE")
        assert time.monotonic() - began < 40  # two tries of 10 s
        assert wait_until(lambda: client.get("/health").json(), what="an answer")["files"] == "unreachable"
        assert found(client, "What colour is the lamp in the attic?")
    finally:
        s3.pause(on=False)
    (one,) = talk.ended(client, job["job_id"])["documents"]
    assert one["status"] == "completed"


def test_a_file_that_is_lost_is_told_by_sanity_and_comes_back_from_a_backup(
    stack: Stack, s3: S3Server, tmp_path: Path
):
    id_ = talk.stored(stack.client, talk.file(LAMP, "lamp.pdf"))
    (name,) = names(stack)
    stack.manage("backup", str(tmp_path / "backup"))
    s3.bucket.Object(f"{PREFIX}/{name}").delete()
    assert stack.client.get(f"/v1/documents/{id_}/file").status_code == 404
    with pytest.raises(AssertionError, match=f"BROKEN file_missing[^B]*{name}"):
        stack.manage("sanity")

    database = f"{stack.database}_restored"
    env = {
        "DATABASE_URL": stack.postgres.create_database(database),
        "KNOWLEX_DATA_DIR": str(tmp_path / "new"),
    }
    try:
        with pytest.raises(AssertionError, match="belongs to another Knowlex"):
            stack.manage("restore", str(tmp_path / "backup"), env=env)  # into the bucket of the first
        env["KNOWLEX_S3_PREFIX"] = "kx/restored"
        stack.manage("restore", str(tmp_path / "backup"), env=env)
        assert "All is well." in stack.manage("sanity", "--deep", env=env)
        assert name in s3.keys("kx/restored")
    finally:
        stack.postgres.drop_database(database)


@pytest.mark.slow
def test_files_move_to_a_bucket_by_a_copy(stack: Stack, s3: S3Server, tmp_path: Path):
    """From a data folder, by any program that copies: names are the same."""
    local = {"KNOWLEX_FILES": "local", "KNOWLEX_DATA_DIR": str(tmp_path / "data")}
    (tmp_path / "lamp.pdf").write_bytes(LAMP)
    stack.kill_worker()
    stack.manage("ingest", str(tmp_path / "lamp.pdf"), env=local)
    (file,) = (tmp_path / "data" / "files" / "documents").iterdir()
    s3.bucket.upload_file(str(file), f"{PREFIX}/documents/{file.name}")
    assert "All is well." in stack.manage("sanity", "--deep")


def test_a_wrong_key_is_told_by_doctor_without_the_secret(stack: Stack):
    secret = "not-the-secret-7f3a"
    done = stack.run("doctor", env={"KNOWLEX_S3_SECRET_ACCESS_KEY": secret})
    assert done.returncode == 1
    (line,) = (line for line in done.stdout.splitlines() if "knowlex-files" in line)
    assert "The key is not accepted" in line
    assert secret not in done.stdout + done.stderr
