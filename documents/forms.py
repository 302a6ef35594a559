"""Uploading in the admin: the same service as over HTTP, its refusals shown beside the field."""

from typing import Any

from django import forms
from django.conf import settings

from documents import services
from documents.access import FULL
from documents.models import Document
from documents.storage import Staging
from documents.uploads import clean_filename
from knowlex.common.errors import KnowlexError


class UploadForm(forms.ModelForm[Document]):
    """`instance` is the stored document once the form is valid."""

    file = forms.FileField(
        help_text="PDF or Markdown. Text is extracted now; “Embed now” in the list makes it searchable."
    )

    class Meta:
        model = Document
        fields = ["collection", "file"]

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if not self.errors:
            try:
                self.instance = self._ingest()
            except KnowlexError as exc:
                self.add_error("file", exc.message)
        return cleaned

    def _post_clean(self) -> None:
        """The service has stored the instance already: there is nothing to copy into it or to check."""

    def _ingest(self) -> Document:
        file = self.cleaned_data["file"]
        with Staging(max_bytes=settings.MAX_UPLOAD_BYTES) as staging:
            for block in file.chunks():
                staging.write(block)
            return services.ingest_document(
                access=FULL,
                upload=staging.finish(),
                filename=clean_filename(file.name),
                collection=self.cleaned_data["collection"],
            )
