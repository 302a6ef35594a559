"""Ingest jobs in the admin: what a job's page says while it runs, and what can be done there."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from documents.models import Collection, Document, IngestItem, IngestJob
from embeddings import services
from embeddings.ingest import documents
from knowlex.runtime import liveness
from tests.admin.conftest import COMPLETED, FAILED

pytestmark = pytest.mark.django_db
LIST = "/admin/documents/ingestjob/"


def progress(client: Client, job: IngestJob, **query: Any) -> dict[str, Any]:
    return client.get(f"{LIST}{job.pk}/progress/", query).json()


def test_several_files_are_uploaded_at_once_and_their_job_tells_how_they_end(
    admin_client: Client, collection: Collection
) -> None:
    files = [
        SimpleUploadedFile("kenya.md", b"# Kenya\n\nNairobi is the capital of Kenya.\n"),
        SimpleUploadedFile("empty.txt", b""),
    ]

    answer = admin_client.post(
        "/admin/documents/document/add/", {"collection": str(collection.pk), "documents": files}
    )

    job = IngestJob.objects.get()
    assert answer.headers["Location"] == f"{LIST}{job.pk}/change/"
    first, second = progress(admin_client, job)["items"]
    assert (first["name"], first["state"], first["stage"]) == ("kenya.md", "pending", "queued")
    assert (second["state"], second["error"]) == ("failed", "File is empty.")

    for batch in documents.run_next():
        services.embed_batch(batch)

    after = progress(admin_client, job)
    assert not after["running"]
    assert after["bars"][2] == {"name": "chunks", "done": 1, "total": 1, "text": "1 of 1"}
    document = Document.objects.get()
    assert after["items"][0]["url"] == f"/admin/documents/document/{document.pk}/change/"


def test_the_page_shows_every_document_with_its_stage_its_bar_and_its_error(
    admin_client: Client, make_job: Callable[..., IngestJob], django_assert_max_num_queries: Any
) -> None:
    reading = {"status": "processing", "stage": "extracting", "pages_total": 40, "pages_done": 10}
    job = make_job(COMPLETED, FAILED, {}, reading, *[COMPLETED] * 60)

    with django_assert_max_num_queries(10):
        page = admin_client.get(f"{LIST}{job.pk}/change/").content.decode()

    assert "10 of 40" in page
    assert "It holds no text." in page
    assert "62 of 64" in page


def test_who_died_with_a_document_in_hand_leaves_it_stalled(
    admin_client: Client, make_job: Callable[..., IngestJob]
) -> None:
    past = timezone.now() - timedelta(minutes=1)
    held = {"status": "processing", "stage": "extracting", "lease": uuid4()}
    job = make_job({**held, "leased_until": past}, {**held, "leased_until": past + timedelta(hours=1)}, {})

    data = progress(admin_client, job)

    assert data["state"] == "stalled"
    assert [item["state"] for item in data["items"]] == ["stalled", "processing", "pending"]


def test_what_waits_long_is_stalled_only_while_no_worker_is_alive(
    admin_client: Client, make_job: Callable[..., IngestJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make_job({})
    job.items.update(created_at=timezone.now() - timedelta(minutes=1))
    monkeypatch.setattr(liveness, "_counted", (0.0, 0))
    assert progress(admin_client, job)["items"][0]["state"] == "stalled"

    liveness.beat("here", 1)
    monkeypatch.setattr(liveness, "_counted", (0.0, 0))
    assert progress(admin_client, job)["items"][0]["state"] == "pending"
    liveness.silence("here", 1)


def test_progress_is_for_staff_only(client: Client, make_job: Callable[..., IngestJob]) -> None:
    job = make_job(COMPLETED)

    answer = client.get(f"{LIST}{job.pk}/progress/")

    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/admin/login/")


def test_a_large_job_is_shown_in_pages(admin_client: Client, make_job: Callable[..., IngestJob]) -> None:
    job = make_job(*[COMPLETED] * 130)

    assert len(progress(admin_client, job)["items"]) == 100
    assert len(progress(admin_client, job, page=2)["items"]) == 30


@pytest.mark.parametrize(("state", "expected"), [("open", 1), ("failed", 2), ("done", 1)])
def test_jobs_filter_by_how_they_are(
    admin_client: Client, make_job: Callable[..., IngestJob], state: str, expected: int
) -> None:
    make_job(COMPLETED)
    make_job(COMPLETED, FAILED)
    make_job({}, FAILED)

    page = admin_client.get(LIST, {"state": state})

    assert len(page.context["cl"].result_list) == expected


@pytest.mark.parametrize("whole_job", [True, False])
def test_what_failed_is_tried_again(
    admin_client: Client, make_job: Callable[..., IngestJob], whole_job: bool
) -> None:
    job = make_job(COMPLETED, {**FAILED, "file": "documents/x.txt"}, {**FAILED, "file": "documents/y.txt"})
    item = IngestItem.objects.get(job=job, position=1)

    url = f"{LIST}{job.pk}/retry/" if whole_job else f"{LIST}{job.pk}/{item.pk}/retry/"
    page = admin_client.post(url, follow=True).content.decode()

    assert ("2 documents will be tried again." if whole_job else "1 document will be tried again.") in page
    assert job.items.filter(status="pending").count() == (2 if whole_job else 1)


def test_nothing_is_done_by_a_link(admin_client: Client, make_job: Callable[..., IngestJob]) -> None:
    job = make_job(FAILED)
    item = job.items.get()

    for path in ("retry/", f"{item.pk}/retry/", f"{item.pk}/delete/"):
        assert admin_client.get(f"{LIST}{job.pk}/{path}").status_code == 403
    assert IngestItem.objects.get().status == "failed"


def test_a_document_that_waits_is_deleted_from_the_jobs_page(
    admin_client: Client, make_job: Callable[..., IngestJob]
) -> None:
    job = make_job({}, {})
    item = job.items.first()

    page = admin_client.post(f"{LIST}{job.pk}/{item.pk}/delete/", follow=True).content.decode()

    assert "Deleted: 1 document, 0 pages, 0 chunks and 0 vectors." in page
    assert [line["state"] for line in progress(admin_client, job)["items"]] == ["deleted", "pending"]


def test_deleting_a_job_gives_up_what_is_not_stored_and_keeps_what_is(
    admin_client: Client, make_job: Callable[..., IngestJob], make_document: Callable[..., Document]
) -> None:
    document = make_document("stored.pdf", embedded=1)
    embedding = make_document("embedding.pdf", pending=1)
    under_way = {"id": embedding.pk, "status": "processing", "stage": "embedding"}
    job = make_job({**COMPLETED, "id": document.pk}, {}, FAILED, under_way)

    question = admin_client.get(f"{LIST}{job.pk}/delete/").content.decode()
    admin_client.post(f"{LIST}{job.pk}/delete/", {"post": "yes"})

    assert "2 stored documents will stay." in question
    assert not IngestJob.objects.exists()
    assert not IngestItem.objects.exists()
    assert set(Document.objects.all()) == {document, embedding}
