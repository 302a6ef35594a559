"""Admin of API keys: created (and shown this once), revoked, never changed; the hash is not shown."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from documents import api_keys
from documents.models import ApiKey, Collection
from knowlex.base.errors import KnowlexError


class KeyForm(forms.ModelForm[ApiKey]):
    """A form whose validation creates the key, so that the service's errors appear at its fields."""

    collections = forms.ModelMultipleChoiceField(
        Collection.objects.all(),
        required=False,
        help_text="Only these; none chosen: all, those to come included.",
    )
    text = ""

    class Meta:
        model = ApiKey
        fields = ("name", "user", "scope", "collections", "expires_at", "daily_tokens")
        labels: ClassVar[dict[str, str]] = {"user": "account"}
        help_texts: ClassVar[dict[str, str]] = {
            "user": "The key never does more than this account; none: what scope and collections say.",
            "daily_tokens": "Of models, by UTC day; empty: no ceiling of its own.",
        }

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors:
            try:
                self.instance, self.text = api_keys.create_key(
                    name=cleaned["name"],
                    scope=cleaned["scope"],
                    collections=list(cleaned["collections"]) or None,
                    expires_at=cleaned["expires_at"],
                    user=cleaned["user"],
                    daily_tokens=cleaned["daily_tokens"],
                )
            except KnowlexError as exc:
                self.add_error(str(exc.details.get("field") or "name"), exc.message)
        return cleaned

    def _post_clean(self) -> None:
        """Skip this: the service has stored the instance already."""

    def _save_m2m(self) -> None:
        """Skip this: the service has stored what the key is bound to."""


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin[ApiKey]):
    list_display = [
        "name",
        "prefix",
        "user",
        "scope",
        "bound_to",
        "state",
        "last_used_at",
        "expires_at",
        "created_at",
    ]
    list_filter = ["scope", "bound", "created_at"]
    search_fields = ["name", "prefix", "user__username"]
    ordering = ["-created_at"]
    list_per_page = 50
    actions = ["revoke"]
    fields: ClassVar[tuple[str, ...]] = (
        "id", "name", "prefix", "user", "scope", "bound_to", "state", "created_at", "last_used_at",
        "expires_at", "revoked_at", "daily_tokens",
    )  # fmt: skip
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        return ApiKey.objects.with_collections()

    @admin.action(description="Revoke the selected API keys", permissions=["delete"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        ids = list(queryset.values_list("id", flat=True))
        for key_id in ids:
            api_keys.revoke_key(key_id)
        self.message_user(request, f"{len(ids)} key(s) revoked.", messages.SUCCESS)

    def get_form(
        self, request: HttpRequest, obj: ApiKey | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        return super().get_form(request, obj, change, **kwargs) if obj else KeyForm

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        return super().get_fields(request, obj) if obj else KeyForm.Meta.fields

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        return super().get_readonly_fields(request, obj) if obj else []

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        """Show the key, this once; the form has stored it already."""
        text = format_html("The key of {}, shown this once: <code>{}</code>", obj.name, form.text)
        messages.warning(request, text)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Skip this: the service has bound the key already."""

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Allow it for the action, which revokes keys, and with their account; else they stay on record."""
        match = request.resolver_match
        with_account = match is not None and match.view_name.startswith("admin:auth_user_")
        return (obj is None or with_account) and super().has_delete_permission(request, obj)

    def get_actions(self, request: HttpRequest) -> Any:
        return {
            name: action for name, action in super().get_actions(request).items() if name != "delete_selected"
        }
