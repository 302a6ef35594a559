"""The Knowlex API's documents as JSON: camelCase exists only here."""

from collections.abc import Iterable
from typing import Any, TypeVar

from rest_framework import serializers

from documents.library.listing import PageReport
from documents.models import Chunk, Document
from documents.types import PAGE_WARNINGS

Row = TypeVar("Row")


def listed(output: serializers.Serializer[Row], rows: Iterable[Row]) -> list[dict[str, Any]]:
    """What DRF's ListSerializer makes of them. That one keeps all rows until the garbage is collected."""
    return [output.to_representation(row) for row in rows]


class IngestOutput(serializers.Serializer[Document]):
    documentId = serializers.UUIDField(source="id")
    filename = serializers.CharField(source="original_filename")
    totalChunks = serializers.IntegerField(source="chunk_count")
    status = serializers.SerializerMethodField()
    createdAt = serializers.DateTimeField(source="created_at")
    source = serializers.ChoiceField(choices=Document.Source.choices)  # type: ignore[assignment]
    checksum = serializers.CharField()
    collection = serializers.CharField(source="collection.name")
    warnings = serializers.ListField(child=serializers.CharField())

    def get_status(self, document: Document) -> str:
        """Whole when it is answered; how far its vectors are is another matter."""
        return "INGESTED"


class DocumentOutput(serializers.Serializer[Document]):
    id = serializers.UUIDField()
    source = serializers.ChoiceField(choices=Document.Source.choices)  # type: ignore[assignment]
    originalFilename = serializers.CharField(source="original_filename")
    checksum = serializers.CharField(help_text="SHA-256 of the uploaded bytes, 64 hex digits")
    createdAt = serializers.DateTimeField(source="created_at")
    title = serializers.CharField()
    sizeBytes = serializers.IntegerField(source="size_bytes")
    pageCount = serializers.IntegerField(source="page_count")
    totalChunks = serializers.IntegerField(source="chunk_count")
    collection = serializers.CharField(source="collection.name")
    warnings = serializers.ListField(child=serializers.CharField())


class ChunkOutput(serializers.Serializer[Chunk]):
    id = serializers.UUIDField()
    documentId = serializers.UUIDField(source="document_id")
    chunkIndex = serializers.IntegerField(source="chunk_index")
    content = serializers.CharField()
    pageNumber = serializers.IntegerField(source="page_number", allow_null=True)
    lastPage = serializers.IntegerField(source="last_page", allow_null=True)
    startChar = serializers.IntegerField(source="start_char")
    endChar = serializers.IntegerField(source="end_char")
    tokenCount = serializers.IntegerField(source="token_count")
    chapter = serializers.CharField()
    section = serializers.CharField()


class PageOutput(serializers.Serializer[PageReport]):
    number = serializers.IntegerField(help_text="from 1")
    characters = serializers.IntegerField(help_text="of the page's text")
    readBy = serializers.CharField(source="read_by", help_text="pdfium, pypdf, ocr, text, or none")
    warnings = serializers.SerializerMethodField()

    def get_warnings(self, page: PageReport) -> list[dict[str, str]]:
        return [{"code": word, "message": PAGE_WARNINGS.get(word, word)} for word in page.warnings]


class UploadInput(serializers.Serializer[None]):
    """The multipart form of an upload."""

    file = serializers.FileField(help_text="a PDF or Markdown file of at most 50 MB")
    collection = serializers.CharField(required=False, help_text="name or id; `default` unless given")
