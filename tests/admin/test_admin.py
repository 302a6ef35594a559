"""The admin as an operator uses it: lists, filters, search, actions; constant numbers of queries."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from documents.models import Chunk, Collection, Document
from embeddings.models import Embedding, EmbeddingModel, EmbeddingRequest, EmbeddingRun

pytestmark = pytest.mark.django_db(transaction=True)

LISTS = [
    "documents/collection",
    "documents/document",
    "documents/chunk",
    "embeddings/embeddingmodel",
    "embeddings/embeddingrequest",
    "embeddings/embeddingrun",
]


@pytest.fixture
def model() -> EmbeddingModel:
    return EmbeddingModel.objects.create(
        name="all-MiniLM-L6-v2", provider="local", dimensions=384, active=True
    )


@pytest.fixture
def make_document(model: EmbeddingModel) -> Callable[..., Document]:
    def make(name: str, *, embedded: int = 0, failed: int = 0, pending: int = 0) -> Document:
        collection, _ = Collection.objects.get_or_create(name="default")
        total = embedded + failed + pending
        document = Document(
            collection=collection,
            source="PDF",
            original_filename=name,
            checksum=f"{name:0>64}"[-64:],
            size_bytes=2048,
            page_count=3,
            chunk_count=total,
        )
        document.file.save(name, ContentFile(b"%PDF-"), save=False)
        document.save()
        chunks = Chunk.objects.bulk_create(
            Chunk(
                document=document,
                chunk_index=i,
                content=f"{name} says sentence number {i}.",
                start_char=0,
                end_char=9,
                token_count=7,
                page_number=1,
                last_page=2,
            )
            for i in range(total)
        )
        Embedding.objects.bulk_create(
            Embedding(chunk=chunk, model=model, collection_id=collection.id, vector=np.ones(384))
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


def test_every_list_opens_and_its_queries_do_not_grow_with_its_rows(
    admin_client: Client, make_document: Callable[..., Document], django_assert_max_num_queries
) -> None:
    for i in range(30):
        make_document(f"file-{i}.pdf", embedded=2, failed=1, pending=1)

    for name in LISTS:
        with django_assert_max_num_queries(15):
            assert admin_client.get(f"/admin/{name}/").status_code == 200


def test_a_documents_row_counts_what_is_embedded_pending_and_failed(
    admin_client: Client, make_document: Callable[..., Document]
) -> None:
    make_document("report.pdf", embedded=3, failed=2, pending=1)

    page = admin_client.get("/admin/documents/document/")

    (row,) = page.context["cl"].result_list
    assert (row.embedded, row.failed, row.chunk_count) == (3, 2, 6)
    for cell in ("field-embedded", "field-pending", "field-failed", "field-status"):
        assert cell in page.content.decode()


@pytest.mark.parametrize(
    ("state", "names"),
    [("embedded", ["done.pdf"]), ("failed", ["bad.pdf"]), ("pending", ["new.pdf"])],
)
def test_documents_filter_by_embedding_state(
    admin_client: Client, make_document: Callable[..., Document], state: str, names: list[str]
) -> None:
    make_document("done.pdf", embedded=2)
    make_document("bad.pdf", embedded=1, failed=1)
    make_document("new.pdf", pending=2)

    page = admin_client.get("/admin/documents/document/", {"embedding": state})

    assert [row.original_filename for row in page.context["cl"].result_list] == names


def test_chunks_are_found_by_their_words_and_cannot_be_changed(
    admin_client: Client, make_document: Callable[..., Document]
) -> None:
    make_document("alpha.pdf", embedded=1, failed=1)
    make_document("beta.pdf", pending=1)

    page = admin_client.get("/admin/documents/chunk/", {"q": "alpha"})

    rows = list(page.context["cl"].result_list)
    assert {row.state for row in rows} == {"embedded", "failed"}
    detail = admin_client.get(f"/admin/documents/chunk/{rows[0].pk}/change/").content.decode()
    assert "<textarea" not in detail
    assert 'name="_save"' not in detail
    assert (
        admin_client.post(f"/admin/documents/chunk/{rows[0].pk}/change/", {"content": "x"}).status_code == 403
    )


def test_retry_asks_for_failed_chunks_again(
    admin_client: Client, make_document: Callable[..., Document]
) -> None:
    document = make_document("bad.pdf", embedded=1, failed=2)

    page = admin_client.post(
        "/admin/documents/document/",
        {"action": "retry_failed", "_selected_action": [str(document.pk)]},
        follow=True,
    )

    assert "2 chunk(s) of 1 document(s) queued" in page.content.decode()
    assert EmbeddingRequest.objects.waiting().count() == 2


def test_deleting_in_the_admin_takes_the_file_and_all_rows(
    admin_client: Client, make_document: Callable[..., Document]
) -> None:
    document = make_document("old.pdf", embedded=1, failed=1)
    path = Path(document.file.path)

    admin_client.post(
        "/admin/documents/document/",
        {"action": "delete_selected", "_selected_action": [str(document.pk)], "post": "yes"},
    )

    assert not path.exists()
    assert not Chunk.objects.exists()
    assert not Embedding.objects.exists()
    assert not EmbeddingRequest.objects.exists()


def test_a_file_is_uploaded_in_the_admin_and_a_second_time_refused_beside_the_field(
    admin_client: Client,
) -> None:
    collection = Collection.objects.get_or_create(name="default")[0]

    def upload() -> Any:
        file = SimpleUploadedFile("notes.md", b"# Notes\n\nNairobi is the capital of Kenya.\n")
        form = {"collection": str(collection.pk), "file": file}
        return admin_client.post("/admin/documents/document/add/", form)

    assert upload().status_code == 302
    assert Chunk.objects.get().content.endswith("Nairobi is the capital of Kenya.")
    assert "Document already ingested" in upload().content.decode()
    assert Document.objects.count() == 1
