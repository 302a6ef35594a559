"""What the pages of the admin share: states, times, progress of jobs, and deleting with a receipt."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.actions import delete_selected as confirmed_delete
from django.db.models import (
    BooleanField,
    Case,
    Count,
    Exists,
    F,
    FloatField,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce, JSONObject, Now, NullIf
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from documents.admin.words import count_noun
from documents.models import Document, IngestItem, IngestJob
from embeddings.ingest.documents import DeletionReceipt
from embeddings.ingest.job_reports import STALLED_AFTER_S
from embeddings.models import Embedding
from knowlex.runtime.liveness import count_alive_now


def count_per_document(rows: QuerySet[Any]) -> Coalesce:
    """Count how many of `rows` (which have a chunk) belong to the document of the outer query; 0 if none."""
    counted = (
        rows.filter(chunk__document=OuterRef("pk"))
        .order_by()
        .values("chunk__document")
        .annotate(n=Count("chunk_id"))
        .values("n")
    )
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


class EmbeddingStateFilter(admin.SimpleListFilter):
    title = "embedding"
    parameter_name = "embedding"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("embedded", "Embedded"), ("pending", "Pending"), ("failed", "Failed")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return queryset
        if queryset.model is Document:
            return self._documents(queryset)
        return queryset.filter(state=self.value())

    def _documents(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "failed":
            return queryset.filter(failed__gt=0)
        if self.value() == "embedded":
            return queryset.filter(embedded=F("chunk_count"))
        return queryset.filter(embedded__lt=F("chunk_count") - F("failed"))


COMPLETED, ENDED_BADLY = Q(status=IngestItem.Status.COMPLETED), Q(status=IngestItem.Status.FAILED)
DUPLICATE = Q(error_code="DUPLICATE")  # the collection has it already: nothing went wrong
FAILED = ENDED_BADLY & ~DUPLICATE
ENDED = COMPLETED | ENDED_BADLY
STALLED = ~ENDED & Q(
    lease__isnull=False, leased_until__lt=Now()
)  # who had it in hand is gone, and nobody has taken it over yet
NEGLECTED = (  # nobody has it in hand; whether that is wrong is known once the workers are counted
    ~ENDED & Q(lease__isnull=True) & Q(waiting_since__lt=Now() - timedelta(seconds=STALLED_AFTER_S))
)
_SINCE = {"waiting_since": Coalesce("started_at", "created_at")}
_STORED = Document.objects.filter(pk=OuterRef("pk"))
_NONE: dict[str, Any] = {
    "total": 0,
    "ended": 0,
    "failed": 0,
    "duplicates": 0,
    "started": 0,
    "stalled": 0,
    "neglected": 0,
}
_NONE |= {"pages_total": 0, "pages_done": 0, "chunks_made": 0, "embedded": 0, "done": 0.0}
_NONE |= {"first_start": None, "last_end": None}
MIN_SHARE, MIN_SECONDS = 0.02, 3.0  # of a job, before the time that is left can be told


def with_progress(jobs: QuerySet[IngestJob]) -> QuerySet[Any]:
    """Add `progress`, a dict: total, ended, failed, duplicates, started, stalled, neglected (all numbers of
    documents), done (the same in fractions: half of a document is reading it, half embedding it),
    pages_total, pages_done, chunks_made, embedded, first_start and last_end (ISO 8601, or None).
    """
    embedded = _count_embedded()
    read = Coalesce(F("pages_done") * 1.0 / NullIf(F("pages_total"), 0), 0.0)
    has_vectors = Coalesce(embedded * 1.0 / NullIf(F("chunks_made"), 0), 0.0)
    share = Case(When(ENDED, then=1.0), default=read / 2 + has_vectors / 2, output_field=FloatField())
    summary = JSONObject(
        total=Count("id"),
        ended=Count("id", filter=ENDED),
        failed=Count("id", filter=FAILED),
        duplicates=Count("id", filter=ENDED_BADLY & DUPLICATE),
        started=Count("id", filter=~Q(status=IngestItem.Status.PENDING)),
        stalled=Count("id", filter=STALLED),
        neglected=Count("id", filter=NEGLECTED),
        pages_total=Sum("pages_total"),
        pages_done=Sum("pages_done"),
        chunks_made=Sum("chunks_made"),
        embedded=Sum(embedded),
        done=Sum(share),
        first_start=Min("started_at"),
        last_end=Max("ended_at"),
    )
    items = IngestItem.objects.filter(job=OuterRef("pk")).order_by().values("job")
    summaries = Subquery(items.alias(**_SINCE).annotate(summary=summary).values("summary"))
    return jobs.annotate(progress=Coalesce(summaries, Value(_NONE, summary.output_field)))


def filter_not_stored(items: QuerySet[Any]) -> QuerySet[Any]:
    """Keep new documents that wait, are being read or failed; one that is only being embedded is stored."""
    return items.filter(~COMPLETED, ~Exists(_STORED), replaces=None, deleted_at=None)


def _count_embedded() -> Case:
    """Count an item's chunks that have their vector; of a completed one, all."""
    vectors = count_per_document(Embedding.objects.filter(model__active=True))
    return Case(
        When(COMPLETED, then=F("chunks_made")),
        When(chunks_made__gt=0, then=vectors),
        default=0,
        output_field=IntegerField(),
    )


def read_items(job_id: UUID, *, first: int, limit: int) -> list[Any]:
    """Return the job's documents from position `first` on, each with `embedded`, `stalled` and
    `neglected`.
    """
    flags = {
        name: Case(When(which, then=True), default=False, output_field=BooleanField())
        for name, which in {"stalled": STALLED, "neglected": NEGLECTED}.items()
    }
    rows = IngestItem.objects.filter(job_id=job_id).order_by("position").defer("metadata")
    return list(rows.alias(**_SINCE).annotate(embedded=_count_embedded(), **flags)[first : first + limit])


def job_state(progress: dict[str, Any]) -> str:
    """Return a job's state, from `with_progress`: completed (some of it may have failed), failed (all),
    stalled (who had a document in hand is gone, or it waits and no worker is alive), processing or pending.
    """
    if progress["ended"] == progress["total"]:
        return "failed" if progress["total"] and progress["failed"] == progress["total"] else "completed"
    if progress["stalled"] or (progress["neglected"] and not count_alive_now()):
        return "stalled"
    return "processing" if progress["started"] else "pending"


def format_duration(start: datetime | None, end: datetime | None) -> str:
    """Return `1 h 2 min`, `2 min 5 s` or `0.8 s`; until now, if there is no end; a dash without a start."""
    if start is None:
        return "–"
    seconds = max(0.0, ((end or timezone.now()) - start).total_seconds())
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, left = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {left} s" if minutes else f"{left} s"
    return f"{minutes // 60} h {minutes % 60} min"


def estimate_left(progress: dict[str, Any]) -> str:
    """Return the time that a running job still takes, at the pace that it had; "" where nobody knows."""
    total, done = progress["total"], min(progress["done"], progress["total"])
    if not progress["first_start"] or progress["ended"] == total or done < MIN_SHARE * total:
        return ""
    passed = timezone.now() - datetime.fromisoformat(progress["first_start"])
    if passed.total_seconds() < MIN_SECONDS:
        return ""
    seconds = passed.total_seconds() * (total - done) / done
    if seconds < 10:
        return "a few seconds"
    if seconds < 90:
        return f"about {round(seconds, -1):.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.0f} h"


def receipt_text(receipt: DeletionReceipt) -> str:
    """Return for a person what a deletion took along."""
    parts = [
        count_noun(receipt.documents, "document"),
        count_noun(receipt.pages, "page"),
        count_noun(receipt.chunks, "chunk"),
        count_noun(receipt.vectors, "vector"),
    ]
    return f"Deleted: {', '.join(parts[:-1])} and {parts[-1]}."


class DeletingWithReceipt(admin.ModelAdmin[Any]):
    """`receipt_of_deleting` and `get_deleted_objects` are left to the model's own admin."""

    delete_selected_confirmation_template = "admin/documents/delete_selected.html"

    def receipt_of_deleting(self, rows: Any) -> DeletionReceipt:
        """Delete these rows with all that hangs on them."""
        raise NotImplementedError

    @admin.action(permissions=["delete"], description="Delete the selected ones with everything in them")
    def delete_selected(self, request: HttpRequest, queryset: Any) -> HttpResponse | None:
        if not request.POST.get("post"):
            return confirmed_delete(self, request, queryset)
        rows = list(queryset)
        self.log_deletions(request, queryset)
        self._show_receipt(request, self.receipt_of_deleting(rows))
        return None

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self._show_receipt(request, self.receipt_of_deleting([obj]))

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        """Go back to the list without a message: the receipt is one."""
        opts = self.opts
        return HttpResponseRedirect(reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist"))

    def _show_receipt(self, request: HttpRequest, receipt: DeletionReceipt) -> None:
        self.message_user(request, receipt_text(receipt), messages.SUCCESS)
