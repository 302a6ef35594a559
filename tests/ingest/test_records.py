"""Records of jobs: kept for people, then forgotten, while the documents stay."""

from datetime import timedelta

import pytest
from django.utils import timezone

from documents.ingest.jobs import forget_finished_jobs
from documents.models import Collection, Document, IngestItem, IngestJob

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("status", "days", "kept"),
    [
        ("completed", 6, True),
        ("completed", 8, False),
        ("failed", 8, True),
        ("failed", 31, False),
        ("processing", 99, True),
    ],
)
def test_a_record_is_kept_a_week_with_failures_a_month_and_unfinished_for_ever(
    status: str, days: int, kept: bool
):
    collection, _ = Collection.objects.get_or_create(name="default")
    job = IngestJob.objects.create(collection=collection)
    IngestItem.objects.create(job=job, collection=collection, position=0, filename="a", status=status)
    IngestJob.objects.update(created_at=timezone.now() - timedelta(days=days))
    forget_finished_jobs()
    assert IngestJob.objects.exists() is kept
    assert IngestItem.objects.exists() is kept


def test_a_version_that_no_job_tells_of_any_more_is_forgotten_with_it():
    """Its document stays; so does a version whose job is still on record."""
    collection, _ = Collection.objects.get_or_create(name="default")
    job = IngestJob.objects.create(collection=collection)

    def stored(number: int, **fields: object) -> Document:
        return Document.objects.create(
            collection=collection, source="PDF", original_filename="a.pdf", checksum=f"{number:064}",
            size_bytes=1, file=f"{number}", page_count=1, chunk_count=0, **fields,
        )  # fmt: skip

    first, second = stored(1), stored(2)
    forgotten, told = stored(3, replaces=first), stored(4, replaces=second)
    IngestItem.objects.create(
        id=told.id, job=job, collection=collection, position=0, filename="a", status="failed", replaces=second
    )
    forget_finished_jobs()
    assert set(Document.objects.all()) == {first, second, told}
    assert forgotten.replaces == first
