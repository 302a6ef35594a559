"""Collections in the admin: statistics, settings, deletion."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from documents.models import Collection, Document

pytestmark = pytest.mark.django_db
LIST = "/admin/documents/collection/"
FORM = {
    "name": "papers",
    "description": "",
    "chunking_strategy": "fixed",
    "chunk_size": "200",
    "chunk_overlap": "20",
    "similarity_threshold": "0.85",
    "min_chunk_size": "50",
    "default_permissions": "{}",
}


def test_a_collection_is_made_and_its_settings_are_changed(admin_client: Client) -> None:
    assert admin_client.post(f"{LIST}add/", FORM).status_code == 302
    papers = Collection.objects.get(name="papers")
    assert papers.settings["chunk_size"] == 200

    changed = {**FORM, "chunk_size": "300", "description": "of 2026"}
    assert admin_client.post(f"{LIST}{papers.pk}/change/", changed).status_code == 302

    papers.refresh_from_db()
    assert (papers.settings["chunk_size"], papers.description) == (300, "of 2026")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("chunk_size", "5000", "must be an integer from 20 to 512"),
        ("chunk_overlap", "150", "must be at most 100 where chunk_size is 200"),
        ("similarity_threshold", "1.5", "must be a number from 0 to 1"),
        ("default_permissions", '{"visibility": "secret"}', "must be one of public, private, restricted"),
        ("name", "  ", "required"),
    ],
)
def test_a_setting_out_of_its_limits_is_refused_beside_its_field(
    admin_client: Client, field: str, value: str, message: str
) -> None:
    page = admin_client.post(f"{LIST}add/", {**FORM, field: value})

    assert message in str(page.context["adminform"].form.errors[field])
    assert not Collection.objects.filter(name="papers").exists()


def test_a_name_that_is_taken_is_refused(admin_client: Client) -> None:
    Collection.objects.create(name="papers")

    page = admin_client.post(f"{LIST}add/", FORM)

    assert "already exists" in page.content.decode()


def test_a_collections_page_counts_what_is_in_it(
    admin_client: Client, make_document: Callable[..., Document], collection: Collection
) -> None:
    make_document("a.pdf", embedded=2, pending=1, status="completed")
    make_document("b.md", pending=1, source="MARKDOWN")

    facts = dict(admin_client.get(f"{LIST}{collection.pk}/change/").context["facts"])

    assert facts["Stored documents"] == "2"
    assert facts["Chunks"] == "4"
    assert facts["Vectors"] == "2"
    assert facts["By type"] == "1 markdown, 1 pdf"


def test_default_keeps_its_name_and_cannot_be_deleted(admin_client: Client, collection: Collection) -> None:
    form = {**FORM, "name": "other", "description": "All of it"}
    assert admin_client.post(f"{LIST}{collection.pk}/change/", form).status_code == 302
    assert admin_client.post(f"{LIST}{collection.pk}/delete/", {"post": "yes"}).status_code == 403

    collection.refresh_from_db()
    assert (collection.name, collection.description, collection.settings) == ("default", "All of it", {})


def test_a_collection_is_deleted_with_everything_in_it(
    admin_client: Client, make_document: Callable[..., Document]
) -> None:
    old = Collection.objects.create(name="old")
    make_document("a.pdf", embedded=2, collection=old)
    kept = make_document("b.pdf", embedded=1)

    question: Any = admin_client.get(f"{LIST}{old.pk}/delete/").content.decode()
    answer = admin_client.post(f"{LIST}{old.pk}/delete/", {"post": "yes"}, follow=True).content.decode()

    assert "Vectors: 2" in question
    assert "Deleted: 1 document, 1 page, 2 chunks and 2 vectors." in answer
    assert list(Document.objects.all()) == [kept]
    assert not Collection.objects.filter(name="old").exists()
