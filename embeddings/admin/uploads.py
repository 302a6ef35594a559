"""Uploading and replacing documents in the admin: both lead to the page of the job that does it."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from documents.admin.forms import ReplaceForm, UploadForm
from documents.library.collections import get_default_collection
from documents.models import Document, IngestJob
from embeddings.tasks import enqueue_ingest, sweep_may_do_it
from knowlex.base.errors import KnowlexError


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
        with sweep_may_do_it():
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
