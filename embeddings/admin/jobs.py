"""The list of ingest jobs in the admin. What one job's page can do stands in job_views."""

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from documents.access.scopes import FULL
from documents.admin.words import state_badge
from documents.models import IngestItem, IngestJob
from embeddings.admin.job_pages import JobViews
from embeddings.admin.progress import ENDED, FAILED, with_progress
from embeddings.admin.words import format_duration, job_state
from embeddings.work import ingestion


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
        "created_at", "collection", "origin", "status", "bar", "documents", "failed", "duration",
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
        total, ended = job.progress["total"], job.progress["ended"]
        return format_html('<progress max="{}" value="{}"></progress>', total or 1, ended if total else 1)

    @admin.display
    def documents(self, job: Any) -> str:
        return f"{job.progress['ended']} of {job.progress['total']}"

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
        self.tell_retried(request, sum(ingestion.retry_job(job_id, access=FULL) for job_id in ids))
