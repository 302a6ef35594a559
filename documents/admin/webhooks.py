"""Admin of webhooks: created (the secret is shown this once) and deleted; deliveries are only shown."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.html import format_html

from documents import webhooks
from documents.access import FULL
from documents.models import Webhook, WebhookDelivery
from knowlex.base.errors import KnowlexError


class WebhookForm(forms.ModelForm[Webhook]):
    """A form whose validation creates the webhook, so that the service's errors appear at its fields."""

    url = forms.CharField(label="address")
    events = forms.MultipleChoiceField(
        choices=[(event, event) for event in webhooks.EVENTS],
        initial=webhooks.EVENTS,
        widget=forms.CheckboxSelectMultiple,
    )
    secret = ""

    class Meta:
        model = Webhook
        fields = ("url", "events")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors:
            try:
                self.instance, self.secret = webhooks.create_webhook(
                    access=FULL, url=cleaned["url"], events=cleaned["events"]
                )
            except KnowlexError as exc:
                self.add_error(str(exc.details.get("field") or "url"), exc.message)
        return cleaned

    def _post_clean(self) -> None:
        """Skip this: the service has stored the instance already."""


@admin.register(Webhook)
class WebhookAdmin(admin.ModelAdmin[Webhook]):
    list_display = ["url", "events", "created_at"]
    fields: ClassVar[tuple[str, ...]] = ("id", "url", "events", "created_at")
    readonly_fields = fields

    def get_form(
        self, request: HttpRequest, obj: Webhook | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        return super().get_form(request, obj, change, **kwargs) if obj else WebhookForm

    def get_fields(self, request: HttpRequest, obj: Webhook | None = None) -> Any:
        return super().get_fields(request, obj) if obj else WebhookForm.Meta.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Webhook | None = None) -> Any:
        return super().get_readonly_fields(request, obj) if obj else []

    def save_model(self, request: HttpRequest, obj: Webhook, form: Any, change: bool) -> None:
        """Show the secret, this once; the form has stored it already."""
        text = format_html("The secret of {}, shown this once: <code>{}</code>", obj.url, form.secret)
        messages.warning(request, text)

    def has_change_permission(self, request: HttpRequest, obj: Webhook | None = None) -> bool:
        return False


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(admin.ModelAdmin[WebhookDelivery]):
    list_display = [
        "created_at", "event", "webhook", "status", "attempts", "response_status", "error", "due_at",
    ]  # fmt: skip
    list_filter = ["status", "event"]
    list_select_related = ["webhook"]
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: WebhookDelivery | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: WebhookDelivery | None = None) -> bool:
        return False
