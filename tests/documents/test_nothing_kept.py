"""What an answered request leaves in memory: nothing that waits for the collector of garbage."""

import gc
from uuid import uuid4

import pytest
from django.test import AsyncRequestFactory
from django.urls import resolve
from rest_framework.request import Request
from rest_framework.response import Response

from documents.access import FULL
from documents.models import DEFAULT_COLLECTION, Chunk, Collection, Document
from knowlex.web.handler import SyncHandler

KEPT = (Document, Chunk, Request, Response)


@pytest.fixture
def document(transactional_db: None) -> Document:
    document = Document.objects.create(
        collection=Collection.objects.get_or_create(name=DEFAULT_COLLECTION)[0], source="PDF",
        original_filename="a.pdf", checksum=uuid4().hex, size_bytes=1, file="x", page_count=1, chunk_count=1,
    )  # fmt: skip
    Chunk.objects.create(
        document=document, chunk_index=0, content="x", start_char=0, end_char=1, token_count=1
    )
    return document


@pytest.mark.parametrize("route", ["", "/{id}", "/{id}/chunks"])
def test_rows_and_responses_go_with_the_answer(document: Document, route: str) -> None:
    request = AsyncRequestFactory().get("/api/v1/documents" + route.format(id=document.id))
    request.access, request.resolver_match = FULL, resolve(request.path_info)  # type: ignore[attr-defined]
    gc.collect()
    before = {id(one) for one in gc.get_objects() if isinstance(one, KEPT)}
    gc.disable()
    try:
        assert SyncHandler().serve_plain(request).content
        kept = [one for one in gc.get_objects() if isinstance(one, KEPT) and id(one) not in before]
    finally:
        gc.enable()

    assert [type(one).__name__ for one in kept] == []
