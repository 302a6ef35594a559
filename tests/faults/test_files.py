"""The folder of files is full, read-only, gone or another one: uploads are refused, /health says why."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowlex.runtime.disk import has_room
from tests.edges.test_health import becomes
from tests.support import mounts
from tests.support.api import ask, assert_problem, embed, ingest, upload
from tests.support.invariants import assert_documents_whole
from tests.support.stack import Stack
from tests.support.texts import facts_pdf, question

MEGABYTES = 60  # more than the largest upload takes


@pytest.fixture
def disk(server: Stack) -> Iterator[Path]:
    """The folder of files, on a small disk of its own."""
    folder = server.folder / "files"
    with mounts.small_disk(folder, MEGABYTES):
        becomes(server.client, files="writable", status="healthy")
        yield folder
        server.clean()


@pytest.fixture
def moved(server: Stack) -> Iterator[Path]:
    """Where the folder of files has gone to."""
    folder, elsewhere = server.folder / "files", server.folder / "elsewhere"
    ingest(server.client, facts_pdf(2))
    ingest(server.client, facts_pdf(2, first=50))
    embed(server.client)
    folder.rename(elsewhere)
    yield elsewhere
    if elsewhere.exists():
        shutil.rmtree(folder, ignore_errors=True)
        elsewhere.rename(folder)


def test_f44_a_full_disk_refuses_uploads_keeps_nothing_and_is_told(server: Stack, disk: Path):
    client = server.client
    ingest(client, facts_pdf(10))
    embed(client)
    with mounts.filled(disk):
        assert becomes(client, files="full", status="degraded")[0] == 200
        assert_problem(upload(client, facts_pdf(10, first=50)), 507, "INSUFFICIENT_STORAGE")
        assert ask(client, question(1)).status_code == 200
        assert not has_room(disk)  # by which `up` waits, and does not give up
        told = server.run("doctor").stdout
        assert "FAILS files        KNOWLEX_DATA_DIR/files: There is no room for the largest upload." in told
        assert f"FAILS web server   {server.url}: answers 200, degraded: files full" in told
    assert has_room(disk)
    assert_documents_whole(server)
    becomes(client, files="writable", status="healthy")
    ingest(client, facts_pdf(10, first=50))


def test_a_disk_with_less_room_than_an_upload_takes_counts_as_full(server: Stack, disk: Path):
    (disk / "filler").write_bytes(bytes(20 << 20))
    becomes(server.client, files="full", status="degraded")
    (disk / "filler").unlink()
    becomes(server.client, files="writable", status="healthy")


def test_f46_a_read_only_folder_refuses_uploads_and_is_told(server: Stack, disk: Path):
    client = server.client
    ingest(client, facts_pdf(10))
    embed(client)
    mounts.set_read_only(disk, on=True)
    try:
        assert becomes(client, files="read_only", status="degraded")[0] == 200
        assert_problem(upload(client, facts_pdf(10, first=50)), 507, "INSUFFICIENT_STORAGE")
        assert ask(client, question(1)).status_code == 200
    finally:
        mounts.set_read_only(disk, on=False)
    assert_documents_whole(server)
    becomes(client, files="writable", status="healthy")
    ingest(client, facts_pdf(10, first=50))


def test_f46_a_missing_folder_is_told_and_made_by_the_next_upload(server: Stack, moved: Path):
    client = server.client
    assert becomes(client, files="missing", status="degraded")[0] == 200
    assert "It is not there, or holds none of the files on record." in server.run("doctor").stdout
    assert ask(client, question(1)).status_code == 200
    mended = upload(client, facts_pdf(2, first=500))
    assert mended.status_code == 201
    becomes(client, files="writable", status="healthy")


def test_f46_another_folder_in_its_place_is_told(server: Stack, moved: Path):
    """As when a disk was not mounted: the folder can be written, but no file on record lies in it."""
    (server.folder / "files").mkdir()
    becomes(server.client, files="missing", status="degraded")
    (server.folder / "files").rmdir()  # nothing was put there
    moved.rename(server.folder / "files")
    becomes(server.client, files="writable", status="healthy")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_f46_a_folder_of_another_owner_is_told(server: Stack):
    folder = server.folder / "files"
    folder.chmod(0o500)
    try:
        becomes(server.client, files="read_only", status="degraded")
    finally:
        folder.chmod(0o700)
    becomes(server.client, files="writable", status="healthy")
