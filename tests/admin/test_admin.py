"""The admin as an operator uses it: lists, filters, search, actions; constant numbers of queries."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from documents.models import Chunk, Document, IngestJob
from embeddings.models import Embedding, EmbeddingRequest
from tests.admin.conftest import COMPLETED, FAILED

pytestmark = pytest.mark.django_db(transaction=True)

LISTS = [
    "documents/collection",
    "documents/document",
    "documents/chunk",
    "documents/ingestjob",
    "documents/webhook",
    "documents/webhookdelivery",
    "embeddings/embeddingmodel",
    "embeddings/embeddingrequest",
    "embeddings/embeddingrun",
    "embeddings/indexmeasurement",
    "embeddings/vectorindex",
]


def test_every_list_opens_and_its_queries_do_not_grow_with_its_rows(
    admin_client: Client,
    make_document: Callable[..., Document],
    make_job: Callable[..., IngestJob],
    django_assert_max_num_queries,
) -> None:
    for i in range(30):
        make_document(f"file-{i}.pdf", embedded=2, failed=1, pending=1)
        make_job(COMPLETED, FAILED, {})

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
    for cell in ("field-embedded", "field-failed", "field-state"):
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

    page = admin_client.post(
        "/admin/documents/document/",
        {"action": "delete_selected", "_selected_action": [str(document.pk)], "post": "yes"},
        follow=True,
    )

    assert "Deleted: 1 document, 1 page, 2 chunks and 1 vector." in page.content.decode()
    assert not path.exists()
    assert not Chunk.objects.exists()
    assert not Embedding.objects.exists()
    assert not EmbeddingRequest.objects.exists()
