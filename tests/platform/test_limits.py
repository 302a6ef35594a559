"""What a request may cost: statements, memory, and who may send it."""

import base64
from datetime import timedelta

import psutil
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from documents.access.scopes import FULL
from documents.ingest import idempotency
from documents.library import collections, listing
from documents.library.collections import create_collection
from documents.models import Collection, IdempotencyRecord, IngestItem, IngestJob
from knowlex.web.pagination import Page
from tests.conftest import MakeStack
from tests.platform.talk import accepted, ended, post, stored, text
from tests.support.api import assert_problem


def statements(call) -> int:
    with CaptureQueriesContext(connection) as captured:
        call()
    return len(captured)


@pytest.mark.django_db
@pytest.mark.parametrize("rows", [1, 30])
def test_lists_take_one_statement_whatever_their_length(rows: int):
    for n in range(rows):
        made = create_collection(access=FULL, name=f"c{n}")
        job = IngestJob.objects.create(collection_id=made.id)
        IngestItem.objects.create(
            job=job, collection_id=made.id, position=0, source_type="text", filename="a"
        )

    assert Collection.objects.count() >= rows
    assert statements(lambda: collections.list_collections(access=FULL, page=Page(sort="name"))) == 1
    wanted = listing.DocumentFilter()
    assert statements(lambda: listing.list_documents(access=FULL, page=Page(), wanted=wanted)) == 1


@pytest.mark.django_db
def test_old_records_of_repeatable_requests_are_forgotten():
    old = IdempotencyRecord.objects.create(key="old", fingerprint="x")
    IdempotencyRecord.objects.create(key="new", fingerprint="x")
    IdempotencyRecord.objects.filter(id=old.id).update(created_at=timezone.now() - timedelta(hours=25))

    assert idempotency.forget_expired() == 1
    assert IdempotencyRecord.objects.get().key == "new"


def test_a_document_that_is_too_large_fails_alone_and_memory_stays(make_stack: MakeStack):
    server = make_stack(KNOWLEX_MAX_UPLOAD_MB="8")
    client = server.client
    stored(client, text("Warm."))
    server.warm_web()
    web = psutil.Process(server.web.pid)
    before = web.memory_info().rss
    large = base64.b64encode(b"%PDF-1.4 " + bytes(9 * 2**20)).decode()

    source = {"type": "file", "content": large, "filename": "large.pdf"}
    job = accepted(client, {"source": source}, text("Small words."))
    report = ended(client, job["job_id"])

    assert job["documents_queued"] == 1
    assert [one["status"] for one in report["documents"]] == ["failed", "completed"]
    assert report["documents"][0]["error_code"] == "PAYLOAD_TOO_LARGE"
    assert web.memory_info().rss - before < 20 * 2**20
    source["content"] = large * 3
    assert_problem(post(client, {"source": source}), 413, "PAYLOAD_TOO_LARGE")
