"""One job's page in the admin: its documents, live progress, retry, and deletion."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from documents.access.scopes import FULL
from documents.admin.words import count_noun
from documents.models import Document, IngestItem, IngestJob
from embeddings.admin.progress import embedded_of_job, items_of, not_stored
from embeddings.admin.words import duration, receipt_text, state_of
from embeddings.tasks import enqueue_ingest, sweep_may_do_it
from embeddings.work import ingestion
from knowlex.base.errors import KnowlexError
from knowlex.runtime.liveness import count_alive_now

ITEMS_A_PAGE = 100
OPEN = (IngestItem.Status.PENDING, IngestItem.Status.PROCESSING)


def job_page(job: Any, *, page: int) -> dict[str, Any]:
    """job: from `with_progress`. page: of its documents, from 1."""
    progress, state = job.progress, state_of(job.progress)
    rows = items_of(job.pk, first=(page - 1) * ITEMS_A_PAGE, limit=ITEMS_A_PAGE)
    documents = Document.objects.current().existing_ids({row.replaces_id or row.id for row in rows})
    running = state not in ("completed", "failed")
    ended_at = datetime.fromisoformat(progress["last_end"]) if progress["last_end"] and not running else None
    return {
        "state": state,
        "running": running,
        "duration": duration(job.created_at, ended_at),
        "failed": progress["failed"],
        "bars": [
            _bar("documents", progress["ended"], progress["total"]),
            _bar("pages", progress["pages_done"], progress["pages_total"]),
            _bar("chunks", embedded_of_job(job.pk), progress["chunks_made"]),
        ],
        "items": [_line(row, documents) for row in rows],
    }


def _bar(name: str, done: int, total: int) -> dict[str, Any]:
    return {"name": name, "done": done, "total": total, "text": f"{done:,} of {total:,}"}


def _line(item: Any, documents: set[UUID]) -> dict[str, Any]:
    document_id = item.replaces_id or item.id
    is_stored = document_id in documents and item.deleted_at is None
    return {
        "id": str(item.id),
        "name": item.filename or item.source_url,
        "state": _state(item),
        "stage": "" if item.stage == IngestItem.Stage.ENDED else item.stage,
        "pages": _of(item.pages_done, item.pages_total),
        "chunks": _of(item.embedded, item.chunks_made),
        "done": _done(item),
        "attempts": item.attempts,
        "duration": duration(item.started_at, item.ended_at),
        "notes": list(item.warnings),
        "error": item.error,
        "url": reverse("admin:documents_document_change", args=[document_id]) if is_stored else "",
        "can_retry": item.status == IngestItem.Status.FAILED and item.deleted_at is None,
        "can_delete": item.deleted_at is None
        and not item.replaces_id
        and (is_stored or not _completed(item)),
    }


def _state(item: Any) -> str:
    if item.deleted_at is not None:
        return "deleted"
    if item.stalled or (item.neglected and not count_alive_now()):
        return "stalled"
    return str(item.status)


def _completed(item: Any) -> bool:
    return bool(item.status == IngestItem.Status.COMPLETED)


def _of(done: int, total: int) -> str:
    return f"{done:,} of {total:,}" if total else "–"


def _done(item: Any) -> int:
    """In percent, for a bar: half for reading the pages, half for the vectors."""
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
        """The page itself; nothing on it is edited."""
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
        """What the page's script asks for once a second, while the job runs."""
        return JsonResponse(job_page(self._job(request, job_id), page=_page_number(request)))

    def retry_view(self, request: HttpRequest, job_id: UUID, item_id: UUID | None = None) -> HttpResponse:
        self._posted(request, self.has_change_permission(request))
        try:
            if item_id is None:
                count = ingestion.retry_job(job_id, access=FULL)
            else:
                count = ingestion.retry_document(item_id, access=FULL)
        except KnowlexError as exc:
            self.message_user(request, exc.message, messages.ERROR)
        else:
            self.tell_retried(request, count)
        return self._back(job_id)

    def delete_item_view(self, request: HttpRequest, job_id: UUID, item_id: UUID) -> HttpResponse:
        self._posted(request, self.has_delete_permission(request))
        try:
            receipt = ingestion.delete_document(item_id, access=FULL)
        except KnowlexError as exc:
            self.message_user(request, exc.message, messages.ERROR)
        else:
            self.message_user(request, receipt_text(receipt), messages.SUCCESS)
        return self._back(job_id)

    def delete_model(self, request: HttpRequest, obj: IngestJob) -> None:
        """The record of the job, and those of its documents that are not stored; stored ones stay."""
        rest = not_stored(IngestItem.objects.filter(job=obj))
        ingestion.delete_documents(list(rest.values_list("id", flat=True)), access=FULL)
        IngestJob.objects.filter(pk=obj.pk).delete()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[IngestJob]) -> None:
        for job in queryset:
            self.delete_model(request, job)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """For the confirmation page: counts, not a list of thousands of rows."""
        items = IngestItem.objects.filter(job__in=list(objs))
        stored = Document.objects.current().filter(pk__in=items.values("pk")).count()
        lines = [f"{count_noun(stored, 'stored document')} will stay."]
        if rest := not_stored(items).count():
            lines.append(
                f"{count_noun(rest, 'document')} that failed or are not stored yet will be given up."
            )
        return lines, {"jobs": len(objs)}, set(), []

    def tell_retried(self, request: HttpRequest, count: int) -> None:
        with sweep_may_do_it():
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

    def _posted(self, request: HttpRequest, allowed: bool) -> None:
        if request.method != "POST" or not allowed:
            raise PermissionDenied

    def _back(self, job_id: UUID) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:documents_ingestjob_change", args=[job_id]))


def _page_number(request: HttpRequest) -> int:
    text = request.GET.get("page", "")
    return max(1, int(text)) if text.isdecimal() and len(text) < 7 else 1
