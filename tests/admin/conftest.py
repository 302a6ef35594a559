"""Rows as the workers leave them, and jobs as they are under way."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.utils import timezone

from documents.models import Chunk, Collection, Document, IngestItem, IngestJob, Page
from embeddings.models import Embedding, EmbeddingModel, EmbeddingRequest, EmbeddingRun


@pytest.fixture
def admin_user(db: None) -> User:
    """Without a password, whose hash costs more than a test; `admin_client` needs none."""
    return User.objects.create(username="admin", is_staff=True, is_superuser=True)


@pytest.fixture
def model() -> EmbeddingModel:
    return EmbeddingModel.objects.create(
        name="all-MiniLM-L6-v2", provider="local", dimensions=384, active=True
    )


@pytest.fixture
def collection() -> Collection:
    return Collection.objects.get_or_create(name="default")[0]


@pytest.fixture
def make_document(model: EmbeddingModel, collection: Collection) -> Callable[..., Document]:
    def make(name: str, *, embedded: int = 0, failed: int = 0, pending: int = 0, **fields: Any) -> Document:
        total = embedded + failed + pending
        values = {"collection": collection, "source": "PDF", "page_count": 1, **fields}
        document = Document(
            original_filename=name, checksum=uuid4().hex * 2, size_bytes=2048, chunk_count=total, **values
        )
        document.file.save(name, ContentFile(b"%PDF-"), save=False)
        document.save()
        Page.objects.create(document=document, number=1, start_char=0, text="x" * 90, read_by="pdfium")
        chunks = Chunk.objects.bulk_create(_chunk(document, place) for place in range(total))
        Embedding.objects.bulk_create(
            Embedding(chunk=chunk, model=model, collection_id=document.collection_id, vector=np.ones(384))
            for chunk in chunks[:embedded]
        )
        run = EmbeddingRun.objects.create(requested=failed)
        EmbeddingRequest.objects.bulk_create(
            EmbeddingRequest(
                chunk=chunk,
                model=model,
                run=run,
                attempts=1,
                failed_at=document.created_at,
                error="The embedding model refused the text.",
            )
            for chunk in chunks[embedded : embedded + failed]
        )
        return document

    return make


def _chunk(document: Document, place: int) -> Chunk:
    return Chunk(
        document=document,
        chunk_index=place,
        content=f"{document.original_filename} says sentence number {place}.",
        start_char=0,
        end_char=9,
        token_count=7,
        page_number=1,
        last_page=2,
    )


@pytest.fixture
def make_job(collection: Collection) -> Callable[..., IngestJob]:
    """A job with an item for each dict of fields given."""

    def make(*items: dict[str, Any]) -> IngestJob:
        job = IngestJob.objects.create(collection=collection, origin="api")
        IngestItem.objects.bulk_create(
            IngestItem(
                **{
                    "job": job,
                    "collection": collection,
                    "position": position,
                    "source_type": "text",
                    "filename": f"note-{position}.txt",
                    **fields,
                }
            )
            for position, fields in enumerate(items)
        )
        return job

    return make


ENDED = {"stage": "ended", "ended_at": timezone.now(), "started_at": timezone.now(), "attempts": 1}
COMPLETED = {"status": "completed", "pages_total": 2, "pages_done": 2, "chunks_made": 3, **ENDED}
FAILED = {"status": "failed", "error_code": "UNPROCESSABLE", "error": "It holds no text.", **ENDED}
