"""Records of jobs: kept for people, then forgotten, while the documents stay."""

from datetime import timedelta

import pytest
from django.utils import timezone

from documents.jobs import forget_finished_jobs
from documents.models import Collection, IngestItem, IngestJob

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
