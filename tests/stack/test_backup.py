"""Backups made while people work, and what a restore makes of them: whole, or untouched and saying so."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import psutil
import psycopg
import pytest

from documents.library.storage import sweep_orphan_files
from tests.platform.talk import stored, text
from tests.stack.up import manage
from tests.support import commands, environment, processes
from tests.support.environment import PROJECT
from tests.support.postgres import Postgres
from tests.support.stack import Stack
from tests.support.waiting import wait_until

FACTS = [
    ("The lamp in the hall is green.", "Which colour has the lamp in the hall?", "green"),
    ("The kettle of the office holds three litres.", "How many litres does the kettle hold?", "three litres"),
]
PASSWORD = "never-on-a-command-line"  # the tests' server asks for none


@dataclass
class Place:
    """Somewhere to restore to: a database of the tests' server, and a folder."""

    database: str
    folder: Path
    env: dict[str, str]


@pytest.fixture(scope="module")
def stack(postgres: Postgres) -> Iterator[Stack]:
    with Stack(postgres, environment.FOLDER / "backed_up", workers=1, env={}) as stack:
        stack.env["DATABASE_URL"] = stack.env["DATABASE_URL"].replace("postgres@", f"postgres:{PASSWORD}@")
        for fact, *_ in FACTS:
            stored(stack.client, text(fact, f"{fact.split()[1]}.txt"))
        yield stack


@pytest.fixture(scope="module")
def backup(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that was made while documents came and went."""
    folder = tmp_path_factory.mktemp("backup") / "one"
    stop, failed = Event(), []

    def work() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            try:
                id_ = stored(stack.client, text(f"Visitor {number} came by train.", f"{number}.txt"))
                if number % 2:
                    stack.client.delete(f"/v1/documents/{id_}").raise_for_status()
            except Exception as exc:
                failed.append(exc)
                raise

    worker = Thread(target=work)
    worker.start()
    try:
        wait_until(lambda: stack.count("documents_document") > len(FACTS) or failed, what="an upload")
        stack.manage("backup", str(folder))
    finally:
        stop.set()
        worker.join()
    assert not failed
    return folder


@pytest.fixture
def place(stack: Stack, tmp_path: Path) -> Iterator[Place]:
    name, folder = f"{stack.database}_restored", tmp_path / "restored"
    url = stack.postgres.create_database(name)
    yield Place(name, folder, {"DATABASE_URL": url, "KNOWLEX_DATA_DIR": str(folder)})
    stack.postgres.drop_database(name)


def documents_of(stack: Stack, database: str) -> dict[str, str]:
    query = "SELECT original_filename, file FROM documents_document ORDER BY 1"
    return {row["original_filename"]: row["file"] for row in stack.postgres.execute(query, database=database)}


def restore(stack: Stack, place: Place, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "restore", str(folder), *words],
        cwd=PROJECT, env=stack.env | place.env, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_what_was_stored_at_one_moment_is_there_again(stack: Stack, backup: Path, place: Place):
    done = restore(stack, place, backup)
    assert done.returncode == 0, done.stderr

    restored = documents_of(stack, place.database)
    assert {"lamp.txt", "kettle.txt"} < set(restored)
    assert set(restored.values()) <= {
        str(p.relative_to(place.folder / "files")) for p in place.folder.rglob("*.*")
    }
    assert (place.folder / "secret_key").read_text() == (stack.folder / "secret_key").read_text()
    assert (place.folder / "secret_key").stat().st_mode & 0o077 == 0
    assert "All is well" in stack.manage("sanity", "--deep", env=place.env)
    for _, question, answer in FACTS:
        before, after = (
            json.loads(stack.manage("ask", question, "--json", env=env)) for env in ({}, place.env)
        )
        assert answer in after["answer"]
        assert (after["answer"], after["citations"]) == (before["answer"], before["citations"])


@pytest.mark.slow
def test_a_new_machine_needs_the_backup_alone(stack: Stack, backup: Path, tmp_path: Path):
    """A cluster of its own has no role of ours yet, and the row security needs it."""
    data = environment.FOLDER / "new_machine"
    try:
        done = manage("restore", str(backup), "--data-dir", str(data))
        assert done.returncode == 0, done.stderr
        code = f"from knowlex.db.threads import execute; print(execute({READING!r}))"
        told = manage("shell", "-v0", "-c", code, KNOWLEX_DATA_DIR=str(data))
        assert "[(False, True, True, True)]" in told.stdout, told.stdout + told.stderr
        assert "All is well" in manage("sanity", "--data-dir", str(data)).stdout
        told = manage("restore", str(backup), "--data-dir", str(data))
        assert "--replace deletes all of them" in told.stderr
    finally:
        shutil.rmtree(data, ignore_errors=True)


READING = """
    SELECT (SELECT rolcanlogin FROM pg_roles WHERE rolname = 'knowlex_reader'),
        pg_has_role('knowlex_reader', 'MEMBER'),
        has_table_privilege('knowlex_reader', 'documents_chunk', 'SELECT'),
        (SELECT relrowsecurity FROM pg_class WHERE relname = 'documents_chunk')
"""


def test_a_file_stays_while_it_is_backed_up_though_its_document_goes(
    stack: Stack, place: Place, tmp_path: Path
):
    id_ = stored(stack.client, text("The guest book lies on the desk.", "desk.txt"))
    (name,) = [
        file for document, file in documents_of(stack, stack.database).items() if document == "desk.txt"
    ]
    target = tmp_path / "held"
    with held_up(stack, "backup", str(target)) as process:
        assert stack.client.delete(f"/v1/documents/{id_}").status_code == 200
        assert stack.client.get(f"/v1/documents/{id_}").status_code == 404
        assert (stack.folder / "files" / name).exists()
        dump = next(child for child in process.children() if child.name() == "pg_dump")
        assert PASSWORD not in " ".join(dump.cmdline())
        assert dump.environ()["PGPASSWORD"] == PASSWORD
        another = subprocess.run(
            [sys.executable, "manage.py", "backup", str(tmp_path / "another")],
            cwd=PROJECT, env=stack.env, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert "Another backup of this database is being made" in another.stderr

    assert restore(stack, place, target).returncode == 0
    assert "desk.txt" in documents_of(stack, place.database)
    assert "All is well" in stack.manage("sanity", "--deep", env=place.env)

    path = stack.folder / "files" / name
    os.utime(path, (0, 0))
    with commands.on(stack):
        sweep_orphan_files()
    assert not path.exists()


@pytest.mark.slow
def test_a_backup_that_was_killed_says_so_and_can_be_made_again(stack: Stack, place: Place, tmp_path: Path):
    target = tmp_path / "killed"
    with held_up(stack, "backup", str(target)) as process:
        family = process.children(recursive=True)
        process.kill()
        psutil.wait_procs(family, timeout=10)
        assert not any(child.is_running() for child in family)

    assert not target.exists()
    told = restore(stack, place, tmp_path / "killed.part")
    assert "is no whole backup" in told.stderr
    stack.manage("backup", str(target))
    assert restore(stack, place, target).returncode == 0


@pytest.mark.slow
def test_a_restore_that_was_killed_changes_no_row_says_so_and_can_be_run_again(
    stack: Stack, backup: Path, place: Place
):
    assert restore(stack, place, backup).returncode == 0
    stack.postgres.execute(
        "UPDATE documents_collection SET description = 'as it was'", database=place.database
    )
    command = [sys.executable, "manage.py", "restore", str(backup), "--replace"]
    process = processes.start(command, env=stack.env | place.env, log=place.folder / "killed.log")
    loads = "SELECT 1 FROM pg_stat_activity WHERE datname = %s AND application_name = 'psql'"
    wait_until(lambda: stack.postgres.execute(loads, place.database), what="psql at work")
    processes.kill_group(process)
    wait_until(lambda: not stack.postgres.execute(loads, place.database), what="the end of its session")

    rows = stack.postgres.execute("SELECT description FROM documents_collection", database=place.database)
    assert {row["description"] for row in rows} == {"as it was"}
    for command in (["sanity"], ["up", "--port", "0"]):
        told = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=PROJECT, env=stack.env | place.env, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert told.returncode == 1
        assert "has not ended. Run `manage.py restore` again." in told.stderr
    assert restore(stack, place, backup, "--replace").returncode == 0
    assert "All is well" in stack.manage("sanity", env=place.env)


MANY_VIEWS = """
    DO $$ BEGIN FOR n IN 1..100 LOOP
        EXECUTE format('CREATE VIEW seen_%s AS SELECT id FROM documents_document', n);
    END LOOP; END $$
"""


def test_what_goes_with_a_table_is_dropped_but_once(stack: Stack, backup: Path, place: Place):
    """More than PostgreSQL reads of its catalog at a time, in whichever order it does."""
    assert restore(stack, place, backup).returncode == 0
    stack.postgres.execute(MANY_VIEWS, database=place.database)

    done = restore(stack, place, backup, "--replace")

    assert done.returncode == 0, done.stderr
    assert "All is well" in stack.manage("sanity", env=place.env)


LATER = """
    CREATE TABLE rag_later (document_id uuid REFERENCES documents_document (id));
    CREATE FUNCTION rag_later() RETURNS int LANGUAGE sql RETURN (SELECT count(*)::int FROM rag_later);
    INSERT INTO rag_later SELECT id FROM documents_document;
    INSERT INTO django_migrations (app, name, applied) VALUES ('rag', '9999_later', now());
"""


@pytest.mark.slow
def test_the_backup_made_before_an_upgrade_is_the_way_back(stack: Stack, backup: Path, place: Place):
    assert restore(stack, place, backup).returncode == 0
    stack.postgres.execute(LATER, database=place.database)

    assert restore(stack, place, backup, "--replace").returncode == 0

    later = (
        "SELECT relname::text FROM pg_class WHERE relname = 'rag_later' "
        "UNION SELECT proname FROM pg_proc WHERE proname = 'rag_later' "
        "UNION SELECT name FROM django_migrations WHERE name = '9999_later'"
    )
    assert stack.postgres.execute(later, database=place.database) == []
    assert "All is well" in stack.manage("sanity", env=place.env)


@pytest.mark.slow
def test_a_damaged_or_newer_backup_changes_nothing(stack: Stack, backup: Path, place: Place, tmp_path: Path):
    for name, change in CHANGES.items():
        copy = tmp_path / name
        shutil.copytree(backup, copy)
        change(copy)
        told = restore(stack, place, copy)
        assert told.returncode == 1, name
        assert name in told.stderr
        assert not (place.folder / "restore_unfinished").exists()
        assert (
            stack.postgres.execute(
                "SELECT 1 FROM pg_class WHERE relname LIKE 'documents%%'", database=place.database
            )
            == []
        )


def _of_a_newer_one(folder: Path) -> None:
    manifest = json.loads((folder / "backup.json").read_text())
    manifest["migrations"].append(["documents", "9999_later"])
    (folder / "backup.json").write_text(json.dumps(manifest))


def _cut_off(folder: Path) -> None:
    os.truncate(folder / "database.dump", (folder / "database.dump").stat().st_size * 3 // 4)


CHANGES = {"A newer Knowlex made this backup": _of_a_newer_one, "pg_restore failed": _cut_off}


@pytest.mark.slow
def test_who_is_connected_keeps_the_database_from_being_replaced(stack: Stack, backup: Path, place: Place):
    with psycopg.connect(place.env["DATABASE_URL"]):
        told = restore(stack, place, backup)
    assert "Others are connected to the database" in told.stderr
    assert restore(stack, place, backup).returncode == 0


@contextmanager
def held_up(stack: Stack, *words: str) -> Iterator[psutil.Process]:
    """The process of a command whose pg_dump waits for a table until the block ends, and ends well then."""
    log = stack.folder / "held.log"
    with psycopg.connect(stack.postgres.url(stack.database)) as holder:
        holder.execute("LOCK TABLE rag_feedback IN ACCESS EXCLUSIVE MODE")
        process = processes.start([sys.executable, "manage.py", *words], env=stack.env, log=log)
        waits = (
            "SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
            "WHERE NOT l.granted AND a.application_name = 'pg_dump'"
        )
        wait_until(lambda: stack.postgres.execute(waits), what="pg_dump")
        yield psutil.Process(process.pid)
    assert process.wait(60) in (0, -signal.SIGKILL), log.read_text()
