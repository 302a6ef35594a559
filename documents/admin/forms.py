"""Forms of the admin for uploads and new versions: files are staged, and a job ingests them."""

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from documents.access import FULL
from documents.ingest import jobs
from documents.ingest.jobs import NewDocument
from documents.library.collections import chunking_settings
from documents.library.storage import Staging
from documents.models import Collection, Document, IngestJob
from documents.text.characters import clean_filename
from knowlex.base.errors import PayloadTooLarge

FORMATS = ".pdf,.md,.markdown,.html,.htm,.docx,.xlsx,.pptx,.csv,.odt,.rtf,.epub,.eml,.msg,.txt"
ORIGIN = "admin"


class SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """A field of one or more files; an empty file is accepted, and its job reports it."""

    widget = SeveralFiles(attrs={"accept": FORMATS})

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_empty_file=True, **kwargs)

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        files = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(file, initial) for file in files or [None]]


class UploadForm(forms.Form):
    collection = forms.ModelChoiceField(Collection.objects.all(), empty_label=None)
    documents = FilesField(
        help_text="PDF, Markdown, HTML, DOCX, XLSX, PPTX, CSV, ODT, RTF, EPUB, mail (EML, MSG) or text, "
        "at most "
        f"{settings.MAX_UPLOAD_BYTES // 2**20} MB each; several at once, up to 100 files of "
        f"{4 * settings.MAX_UPLOAD_BYTES // 2**20} MB together. They are read and embedded in the "
        "background: the next page shows how far they are."
    )

    def create_job(self) -> IngestJob:
        """Create the job.

        Raises StorageUnavailable, DatabaseUnavailable, NotFound (the collection is gone).
        """
        collection = self.cleaned_data["collection"]
        with ExitStack() as stack:
            return jobs.create_job(
                access=FULL,
                collection=collection,
                documents=[_stage(file, stack) for file in self.cleaned_data["documents"]],
                chunking=chunking_settings(collection),
                origin=ORIGIN,
            )


class ReplaceForm(forms.Form):
    file = forms.FileField(
        allow_empty_file=True,
        widget=forms.FileInput(attrs={"accept": FORMATS}),
        help_text="Until the new version is read and embedded, the old one answers; if it fails, that stays.",
    )

    def replace(self, document: Document) -> IngestJob | None:
        """Replace; None for the same bytes.

        Raises NotFound, Duplicate, PayloadTooLarge, StorageUnavailable.
        """
        with ExitStack() as stack:
            new = _stage(self.cleaned_data["file"], stack)
            chunking = chunking_settings(document.collection)
            return jobs.replace_document(document.pk, access=FULL, new=new, chunking=chunking, origin=ORIGIN)


def _stage(file: UploadedFile[Any], stack: ExitStack) -> NewDocument:
    """Stage a file; one that is too large is recorded as refused, with the others."""
    name = clean_filename(file.name or "")
    staging = stack.enter_context(Staging(max_bytes=settings.MAX_UPLOAD_BYTES))
    try:
        _write(staging, file.chunks())
    except PayloadTooLarge as exc:
        return NewDocument("file", name, error=exc)
    return NewDocument("file", name, upload=staging.finish())


def _write(staging: Staging, blocks: Iterable[bytes]) -> None:
    for block in blocks:
        staging.write(block)
