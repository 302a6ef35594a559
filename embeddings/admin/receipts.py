"""Deleting in the admin: a confirmation that counts what will go, and a receipt that counts what went."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.actions import delete_selected as confirmed_delete
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from embeddings.admin.words import receipt_text
from embeddings.work.ingestion import DeletionReceipt


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
        self._tell(request, self.receipt_of_deleting(rows))
        return None

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self._tell(request, self.receipt_of_deleting([obj]))

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        """The receipt has said it already."""
        opts = self.opts
        return HttpResponseRedirect(reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist"))

    def _tell(self, request: HttpRequest, receipt: DeletionReceipt) -> None:
        self.message_user(request, receipt_text(receipt), messages.SUCCESS)
