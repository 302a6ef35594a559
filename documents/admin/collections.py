"""Admin of collections: statistics, and settings that are checked as those of the API are."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html

from documents.access import FULL
from documents.library.collection_settings import (
    CollectionFields,
    check_settings,
    default_chunking,
    get_embedding_model,
    merge_settings,
    to_client_names,
)
from documents.library.collection_statistics import collection_stats
from documents.library.collections import (
    change_collection,
    check_new_name,
    chunking_settings,
    create_collection,
    effective_settings,
)
from documents.models import DEFAULT_COLLECTION, Collection, CollectionMember
from documents.types import STRATEGIES
from knowlex.base.errors import InvalidInput


class CollectionForm(forms.ModelForm[Collection]):
    """`cleaned_data["given"]`: the settings, as documents.library.collections takes them."""

    chunking_strategy = forms.ChoiceField(choices=[(name, name) for name in STRATEGIES])
    chunk_size = forms.IntegerField(help_text="Tokens of a full chunk.")
    chunk_overlap = forms.IntegerField(help_text="Tokens repeated from the chunk before (fixed, sentence).")
    similarity_threshold = forms.FloatField(
        help_text="Below it two neighbouring sentences are parted (semantic)."
    )
    min_chunk_size = forms.IntegerField(
        help_text="Tokens a chunk has at least before it is parted (semantic)."
    )
    default_permissions = forms.JSONField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text='Of new documents: {"visibility": "public", "private" or "restricted", '
        '"allowed_users": […], "allowed_groups": […]}.',
    )

    class Meta:
        model = Collection
        fields = ["name", "description"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = not self.instance._state.adding
        initial = effective_settings(self.instance) if stored else to_client_names(default_chunking())
        for name in self.declared_fields:
            self.fields[name].initial = initial.get(name, {})

    def clean_name(self) -> str:
        try:
            return check_new_name(self.cleaned_data["name"])
        except InvalidInput as exc:
            raise forms.ValidationError(exc.message) from exc

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        given = {name: cleaned[name] for name in self.declared_fields if cleaned.get(name) is not None}
        if "default_permissions" in cleaned:
            given["default_permissions"] = cleaned["default_permissions"] or {}
        cleaned["given"] = given
        try:
            base = default_chunking() if self.instance._state.adding else chunking_settings(self.instance)
            merge_settings(base, check_settings(given, CollectionFields))
        except InvalidInput as exc:
            self._refuse(exc)
        return cleaned

    def _refuse(self, error: InvalidInput) -> None:
        field = str((error.details or {}).get("field", "")).removeprefix("settings.").split(".")[0]
        name = field if field in self.declared_fields else None
        self.add_error(name, error.message.removeprefix("settings."))


class MembersInline(admin.TabularInline[CollectionMember, Collection]):
    """Who may use the collection, beside superusers, who may use all."""

    model = CollectionMember
    fields = ["user", "group", "role"]
    extra = 1
    verbose_name = "member"
    verbose_name_plural = "members: accounts and groups that may use it"


@admin.register(CollectionMember)
class CollectionMemberAdmin(admin.ModelAdmin[CollectionMember]):
    """All roles of all accounts and groups, to be filtered by each."""

    list_display = ["collection", "user", "group", "role", "created_at"]
    list_display_links = ["role"]
    list_filter = ["role", "collection", "group"]
    list_select_related = ["collection", "user", "group"]
    search_fields = ["collection__name", "user__username", "group__name"]
    list_per_page = 50


@admin.register(Collection)
class CollectionAdmin(admin.ModelAdmin[Collection]):
    """Collections. Deleting one deletes vectors too, so embeddings.admin adds it."""

    form = CollectionForm
    list_display = ["name", "documents", "chunks", "strategy", "description", "created_at"]
    search_fields = ["name", "description"]
    list_per_page = 50
    change_form_template = "admin/documents/collection/page.html"
    readonly_fields = ["id", "created_at", "embeds_with"]
    inlines = [MembersInline]

    class Media:
        css = {"all": ["documents/admin.css"]}

    def get_formset_kwargs(self, request: HttpRequest, obj: Any, inline: Any, prefix: str) -> dict[str, Any]:
        """Leave the members as they are where a form is sent without them, as programs do."""
        kwargs: dict[str, Any] = super().get_formset_kwargs(request, obj, inline, prefix)
        if "data" in kwargs and f"{prefix}-TOTAL_FORMS" not in kwargs["data"]:
            kwargs["data"] = kwargs["data"].copy()
            kwargs["data"].update({f"{prefix}-TOTAL_FORMS": "0", f"{prefix}-INITIAL_FORMS": "0"})
        return kwargs

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        collections: QuerySet[Collection] = Collection.objects.with_counts().order_by("name")
        return collections

    @admin.display(ordering="document_count")
    def documents(self, collection: Any) -> str:
        url = reverse("admin:documents_document_changelist")
        return format_html(
            '<a href="{}?collection__id__exact={}">{}</a>', url, collection.id, collection.document_count
        )

    @admin.display(ordering="chunk_count")
    def chunks(self, collection: Any) -> int:
        return int(collection.chunk_count)

    @admin.display(description="chunking")
    def strategy(self, collection: Collection) -> str:
        return str(collection.settings.get("chunking_strategy", "the server's"))

    @admin.display(description="embedding model")
    def embeds_with(self, collection: Collection) -> str:
        return get_embedding_model()

    def get_fieldsets(self, request: HttpRequest, obj: Collection | None = None) -> Any:
        own = ["name", "description"] if obj is None else ["id", "name", "description", "created_at"]
        setting = [name for name in CollectionForm.declared_fields if name not in own]
        about = None if obj is None else "They hold for documents that are read from now on."
        if obj is not None and obj.name == DEFAULT_COLLECTION:
            about = f"{DEFAULT_COLLECTION} follows the server's configuration."
        settings = {"fields": [*setting, "embeds_with"], "description": about}
        return [(None, {"fields": own}), ("Settings", settings)]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        for name in CollectionForm.declared_fields:
            if obj is not None and obj.name == DEFAULT_COLLECTION and name in form.base_fields:
                form.base_fields[name].disabled = True
        return form

    def get_readonly_fields(self, request: HttpRequest, obj: Collection | None = None) -> list[str]:
        fixed = ["name"] if obj is not None and obj.name == DEFAULT_COLLECTION else []
        return [*self.readonly_fields, *fixed]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        extra = dict(extra_context or {})
        if collection := self.get_object(request, object_id):
            extra["facts"] = self.facts(collection)
        return super().change_view(request, object_id, form_url, extra)

    def facts(self, collection: Collection) -> list[tuple[str, str]]:
        """Return the statistics that the page shows, as names and values."""
        stats = collection_stats(collection.id, access=FULL)
        return [
            ("Stored documents", f"{stats.documents:,}"),
            ("By status, with those not stored", _format_counts(stats.by_status)),
            ("By type", _format_counts(stats.by_type)),
            ("Chunks", f"{stats.chunks:,}"),
            ("Tokens", f"{stats.tokens:,}"),
            ("Storage", filesizeformat(stats.bytes)),
        ]

    def save_model(self, request: HttpRequest, obj: Collection, form: forms.Form, change: bool) -> None:
        given = {"name": obj.name, "description": obj.description, "settings": form.cleaned_data["given"]}
        if not change:
            obj.pk = create_collection(access=FULL, **given).pk
        elif obj.name == DEFAULT_COLLECTION:
            change_collection(obj.pk, access=FULL, changes={"description": obj.description})
        else:
            change_collection(obj.pk, access=FULL, changes=given)


def _format_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items())) or "–"
