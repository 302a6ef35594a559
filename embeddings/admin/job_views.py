"""One job's page in the admin: its documents, live progress, retry, and deletion."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from documents.access import FULL
from documents.admin.words import counted
from documents.models import Document, IngestItem, IngestJob
from embeddings import ingestion
from embeddings.admin.job_page import ITEMS_A_PAGE, job_page
from embeddings.admin.progress import not_stored
from embeddings.admin.words import receipt_text
from embeddings.tasks import enqueue_ingest, sweep_may_do_it
from knowlex.common.errors import KnowlexError


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
        lines = [f"{counted(stored, 'stored document')} will stay."]
        if rest := not_stored(items).count():
            lines.append(f"{counted(rest, 'document')} that failed or are not stored yet will be given up.")
        return lines, {"jobs": len(objs)}, set(), []

    def tell_retried(self, request: HttpRequest, count: int) -> None:
        with sweep_may_do_it():
            enqueue_ingest(count)
        if count:
            self.message_user(request, f"{counted(count, 'document')} will be tried again.", messages.SUCCESS)
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
