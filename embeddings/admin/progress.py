"""How far ingest jobs are, as the admin shows it: one statement for a list, four for a job's page."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import (
    BooleanField,
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce, JSONObject, Now

from documents.models import Document, IngestItem, IngestJob
from embeddings.admin.state import count_per_document
from embeddings.models import Embedding
from embeddings.work.job_reports import STALLED_AFTER_S

COMPLETED, FAILED = Q(status=IngestItem.Status.COMPLETED), Q(status=IngestItem.Status.FAILED)
ENDED = COMPLETED | FAILED
STALLED = ~ENDED & Q(
    lease__isnull=False, leased_until__lt=Now()
)  # who had it in hand is gone, and nobody has taken it over yet
NEGLECTED = (  # nobody has it in hand; whether that is wrong is known once the workers are counted
    ~ENDED & Q(lease__isnull=True) & Q(waiting_since__lt=Now() - timedelta(seconds=STALLED_AFTER_S))
)
_SINCE = {"waiting_since": Coalesce("started_at", "created_at")}
_STORED = Document.objects.filter(pk=OuterRef("pk"))
_NONE = {"total": 0, "ended": 0, "failed": 0, "started": 0, "stalled": 0, "neglected": 0, "last_end": None}
_NONE |= {"pages_total": 0, "pages_done": 0, "chunks_made": 0}


def with_progress(jobs: QuerySet[IngestJob]) -> QuerySet[Any]:
    """Adds `progress`, a dict: total, ended, failed, started, stalled, neglected (all numbers of documents),
    pages_total, pages_done, chunks_made, last_end (ISO 8601, or None).
    """
    summary = JSONObject(
        total=Count("id"),
        ended=Count("id", filter=ENDED),
        failed=Count("id", filter=FAILED),
        started=Count("id", filter=~Q(status=IngestItem.Status.PENDING)),
        stalled=Count("id", filter=STALLED),
        neglected=Count("id", filter=NEGLECTED),
        pages_total=Sum("pages_total"),
        pages_done=Sum("pages_done"),
        chunks_made=Sum("chunks_made"),
        last_end=Max("ended_at"),
    )
    items = IngestItem.objects.filter(job=OuterRef("pk")).order_by().values("job")
    counted = Subquery(items.alias(**_SINCE).annotate(summary=summary).values("summary"))
    return jobs.annotate(progress=Coalesce(counted, Value(_NONE, summary.output_field)))


def filter_not_stored(items: QuerySet[Any]) -> QuerySet[Any]:
    """Of new documents: those that wait, are being read or failed. What is only being embedded is stored."""
    return items.filter(~COMPLETED, ~Exists(_STORED), replaces=None, deleted_at=None)


def count_embedded(job_id: UUID) -> int:
    """Chunks of the job that have their vector: those of what is completed, and of what is being embedded."""
    items = IngestItem.objects.filter(job_id=job_id)
    done = items.filter(COMPLETED).aggregate(chunks=Coalesce(Sum("chunks_made"), 0))["chunks"]
    under_way = items.filter(~COMPLETED, chunks_made__gt=0).values("id")
    return int(done) + Embedding.objects.filter(model__active=True, chunk__document_id__in=under_way).count()


def read_items(job_id: UUID, *, first: int, limit: int) -> list[Any]:
    """The job's documents from position `first` on, each with `embedded`, `stalled` and `neglected`."""
    vectors = count_per_document(Embedding.objects.filter(model__active=True))
    embedded = Case(
        When(COMPLETED, then=F("chunks_made")),
        When(chunks_made__gt=0, then=vectors),
        default=0,
        output_field=IntegerField(),
    )
    flags = {
        name: Case(When(which, then=True), default=False, output_field=BooleanField())
        for name, which in {"stalled": STALLED, "neglected": NEGLECTED}.items()
    }
    rows = IngestItem.objects.filter(job_id=job_id).order_by("position").defer("metadata")
    return list(rows.alias(**_SINCE).annotate(embedded=embedded, **flags)[first : first + limit])
