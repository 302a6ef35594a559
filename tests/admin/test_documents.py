"""Documents in the admin: reports, filters, replacing, deleting many."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from documents.models import Collection, Document, IngestJob, Page
from embeddings import services
from embeddings.admin import documents as admin_of_documents
from embeddings.ingest import documents as ingestion
from tests.admin.conftest import COMPLETED

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/admin/documents/document/"
MakeDocument = Callable[..., Document]


def names(page: Any) -> set[str]:
    return {row.original_filename for row in page.context["cl"].result_list}


def test_a_documents_page_reports_how_each_page_was_read(
    admin_client: Client, make_document: MakeDocument, django_assert_max_num_queries: Any
) -> None:
    document = make_document("scan.pdf", pending=1, warnings=["1 of 200 pages could not be read: 2."])
    Page.objects.bulk_create(
        Page(document=document, number=n, start_char=0, text="", read_by="none", warnings=["image_only"])
        for n in range(2, 201)
    )

    with django_assert_max_num_queries(15):
        page = admin_client.get(f"{LIST}{document.pk}/change/").content.decode()

    assert "1 of 200 pages could not be read: 2." in page
    assert "200 pages, 199 with warnings, 199 with text that could not be read." in page
    assert "The page is a picture, and its text could not be read." in page


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"warnings": "yes"}, {"warned.pdf"}),
        ({"warnings": "no"}, {"notes.md", "bad.html"}),
        ({"status__exact": "failed"}, {"bad.html"}),
        ({"source__exact": "MARKDOWN"}, {"notes.md"}),
        ({"language": "de"}, {"notes.md"}),
        ({"language": "none"}, {"warned.pdf", "bad.html"}),
        ({"q": "notes"}, {"notes.md"}),
    ],
)
def test_documents_filter_by_warnings_status_type_language_and_text(
    admin_client: Client, make_document: MakeDocument, query: dict[str, str], expected: set[str]
) -> None:
    make_document("warned.pdf", pending=1, warnings=["Page 2 could not be read."])
    make_document("notes.md", pending=1, source="MARKDOWN", language="de")
    make_document("bad.html", failed=1, source="HTML", status="failed")

    assert names(admin_client.get(LIST, query)) == expected


def test_the_documents_of_a_job_can_be_listed(
    admin_client: Client, make_document: MakeDocument, make_job: Callable[..., IngestJob]
) -> None:
    mine, _ = make_document("mine.pdf", pending=1), make_document("other.pdf", pending=1)
    job = make_job({**COMPLETED, "id": mine.pk})

    assert names(admin_client.get(LIST, {"job": str(job.pk)})) == {"mine.pdf"}


def test_a_new_version_in_the_making_is_never_shown(
    admin_client: Client, make_document: MakeDocument
) -> None:
    document = make_document("report.pdf", embedded=1)
    version = make_document("report.pdf", pending=1, replaces=document)

    assert len(admin_client.get(LIST).context["cl"].result_list) == 1
    assert admin_client.get(f"{LIST}{version.pk}/change/").status_code == 302  # no such document
    chunks = admin_client.get("/admin/documents/chunk/").context["cl"].result_list
    assert {chunk.document_id for chunk in chunks} == {document.pk}


def test_chunks_of_a_large_library_are_found_by_their_words(
    admin_client: Client, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n, text in enumerate((b"Nairobi is a city of Kenya.", b"Mombasa is a port of Kenya.")):
        file = SimpleUploadedFile(f"{n}.md", text)
        admin_client.post(f"{LIST}add/", {"collection": str(collection.pk), "documents": file})
        for batch in ingestion.run_next():
            services.embed_batch(batch)
    monkeypatch.setattr(admin_of_documents, "MANY", 0)

    def found(words: str) -> list[str]:
        chunks = admin_client.get("/admin/documents/chunk/", {"q": words}).context["cl"].result_list
        return sorted(chunk.content[:7] for chunk in chunks)

    assert found("kenya") == ["Mombasa", "Nairobi"]
    assert found("cities of Kenya") == ["Nairobi"]
    assert found("Kenya Uganda") == []


def test_a_document_is_replaced_by_a_job_and_by_the_same_bytes_not_at_all(
    admin_client: Client, collection: Collection
) -> None:
    def post(url: str, field: str, text: bytes) -> Any:
        file = SimpleUploadedFile("capital.md", text)
        return admin_client.post(url, {"collection": str(collection.pk), field: file}, follow=True)

    def work() -> None:
        for batch in ingestion.run_next():
            services.embed_batch(batch)

    post(f"{LIST}add/", "documents", b"# Kenya\n\nNairobi is the capital of Kenya.\n")
    work()
    document = Document.objects.get()

    same = post(f"{LIST}{document.pk}/replace/", "file", b"# Kenya\n\nNairobi is the capital of Kenya.\n")
    assert "nothing was done" in same.content.decode()

    other = post(f"{LIST}{document.pk}/replace/", "file", b"# Kenya\n\nMombasa is a port of Kenya.\n")
    assert other.request["PATH_INFO"] == f"/admin/documents/ingestjob/{IngestJob.objects.first()}/change/"
    work()
    assert Document.objects.get().pk == document.pk
    assert document.chunks.get().content.endswith("Mombasa is a port of Kenya.")


def test_all_documents_that_match_are_deleted_after_one_question(
    admin_client: Client, make_document: MakeDocument
) -> None:
    documents = [make_document(f"old-{n}.pdf", embedded=1) for n in range(3)]
    kept = make_document("new.pdf", embedded=1)
    paths = [Path(document.file.path) for document in documents]
    chosen = {"action": "delete_selected", "select_across": "1", "_selected_action": [str(documents[0].pk)]}

    question = admin_client.post(f"{LIST}?q=old", chosen).content.decode()
    assert "Documents: 3" in question
    assert "Vectors: 3" in question
    assert Document.objects.count() == 4

    answer = admin_client.post(f"{LIST}?q=old", {**chosen, "post": "yes"}, follow=True).content.decode()
    assert "Deleted: 3 documents, 3 pages, 3 chunks and 3 vectors." in answer
    assert list(Document.objects.all()) == [kept]
    assert not any(path.exists() for path in paths)


def test_one_document_is_deleted_from_its_page_with_a_receipt(
    admin_client: Client, make_document: MakeDocument
) -> None:
    document = make_document("old.pdf", embedded=2)

    page = admin_client.post(f"{LIST}{document.pk}/delete/", {"post": "yes"}, follow=True).content.decode()

    assert "Deleted: 1 document, 1 page, 2 chunks and 2 vectors." in page
    assert "successfully" not in page
    assert not Document.objects.exists()
