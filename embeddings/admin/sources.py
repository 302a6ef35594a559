"""Sources in the admin: how they stand, and their runs. They are made over HTTP or on the page."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from documents.access import FULL
from documents.admin.words import state_badge
from documents.models import Source, SourceItem
from documents.sources import services
from embeddings.ingest.sync import describe_counts
from embeddings.tasks import hint_sync
from knowlex.base.errors import KnowlexError


@admin.register(Source)
class SourceAdmin(admin.ModelAdmin[Source]):
    """Nothing is edited here. Deleting a source leaves its documents."""

    list_display = ["name", "collection", "kind", "status", "summary", "every_minutes", "ended_at"]
    list_filter = ["kind", "state", "collection"]
    list_select_related = ["collection"]
    list_per_page = 50
    search_fields = ["name"]
    actions = ["run", "try_without_changes", "confirm_deletions"]
    readonly_fields = [
        "name", "collection", "kind", "config", "has_secret", "every_minutes", "status", "summary", "error",
        "started_at", "ended_at", "next_run_at", "refusals",
    ]  # fmt: skip
    fields = (*readonly_fields,)

    class Media:
        css = {"all": ["documents/admin.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @admin.display(description="state", ordering="state")
    def status(self, source: Source) -> str:
        return state_badge(str(source.stage or source.state))

    @admin.display(description="latest run")
    def summary(self, source: Source) -> str:
        counts = describe_counts(source.counts)
        return f"dry run: {counts}" if source.dry_run and counts else counts or "–"

    @admin.display(boolean=True, description="password or key")
    def has_secret(self, source: Source) -> bool:
        return bool(source.secret)

    @admin.display(description="not taken")
    def refusals(self, source: Source) -> str:
        rows = SourceItem.objects.filter(source=source, path__isnull=False).exclude(reason="")
        return "\n".join(f"{row.path}: {row.reason}" for row in rows.order_by("path")[:50]) or "–"

    @admin.action(description="Run the selected sources")
    def run(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        self._start(request, queryset)

    @admin.action(description="Count what a run would do, and change nothing")
    def try_without_changes(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        self._start(request, queryset, dry_run=True)

    @admin.action(
        permissions=["delete"], description="Delete what is gone and was asked about, by another run"
    )
    def confirm_deletions(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        self._start(request, queryset.filter(state=Source.State.ASKING), confirm_deletions=True)

    def _start(self, request: HttpRequest, queryset: QuerySet[Source], **options: Any) -> None:
        started = []
        for source in list(queryset):
            try:
                started.append(services.start_run(str(source.pk), access=FULL, **options).name)
            except KnowlexError as exc:
                self.message_user(request, f"{source}: {exc.message}", messages.ERROR)
        hint_sync()
        if started:
            self.message_user(request, f"Started: {', '.join(started)}.", messages.SUCCESS)
