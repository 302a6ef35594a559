"""Sources run turn by turn in this process: the folder, the database and the kills are real."""

import hashlib
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from documents.access import FULL
from documents.ingest.jobs import NewDocument, create_job
from documents.library.collection_settings import default_chunking
from documents.library.collections import find_collection
from documents.library.storage import Staging
from documents.models import Document, IngestItem, Source, SourceItem
from documents.sources import queue, services
from embeddings import services as embedding
from embeddings.ingest import documents, sync
from tests.embeddings.conftest import configure
from tests.faults.conftest import chance

__all__ = ["chance", "configure"]


def checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def work() -> bool:
    """What a worker does when it is told that there is work; False if there was none."""
    done = [sync.run_turn(), documents.run_next(), embedding.work_once()]
    return any(map(bool, done))


def finish(source: Source) -> Source:
    """Work until the source's run has ended."""
    for _ in range(3000):
        row = services.get_source(str(source.id), access=FULL)
        if row.state not in services.RUNNING:
            return row
        if not work():
            embedding.sweep()
    raise AssertionError(f"the run does not end: {row.state} {row.stage}")


def run(source: Source, **options: bool) -> Source:
    services.start_run(str(source.id), access=FULL, **options)
    return finish(source)


def let_leases_end() -> None:
    """As if 15 s had gone by."""
    Source.objects.filter(lease__isnull=False).update(leased_until=timezone.now())


def killed_at(source: Source, moment: int) -> bool:
    """Let another process do the run, which is killed before (even) or after (odd) it records its n-th step;
    False if the run has ended without coming that far. What is to be read and embedded is done here.
    """
    while services.get_source(str(source.id), access=FULL).state in services.RUNNING:
        connections.close_all()
        pid = os.fork()
        if pid == 0:
            _run_until(moment)
        _, status = os.waitpid(pid, 0)
        if os.WIFSIGNALED(status):
            let_leases_end()
            return True
        moment -= os.WEXITSTATUS(status)
        while documents.run_next() or embedding.work_once():
            pass
        embedding.sweep()
    return False


def _run_until(moment: int) -> None:
    """End with twice the number of steps as the status."""
    real, count = queue.record, 0

    def record(*args: Any, **changes: Any) -> None:
        nonlocal count
        if count == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        real(*args, **changes)
        if count + 1 == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 2

    queue.record = record
    while sync.run_turn().is_more:
        pass
    os._exit(count)


def bring(data: bytes, name: str) -> Any:
    """A document that somebody brings in by hand; its id."""
    with Staging(max_bytes=2**20) as staging:
        staging.write(data)
        job = create_job(
            access=FULL,
            collection=find_collection(None, access=FULL),
            documents=[NewDocument("file", name, staging.finish())],
            chunking=default_chunking(),
        )
    while work() or embedding.sweep()[1]:
        pass
    return IngestItem.objects.get(job=job).id


def stored() -> dict[str, str]:
    """The names of all documents by their checksums; each is read and embedded."""
    rows = Document.objects.values_list("checksum", "original_filename", "status", "replaces")
    assert {(status, replaces) for _, _, status, replaces in rows} <= {("completed", None)}
    return {checksum: name for checksum, name, *_ in rows}


def states(source: Source) -> dict[str, str]:
    """The state of each file, by its path."""
    items = SourceItem.objects.filter(source=source, path__isnull=False)
    return {str(item.path): item.state for item in items}


@pytest.fixture
def place(tmp_path: Path, settings: Any) -> Path:
    """A folder below one that the operator allows."""
    settings.SOURCE_FOLDERS = [str(tmp_path / "shared")]
    folder = tmp_path / "shared" / "papers"
    folder.mkdir(parents=True)
    return folder


MakeSource = Callable[..., Source]


@pytest.fixture
def make_source(transactional_db: None, configure: Any, settings: Any) -> MakeSource:
    """`make_source("folder", {"path": …})`."""
    settings.CHUNKING = default_chunking()

    def make(kind: str, config: dict[str, Any], **more: Any) -> Source:
        connection.ensure_connection()
        return services.create_source(
            access=FULL, name=more.pop("name", kind), collection=None, kind=kind, config=config, **more
        )

    return make


@pytest.fixture
def source(make_source: MakeSource, place: Path) -> Source:
    """Of the folder `place`."""
    return make_source("folder", {"path": str(place)})
