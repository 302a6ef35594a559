"""/v1/sources and `manage.py sync` on a running server, whose workers do the runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management.base import CommandError

from tests.keys.key_factory import make_key
from tests.sources.test_runs import note
from tests.support import commands, environment
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.waiting import wait_until

SHARED = environment.FOLDER / "shared"


@pytest.fixture(scope="module")
def _stack(postgres: Postgres) -> Iterator[Stack]:
    env = {"KNOWLEX_SOURCE_FOLDERS": str(SHARED), "KNOWLEX_URL_INGEST": "on"}
    with Stack(postgres, environment.FOLDER / "sources", workers=2, env=env) as stack:
        yield stack


@pytest.fixture
def stack(_stack: Stack) -> Stack:
    _stack.ensure_running()
    _stack.clean()
    return _stack


@pytest.fixture
def client(stack: Stack) -> httpx.Client:
    return stack.client


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Path:
    folder = SHARED / request.node.name.replace("[", "-").replace("]", "")
    folder.mkdir(parents=True)
    for number in range(1, 7):
        (folder / f"{number}.md").write_bytes(note(number))
    return folder


def make(client: httpx.Client, folder: Path, **more: Any) -> dict[str, Any]:
    body = {"name": "papers", "collection": "default", "kind": "folder", "config": {"path": str(folder)}}
    return dict(client.post("/v1/sources", json={**body, **more}).raise_for_status().json())


def synced(client: httpx.Client, id_: str, **asked: bool) -> dict[str, Any]:
    assert client.post(f"/v1/sources/{id_}/sync", json=asked).status_code == 202

    def ended() -> Any:
        source = client.get(f"/v1/sources/{id_}").json()
        return source if source["state"] not in ("pending", "running") else None

    return dict(wait_until(ended, 60, "the run to end"))


def test_a_source_is_made_run_looked_at_changed_and_deleted(client: httpx.Client, folder: Path):
    made = make(client, folder)
    assert (made["state"], made["has_secret"], made["next_run_at"]) == ("idle", False, None)
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    source = synced(client, made["id"])
    assert (source["state"], source["files"], source["refused"], source["waiting"]) == ("completed", 7, 1, 0)
    assert (source["counts"]["added"], source["counts"]["skipped"]) == (6, 1)
    assert [one["id"] for one in client.get("/v1/sources?collection=default").json()["sources"]] == [
        made["id"]
    ]

    page = client.get(f"/v1/sources/{made['id']}/items?limit=5").json()
    rest = client.get(f"/v1/sources/{made['id']}/items?limit=5&cursor={page['next_cursor']}").json()
    items = page["items"] + rest["items"]
    assert [item["path"] for item in items] == [*(f"{n}.md" for n in range(1, 7)), "photo.jpg"]
    assert items[-1] == {
        "path": "photo.jpg", "state": "skipped", "reason": "Its name tells no format that is read here.",
        "size_bytes": 3, "document_id": None, "gone": False,
    }  # fmt: skip
    document = client.get(f"/v1/documents/{items[0]['document_id']}").json()
    assert (document["filename"], document["processing"]["status"]) == ("1.md", "completed")
    skipped = client.get(f"/v1/sources/{made['id']}/items?state=skipped").json()["items"]
    assert [item["path"] for item in skipped] == ["photo.jpg"]

    changed = client.patch(f"/v1/sources/{made['id']}", json={"name": "notes", "every_minutes": 60}).json()
    assert (changed["name"], changed["every_minutes"]) == ("notes", 60)
    assert changed["next_run_at"]
    receipt = client.delete(f"/v1/sources/{made['id']}?documents=delete").json()
    assert (receipt["deleted"], receipt["documents_removed"], receipt["documents_kept"]) == (True, 6, 0)
    assert client.get("/v1/documents").json()["documents"] == []
    assert client.get(f"/v1/sources/{made['id']}").status_code == 404


def test_documents_outlive_their_source_unless_told_otherwise(client: httpx.Client, folder: Path):
    made = make(client, folder)
    synced(client, made["id"])
    receipt = client.delete(f"/v1/sources/{made['id']}").json()
    assert (receipt["documents_kept"], receipt["documents_removed"]) == (6, 0)
    assert len(client.get("/v1/documents").json()["documents"]) == 6


def test_what_is_gone_is_asked_about_and_confirmed(client: httpx.Client, folder: Path):
    made = make(client, folder)
    synced(client, made["id"])
    for number in (1, 2, 3):
        (folder / f"{number}.md").unlink()
    tried = synced(client, made["id"], dry_run=True)
    assert (tried["dry_run"], tried["counts"]["gone"]) == (True, 3)
    asking = synced(client, made["id"])
    assert (asking["state"], asking["error"][:23]) == ("needs_confirmation", "3 of 6 files are gone, ")
    gone = [
        item["path"] for item in client.get(f"/v1/sources/{made['id']}/items").json()["items"] if item["gone"]
    ]
    assert gone == ["1.md", "2.md", "3.md"]
    ended = synced(client, made["id"], confirm_deletions=True)
    assert (ended["state"], ended["counts"]["deleted"], ended["counts"]["vectors"]) == ("completed", 3, 3)


def test_a_misspelt_dry_run_runs_nothing(client: httpx.Client, folder: Path):
    made = make(client, folder)
    reply = client.post(f"/v1/sources/{made['id']}/sync", json={"dryRun": True})
    assert (reply.status_code, reply.json()["details"]) == (400, {"field": "dryRun"})
    assert client.get(f"/v1/sources/{made['id']}").json()["state"] == "idle"


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"kind": "ftp"}, 400, "kind"),
        ({"config": {}}, 400, "config.path"),
        ({"config": {"path": "/etc"}}, 403, "config.path"),
        ({"config": {"path": "etc"}}, 400, "config.path"),
        ({"config": {"path": "/etc", "depth": 3}}, 400, "config.depth"),
        ({"kind": "webdav", "config": {"url": "file:///etc"}}, 400, "config.url"),
        ({"kind": "s3", "config": {"bucket": "a/b"}}, 400, "config.bucket"),
        ({"collection": "nobodys"}, 404, "collection"),
        ({"every_minutes": 0}, 400, "every_minutes"),
        ({"name": " "}, 400, "name"),
        ({"secret": 5}, 400, "secret"),
    ],
)
def test_a_source_that_cannot_be_is_refused_by_field(
    client: httpx.Client, folder: Path, change: dict[str, Any], status: int, field: str
):
    body = {"name": "papers", "collection": "default", "kind": "folder", "config": {"path": str(folder)}}
    reply = client.post("/v1/sources", json={**body, **change})
    assert (reply.status_code, reply.json()["details"]["field"]) == (status, field)


def test_a_name_is_given_once_and_the_secret_is_never_shown(client: httpx.Client, stack: Stack):
    body = {
        "name": "cloud", "collection": "default", "kind": "webdav", "secret": "hush-hush",
        "config": {"url": "https://cloud.example.org/dav", "username": "ann"},
    }  # fmt: skip
    made = client.post("/v1/sources", json=body)
    assert (made.status_code, made.json()["has_secret"]) == (201, True)
    assert client.post("/v1/sources", json=body).status_code == 409
    told = [made.text, client.get("/v1/sources").text, client.get(f"/v1/sources/{made.json()['id']}").text]
    assert not any("hush" in text for text in told)
    assert "hush" not in str(stack.sql("SELECT * FROM documents_source"))
    cleared = client.patch(f"/v1/sources/{made.json()['id']}", json={"secret": ""}).json()
    assert cleared["has_secret"] is False


def test_a_run_goes_on_when_workers_are_killed(client: httpx.Client, stack: Stack, folder: Path):
    made = make(client, folder)
    for number in range(10, 30):
        (folder / f"{number}.md").write_bytes(note(number))
    client.post(f"/v1/sources/{made['id']}/sync", json={})
    wait_until(lambda: stack.count("documents_source", "lease IS NOT NULL"), 20, "a worker to take it")
    for child in stack.worker_children():
        child.kill()
    stack.sql("UPDATE documents_source SET leased_until = now() WHERE lease IS NOT NULL")
    ended = wait_until(
        lambda: client.get(f"/v1/sources/{made['id']}").json()["state"] == "completed", 90, "the run to end"
    )
    assert ended
    assert stack.count("documents_document", "status = 'completed'") == 26


def test_the_command_runs_and_lists_sources(client: httpx.Client, stack: Stack, folder: Path):
    make(client, folder)
    assert "papers: folder -> default: not run yet" in commands.manage(stack, "sync")
    tried = stack.manage("sync", "papers", "--dry-run")
    assert "6 added" in tried
    assert "nothing was changed" in tried
    done = stack.run("sync", "papers")
    assert (done.returncode, "in sync" in done.stdout) == (0, True)
    for number in range(1, 4):
        (folder / f"{number}.md").unlink()
    asking = stack.run("sync", "--all")
    assert asking.returncode == 1
    assert "3 of 6 files are gone" in asking.stdout
    assert "3 deleted" in stack.manage("sync", "papers", "--confirm")
    with pytest.raises(CommandError, match="Source not found"):
        commands.manage(stack, "sync", "nobody")
    with pytest.raises(CommandError, match="Say which sources"):
        commands.manage(stack, "sync", "--confirm")


@pytest.mark.slow
def test_the_command_works_where_no_worker_is_alive(client: httpx.Client, stack: Stack, folder: Path):
    make(client, folder)
    stack.kill_worker()
    done = stack.run("sync", "papers")
    assert done.returncode == 0, done.stderr
    assert "the work is done here" in done.stderr
    assert stack.count("documents_document", "status = 'completed'") == 6


def test_rights_of_keys(client: httpx.Client, stack: Stack, folder: Path):
    made = make(client, folder)
    read, write = (make_key(stack, scope) for scope in ("read", "write"))
    with stack.another_web(KNOWLEX_REQUIRE_API_KEY="true") as web:
        as_reader, as_writer = ({"Authorization": f"Bearer {key}"} for key in (read, write))
        url = f"/v1/sources/{made['id']}"
        assert web.get("/v1/sources").status_code == 401
        assert web.get("/v1/sources", headers=as_reader).json()["sources"] == []
        assert web.get(url, headers=as_reader).status_code == 403
        assert web.post(f"{url}/sync", json={}, headers=as_reader).status_code == 403
        assert web.get(url, headers=as_writer).status_code == 200
        assert web.patch(url, json={"name": "x"}, headers=as_writer).status_code == 403
        assert web.delete(url, headers=as_writer).status_code == 403
        assert web.post(f"{url}/sync", json={}, headers=as_writer).status_code == 202
