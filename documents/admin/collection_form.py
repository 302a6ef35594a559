"""The form of a collection: its settings as fields, checked by the same rules as over HTTP."""

from typing import Any

from django import forms

from documents.library.collection_settings import (
    COLLECTION_NAMES,
    as_names,
    checked,
    default_chunking,
    merged,
)
from documents.library.collections import checked_name, chunking_settings, effective_settings
from documents.models import Collection
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
        known = effective_settings(self.instance) if stored else as_names(default_chunking())
        for name in self.declared_fields:
            self.fields[name].initial = known.get(name, {})

    def clean_name(self) -> str:
        try:
            return checked_name(self.cleaned_data["name"])
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
            merged(base, checked(given, COLLECTION_NAMES))
        except InvalidInput as exc:
            self._refuse(exc)
        return cleaned

    def _refuse(self, error: InvalidInput) -> None:
        field = str((error.details or {}).get("field", "")).removeprefix("settings.").split(".")[0]
        name = field if field in self.declared_fields else None
        self.add_error(name, error.message.removeprefix("settings."))
