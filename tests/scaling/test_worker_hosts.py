"""Workers on another host: they embed in any case, and read documents if they see the files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.platform import talk
from tests.support import api, processes
from tests.support.pdf import make_pdf
from tests.support.stack import Stack
from tests.support.waiting import wait_until

WAITING = "status = 'pending' AND attempts = 0"


@pytest.fixture
def stranger(server: Stack, tmp_path: Path) -> Iterator[Stack]:
    """The stack with a single worker group, which has a data folder of its own and sees no files."""
    server.kill_worker()
    other = server.another_worker(KNOWLEX_DATA_DIR=str(tmp_path))
    yield server
    processes.terminate(other)


@pytest.mark.slow
def test_a_worker_that_sees_no_files_embeds_and_leaves_reading_to_others(stranger: Stack) -> None:
    client = stranger.client
    api.ingest(client, make_pdf("The lamp in the hall is green."), "lamps.pdf")
    assert api.embed(client) == 1
    texts = [talk.text(f"The lamp in room {room} is green.", f"{room}.txt") for room in range(3)]
    job = talk.accepted(client, *texts)
    wait_until(
        lambda: "this worker leaves documents to others" in stranger.log("worker2"), 40, "the worker's choice"
    )
    assert "KNOWLEX_DATA_DIR/files must be the same on every host" in stranger.log("worker2")
    wait_until(lambda: stranger.count("documents_ingestitem", WAITING) == 3, what="documents that nobody has")
    stranger.start_worker()
    report = talk.ended(client, job["job_id"])
    assert report["status"] == "completed"
    assert {one["status"] for one in report["documents"]} == {"completed"}


def test_a_document_whose_file_is_lost_fails_and_says_so(server: Stack) -> None:
    client = server.client
    talk.stored(client, talk.text("The lamp in the hall is green.", "hall.txt"))
    with server.paused_worker():
        job = talk.accepted(client, talk.text("The lamp in the attic is red.", "attic.txt"))
        name = server.sql("SELECT file FROM documents_ingestitem WHERE file <> ''")[0]["file"]
        (server.folder / "files" / name).unlink()
        server.sql(
            "UPDATE documents_ingestitem SET started_at = now() - interval '3 minutes' WHERE file <> ''"
        )
    (failed,) = talk.ended(client, job["job_id"])["documents"]
    assert failed["error_code"] == "NOT_FOUND"
    assert "KNOWLEX_DATA_DIR/files" in failed["error"]
