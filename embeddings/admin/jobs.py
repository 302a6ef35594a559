"""Ingest jobs in the admin: the list, and the page of one with live progress, retry and deletion."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from documents.access import FULL
from documents.admin.words import count_noun, state_badge
from documents.models import Document, IngestItem, IngestJob
from embeddings.admin.display import (
    ENDED,
    FAILED,
    estimate_left,
    filter_not_stored,
    format_duration,
    job_state,
    read_items,
    receipt_text,
    with_progress,
)
from embeddings.ingest import documents as ingestion
from embeddings.tasks import enqueue_ingest, tolerate_lost_hint
from knowlex.base.errors import KnowlexError
from knowlex.runtime.liveness import count_alive_now

ITEMS_A_PAGE = 100
ALREADY_HERE = "Already here: the collection has a document with the same bytes. The name leads to it."
OPEN = (IngestItem.Status.PENDING, IngestItem.Status.PROCESSING)


def job_page(job: Any, *, page: int) -> dict[str, Any]:
    """job: from `with_progress`. page: of its documents, from 1."""
    progress, state = job.progress, job_state(job.progress)
    rows = read_items(job.pk, first=(page - 1) * ITEMS_A_PAGE, limit=ITEMS_A_PAGE)
    named = {row.duplicate_of or row.replaces_id or row.id for row in rows}
    documents = Document.objects.current().existing_ids(named)
    running = state not in ("completed", "failed")
    ended_at = datetime.fromisoformat(progress["last_end"]) if progress["last_end"] and not running else None
    return {
        "state": state,
        "running": running,
        "duration": format_duration(job.created_at, ended_at),
        "left": estimate_left(progress) or "–",
        "failed": progress["failed"],
        "duplicates": progress["duplicates"],
        "bars": [
            _bar("documents", progress["ended"], progress["total"]),
            _bar("pages", progress["pages_done"], progress["pages_total"]),
            _bar("chunks", progress["embedded"], progress["chunks_made"]),
        ],
        "items": [_line(row, documents) for row in rows],
    }


def _bar(name: str, done: int, total: int) -> dict[str, Any]:
    return {"name": name, "done": done, "total": total, "text": f"{done:,} of {total:,}"}


def _line(item: Any, documents: set[UUID]) -> dict[str, Any]:
    document_id = item.replaces_id or item.id
    is_stored = document_id in documents and item.deleted_at is None
    is_duplicate = item.duplicate_of in documents and item.deleted_at is None
    linked_id = item.duplicate_of if is_duplicate else document_id
    return {
        "id": str(item.id),
        "name": item.filename or item.source_url,
        "state": _state(item),
        "stage": "" if item.stage == IngestItem.Stage.ENDED else item.stage,
        "pages": _share(item.pages_done, item.pages_total),
        "chunks": _share(item.embedded, item.chunks_made),
        "done": _percent_done(item),
        "attempts": item.attempts,
        "duration": format_duration(item.started_at, item.ended_at),
        "notes": [ALREADY_HERE] if is_duplicate else list(item.warnings),
        "error": "" if is_duplicate else item.error,
        "url": reverse("admin:documents_document_change", args=[linked_id])
        if is_stored or is_duplicate
        else "",
        "can_retry": item.status == IngestItem.Status.FAILED and item.deleted_at is None and not is_duplicate,
        "can_delete": item.deleted_at is None
        and not item.replaces_id
        and (is_stored or item.status != IngestItem.Status.COMPLETED),
    }


def _state(item: Any) -> str:
    if item.deleted_at is not None:
        return "deleted"
    if item.error_code == "DUPLICATE":
        return "duplicate"
    if item.stalled or (item.neglected and not count_alive_now()):
        return "stalled"
    return str(item.status)


def _share(done: int, total: int) -> str:
    return f"{done:,} of {total:,}" if total else "–"


def _percent_done(item: Any) -> int:
    """Return the percentage for a bar: half for reading the pages, half for the vectors."""
    if item.status not in OPEN:
        return 100
    read = item.pages_done / item.pages_total if item.pages_total else 0
    embedded = item.embedded / item.chunks_made if item.chunks_made else 0
    return round(50 * min(read, 1) + 50 * min(embedded, 1))


class JobViews(admin.ModelAdmin[IngestJob]):
    """Mixed into the admin of jobs. All that changes something is a POST."""

    def get_urls(self) -> list[URLPattern]:
        wrap, name = self.admin_site.admin_view, "documents_ingestjob"
        mine = [
            path("<uuid:job_id>/progress/", wrap(self.progress_view), name=f"{name}_progress"),
            path("<uuid:job_id>/retry/", wrap(self.retry_view), name=f"{name}_retry"),
            path("<uuid:job_id>/<uuid:item_id>/retry/", wrap(self.retry_view), name=f"{name}_retry_item"),
            path("<uuid:job_id>/<uuid:item_id>/delete/", wrap(self.delete_item_view), name=f"{name}_drop"),
        ]
        return [*mine, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show the job; nothing on its page is edited."""
        if request.method != "GET":
            raise PermissionDenied
        job = self._job(request, object_id)
        page, pages = _page_number(request), max(1, -(-job.progress["total"] // ITEMS_A_PAGE))
        context = {
            **self.admin_site.each_context(request),
            "title": "Ingest job",
            "subtitle": str(job),
            "opts": self.opts,
            "original": job,
            "settings": [(name.replace("_", " "), value) for name, value in job.settings.items()],
            "data": job_page(job, page=page),
            "page": page,
            "pages": range(1, pages + 1) if pages > 1 else [],
            "may_change": self.has_change_permission(request, job),
            "may_delete": self.has_delete_permission(request, job),
            "media": self.media,
        }
        return TemplateResponse(request, self.change_form_template or "", context)

    def progress_view(self, request: HttpRequest, job_id: UUID) -> JsonResponse:
        """Answer the page's script, which asks once a second while the job runs."""
        return JsonResponse(job_page(self._job(request, job_id), page=_page_number(request)))

    def retry_view(self, request: HttpRequest, job_id: UUID, item_id: UUID | None = None) -> HttpResponse:
        self._require_post(request, self.has_change_permission(request))
        try:
            if item_id is None:
                count = ingestion.retry_job(job_id, access=FULL)
            else:
                count = ingestion.retry_document(item_id, access=FULL)
        except KnowlexError as exc:
            self.message_user(request, exc.message, messages.ERROR)
        else:
            self.show_retried(request, count)
        return self._back(job_id)

    def delete_item_view(self, request: HttpRequest, job_id: UUID, item_id: UUID) -> HttpResponse:
        self._require_post(request, self.has_delete_permission(request))
        try:
            receipt = ingestion.delete_document(item_id, access=FULL)
        except KnowlexError as exc:
            self.message_user(request, exc.message, messages.ERROR)
        else:
            self.message_user(request, receipt_text(receipt), messages.SUCCESS)
        return self._back(job_id)

    def delete_model(self, request: HttpRequest, obj: IngestJob) -> None:
        """Delete the job's record and its documents that are not stored; stored ones stay."""
        unstored = filter_not_stored(IngestItem.objects.filter(job=obj))
        ingestion.delete_documents(list(unstored.values_list("id", flat=True)), access=FULL)
        IngestJob.objects.filter(pk=obj.pk).delete()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[IngestJob]) -> None:
        for job in queryset:
            self.delete_model(request, job)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Count for the confirmation page instead of listing thousands of rows."""
        items = IngestItem.objects.filter(job__in=list(objs))
        stored = Document.objects.current().filter(pk__in=items.values("pk")).count()
        lines = [f"{count_noun(stored, 'stored document')} will stay."]
        if unstored := filter_not_stored(items).count():
            lines.append(
                f"{count_noun(unstored, 'document')} that failed or are not stored yet will be given up."
            )
        return lines, {"jobs": len(objs)}, set(), []

    def show_retried(self, request: HttpRequest, count: int) -> None:
        with tolerate_lost_hint():
            enqueue_ingest(count)
        if count:
            self.message_user(
                request, f"{count_noun(count, 'document')} will be tried again.", messages.SUCCESS
            )
        else:
            self.message_user(request, "Nothing to retry: no document of it has failed.", messages.WARNING)

    def _job(self, request: HttpRequest, job_id: Any) -> Any:
        job = self.get_object(request, str(job_id))
        if job is None:
            raise Http404
        if not self.has_view_permission(request, job):
            raise PermissionDenied
        return job

    def _require_post(self, request: HttpRequest, allowed: bool) -> None:
        if request.method != "POST" or not allowed:
            raise PermissionDenied

    def _back(self, job_id: UUID) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:documents_ingestjob_change", args=[job_id]))


def _page_number(request: HttpRequest) -> int:
    text = request.GET.get("page", "")
    return max(1, int(text)) if text.isdecimal() and len(text) < 7 else 1


class JobStateFilter(admin.SimpleListFilter):
    title = "status"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("open", "Waiting or running"), ("failed", "With failures"), ("done", "Without failures")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        items = IngestItem.objects.filter(job=OuterRef("pk"))
        is_open, has_failed = Exists(items.filter(~ENDED)), Exists(items.filter(FAILED))
        wanted = {"open": Q(is_open), "failed": Q(has_failed), "done": ~Q(is_open) & ~Q(has_failed)}
        return queryset.filter(wanted.get(self.value() or "", Q()))


@admin.register(IngestJob)
class IngestJobAdmin(JobViews, admin.ModelAdmin[IngestJob]):
    list_display = [
        "created_at", "collection", "origin", "status", "bar", "documents", "failed", "duration", "left",
    ]  # fmt: skip
    list_filter = [JobStateFilter, "origin", "collection"]
    list_select_related = ["collection"]
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["items__filename", "items__source_url"]
    date_hierarchy = "created_at"
    actions = ["retry_failed"]
    change_form_template = "admin/documents/ingestjob/job.html"

    class Media:
        css = {"all": ["documents/admin.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return with_progress(super().get_queryset(request))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # a job begins with an upload

    def get_actions(self, request: HttpRequest) -> Any:
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)  # each job's own page says what goes with it
        return actions

    @admin.display
    def status(self, job: Any) -> str:
        return state_badge(job_state(job.progress))

    @admin.display(description="progress")
    def bar(self, job: Any) -> str:
        """Show how much of the work is done, in pages and chunks: one long document moves it too."""
        total, done = job.progress["total"], f"{job.progress['done']:.2f}"
        return format_html('<progress max="{}" value="{}"></progress>', total or 1, done if total else 1)

    @admin.display
    def documents(self, job: Any) -> str:
        return f"{job.progress['ended']} of {job.progress['total']}"

    @admin.display(description="time left")
    def left(self, job: Any) -> str:
        return estimate_left(job.progress) or "–"

    @admin.display
    def failed(self, job: Any) -> str:
        failed = job.progress["failed"]
        return format_html('<span class="{}">{}</span>', "kx-bad" if failed else "", failed)

    @admin.display
    def duration(self, job: Any) -> str:
        last = job.progress["last_end"]
        ended = job_state(job.progress) in ("completed", "failed") and last
        return format_duration(job.created_at, datetime.fromisoformat(last) if ended else None)

    @admin.action(description="Retry what failed", permissions=["change"])
    def retry_failed(self, request: HttpRequest, queryset: QuerySet[IngestJob]) -> None:
        ids = list(queryset.values_list("pk", flat=True))
        self.show_retried(request, sum(ingestion.retry_job(job_id, access=FULL) for job_id in ids))
