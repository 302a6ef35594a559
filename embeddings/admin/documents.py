"""Documents and chunks in the admin, with their vectors; uploading and replacing lead to the job's page."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import (
    BooleanField,
    Case,
    Exists,
    F,
    Func,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from documents.access import FULL
from documents.admin import ChunkAdmin, DocumentAdmin
from documents.admin.forms import ReplaceForm, UploadForm
from documents.admin.words import count_noun
from documents.library.collection_statistics import stored_languages
from documents.library.collections import get_default_collection
from documents.models import Chunk, Document, IngestJob
from embeddings import tasks
from embeddings.admin.display import DeletingWithReceipt, EmbeddingStateFilter, count_per_document
from embeddings.ingest import documents as ingestion
from embeddings.lexical.terms import match_words
from embeddings.models import Embedding, EmbeddingRequest
from embeddings.tasks import enqueue_ingest, tolerate_lost_hint
from knowlex.base.errors import KnowlexError
from knowlex.db.threads import execute

admin.site.unregister(Chunk)
MANY, SHOWN = 50_000, 1000  # chunks
_CHUNKS = "SELECT pg_stat_get_live_tuples('documents_chunk'::regclass)"


@admin.register(Chunk)
class EmbeddedChunkAdmin(ChunkAdmin):
    list_display = [*ChunkAdmin.list_display, "embedding_state"]
    list_filter = [EmbeddingStateFilter, *ChunkAdmin.list_filter]
    fields = (*ChunkAdmin.fields, "embedding_state", "reason")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Chunk]:
        of_chunk = {"chunk": OuterRef("pk"), "model__active": True}
        failed = EmbeddingRequest.objects.failed().filter(**of_chunk)
        state = Case(
            When(Exists(Embedding.objects.filter(**of_chunk)), then=Value("embedded")),
            When(Exists(failed), then=Value("failed")),
            default=Value("pending"),
        )
        return super().get_queryset(request).annotate(state=state, error=Subquery(failed.values("error")[:1]))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Chunk], search_term: str
    ) -> tuple[QuerySet[Chunk], bool]:
        """Search texts as they are, of MANY chunks on by their words: the first SHOWN that hold them all."""
        if not search_term or execute(_CHUNKS)[0][0] < MANY:
            return super().get_search_results(request, queryset, search_term)
        holds = Func(
            F("lexical__lexemes"),
            Value(match_words(search_term, stored_languages())),
            template="(%(expressions)s::tsquery)",
            arg_joiner=" @@ ",
            output_field=BooleanField(),
        )
        matching = queryset.filter(holds).order_by().values_list("pk", flat=True)
        return queryset.filter(pk__in=list(matching[:SHOWN])), False

    @admin.display(description="embedding")
    def embedding_state(self, chunk: Any) -> str:
        return str(chunk.state)

    @admin.display(description="reason of the failure")
    def reason(self, chunk: Any) -> str:
        return chunk.error or "–"


class UploadViews(admin.ModelAdmin[Document]):
    """Mixed into the admin of documents."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.replace_view)
        mine = path("<uuid:document_id>/replace/", view, name="documents_document_replace")
        return [mine, *super().get_urls()]

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = UploadForm(
            request.POST if request.method == "POST" else None,
            request.FILES if request.method == "POST" else None,
            initial={"collection": request.GET.get("collection") or get_default_collection().id},
        )
        if request.method == "POST" and form.is_valid():
            try:
                return self._to_job(form.create_job())
            except KnowlexError as exc:
                form.add_error("documents", exc.message)
        return self._form_page(request, form, "Upload documents", "Upload")

    def replace_view(self, request: HttpRequest, document_id: UUID) -> HttpResponse:
        document = self.get_object(request, str(document_id))
        if document is None:
            raise Http404
        if not self.has_change_permission(request, document):
            raise PermissionDenied
        posted = request.method == "POST"
        form = ReplaceForm(request.POST if posted else None, request.FILES if posted else None)
        if posted and form.is_valid():
            try:
                job = form.replace(document)
            except KnowlexError as exc:
                form.add_error("file", exc.message)
            else:
                if job is not None:
                    return self._to_job(job)
                self.message_user(request, "The file has the same bytes: nothing was done.", messages.INFO)
                url = reverse("admin:documents_document_change", args=[document_id])
                return HttpResponseRedirect(url)
        return self._form_page(request, form, f"Replace {document}", "Replace")

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        extra = {"replace_url": "../replace/" if self.has_change_permission(request) else ""}
        return super().change_view(request, object_id, form_url, {**extra, **(extra_context or {})})

    def _to_job(self, job: IngestJob) -> HttpResponse:
        with tolerate_lost_hint():
            enqueue_ingest(job.items.count())
        return HttpResponseRedirect(reverse("admin:documents_ingestjob_change", args=[job.pk]))

    def _form_page(self, request: HttpRequest, form: Form, title: str, button: str) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": title,
            "form": form,
            "button": button,
            "opts": self.opts,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/documents/document/upload.html", context)


NAMES_SHOWN = 100

admin.site.unregister(Document)


@admin.register(Document)
class EmbeddedDocumentAdmin(UploadViews, DeletingWithReceipt, DocumentAdmin):
    list_display = [
        "name", "collection", "state", "warned", "source", "pages", "chunk_link", "embedded", "failed",
        "size", "created_at",
    ]  # fmt: skip
    list_filter = [*DocumentAdmin.list_filter, EmbeddingStateFilter]
    fields = (*DocumentAdmin.fields, "embedded", "pending", "failed")
    readonly_fields = fields
    actions = ["embed_now", "retry_failed", "delete_selected"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        return (
            super()
            .get_queryset(request)
            .annotate(
                embedded=count_per_document(Embedding.objects.filter(model__active=True)),
                failed=count_per_document(EmbeddingRequest.objects.failed().filter(model__active=True)),
            )
        )

    @admin.display(ordering="embedded")
    def embedded(self, document: Any) -> int:
        return int(document.embedded)

    @admin.display
    def pending(self, document: Any) -> int:
        return int(max(0, document.chunk_count - document.embedded - document.failed))

    @admin.display(ordering="failed")
    def failed(self, document: Any) -> str:
        if not document.failed:
            return "0"
        url = reverse("admin:embeddings_embeddingrequest_changelist")
        return format_html(
            '<a class="kx-bad" href="{}?chunk__document__id__exact={}">{}</a>',
            url,
            document.pk,
            document.failed,
        )

    @admin.action(description="Embed now", permissions=["change"])
    def embed_now(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        self._request(request, list(queryset.values_list("pk", flat=True)))

    @admin.action(description="Retry failed chunks", permissions=["change"])
    def retry_failed(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        self._request(request, list(queryset.filter(Q(failed__gt=0)).values_list("pk", flat=True)))

    def _request(self, request: HttpRequest, document_ids: list[Any]) -> None:
        queued = sum(tasks.request_and_enqueue(document_id) for document_id in document_ids)
        self.message_user(
            request, f"{queued} chunk(s) of {len(document_ids)} document(s) queued for embedding."
        )

    def receipt_of_deleting(self, rows: Any) -> ingestion.DeletionReceipt:
        return ingestion.delete_documents([row.pk for row in rows], access=FULL)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Name the first ones for the confirmation page, and count what goes."""
        documents = Document.objects.filter(pk__in=[obj.pk for obj in objs])
        sums = documents.aggregate(pages=Sum("page_count", default=0), chunks=Sum("chunk_count", default=0))
        vectors = Embedding.objects.filter(chunk__document__in=documents.values("pk")).count()
        names = [str(obj) for obj in objs[:NAMES_SHOWN]]
        if (more := len(objs) - len(names)) > 0:
            names.append(f"and {count_noun(more, 'document')} more")
        return names, {"documents": len(objs), **sums, "vectors": vectors}, set(), []
