"""`manage.py ingest PATH…` as its user sees it: what is taken, what is not and why, and the exit status."""

import json
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from documents.models import IngestJob
from tests.support.commands import manage
from tests.support.environment import PROJECT
from tests.support.stack import Stack
from tests.support.texts import facts_pdf, markdown
from tests.support.waiting import wait_until

Done = subprocess.CompletedProcess[str]


def command(stack: Stack, *words: object, **env: str) -> dict[str, Any]:
    line = [sys.executable, "manage.py", "ingest", *map(str, words)]
    return {"args": line, "cwd": PROJECT, "env": {**stack.env, **env}, "text": True}


def ingest(stack: Stack, *words: object, **env: str) -> Done:
    return subprocess.run(**command(stack, *words, **env), capture_output=True, timeout=120)


def _heed_interrupts() -> None:
    """A shell's background jobs, tests among them, ignore SIGINT, and so would what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two documents, one of them twice, one that is none, and one that is empty."""
    place = tmp_path / "papers"
    (place / "notes").mkdir(parents=True)
    (place / "facts.pdf").write_bytes(facts_pdf(25))
    (place / "notes" / "copy of facts.pdf").write_bytes(facts_pdf(25))
    (place / "notes" / "short.md").write_bytes(markdown("Short", [("One", "A short note on tides.")]))
    (place / "noise.bin").write_bytes(bytes(range(256)) * 40)
    (place / "nothing.md").write_bytes(b"")
    return place


def test_a_folder_is_taken_and_what_failed_is_told_with_its_reason(server: Stack, folder: Path):
    done = ingest(server, folder, "--collection", "papers", "--create")
    assert done.returncode == 1
    told = done.stdout
    assert "2 taken" in told
    assert "1 there already" in told
    assert "2 failed" in told
    assert "nothing.md: File is empty." in told
    assert f"{folder}/noise.bin: " in told
    assert "5/5 documents" in done.stderr
    assert server.count("documents_document", "status = 'completed'") == 2
    assert server.count("documents_ingestjob", "origin = 'command'") == 1
    assert manage(server, "sanity").endswith("All is well.\n")


@pytest.mark.slow
def test_what_is_there_already_is_no_failure(server: Stack, folder: Path):
    papers = [folder / "facts.pdf", folder / "notes"]
    assert ingest(server, *papers).returncode == 0
    again = ingest(server, *papers, "--json")
    report = json.loads(again.stdout)
    assert (again.returncode, report["taken"], report["duplicate"], report["failed"]) == (0, 0, 3, 0)
    ids = {file["document_id"] for file in report["files"]}
    assert ids == {str(row["id"]) for row in server.sql("SELECT id FROM documents_document")}


def test_without_workers_the_work_is_done_by_the_command_itself(server: Stack, folder: Path):
    server.kill_worker()
    done = ingest(server, folder, "--include", "*.md", "--chunking-strategy", "fixed", "--chunk-size", 40)
    assert "No worker is running" in done.stderr
    assert "1 taken" in done.stdout
    (row,) = server.sql("SELECT settings FROM documents_ingestjob")
    assert (row["settings"]["strategy"], row["settings"]["size"]) == ("fixed", 40)
    assert server.count("embeddings_embedding") == server.count("documents_chunk") > 0


@pytest.mark.slow
def test_many_files_go_in_jobs_of_bounded_size(server: Stack, tmp_path: Path):
    for n in range(60):
        (tmp_path / f"{n:02}.md").write_bytes(markdown(f"Note {n}", [("One", f"This is note number {n}.")]))
    done = ingest(server, tmp_path)
    assert (done.returncode, "60 taken" in done.stdout) == (0, True)
    per_job = server.sql("SELECT count(*) AS n FROM documents_ingestitem GROUP BY job_id ORDER BY 1")
    assert [row["n"] for row in per_job] == [10, 50]


@pytest.mark.slow
def test_nobody_needs_to_wait(server: Stack, folder: Path):
    done = ingest(server, folder / "facts.pdf", "--no-wait")
    assert (done.returncode, "1 job(s) are on record" in done.stdout) == (0, True)
    wait_until(lambda: server.count("documents_document", "status = 'completed'"), 30, "the workers")


def test_an_interrupted_command_leaves_its_jobs_going_and_says_so(server: Stack, tmp_path: Path):
    for n in range(3):
        (tmp_path / f"{n}.pdf").write_bytes(facts_pdf(20, first=20 * n))
    with server.paused_worker():  # or it might be done before the signal comes
        process = subprocess.Popen(
            **command(server, tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=_heed_interrupts,
        )
        wait_until(lambda: server.count("documents_ingestitem") == 3, 60, "the job")
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "1 job(s) are on record and go on" in told
    assert "Traceback" not in told
    wait_until(lambda: server.count("documents_document", "status = 'completed'") == 3, 100, "the workers")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--collection", "nowhere"], "--create makes it"),
        (["--include", "*.xyz"], "no files"),
        (["--chunk-size", "5"], "chunk_size must be an integer from 20 to 512"),
        (["--chunk-overlap", "400"], "chunk_overlap must be"),
    ],
)
def test_mistakes_are_told_before_anything_is_done(
    transactional_db: None, folder: Path, words: list[str], told: str
):
    with pytest.raises(CommandError, match=told):
        call_command("ingest", str(folder), *words)
    assert not IngestJob.objects.exists()


def test_paths_that_lead_nowhere_are_failures(transactional_db: None, folder: Path):
    out, progress = StringIO(), StringIO()
    with pytest.raises(SystemExit, match="1"):
        call_command("ingest", str(folder / "missing"), stdout=out, stderr=progress)
    assert "1/1 documents" in progress.getvalue()
    assert "missing: It cannot be read: No such file or directory." in out.getvalue()
