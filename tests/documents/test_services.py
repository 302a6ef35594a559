"""The services on a real database: what they ask of it, and what they do when it stumbles."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import Model

from documents import services
from documents.access import FULL, Access
from documents.library.collections import find_collection, find_collections, get_default_collection
from documents.models import Chunk, Collection, Document
from knowlex.base.errors import DatabaseUnavailable, Forbidden, InvalidInput, NotFound
from knowlex.base.ids import new_id, parse_id
from knowlex.db import threads
from knowlex.db.threads import release_connection, with_retries

CountQueries = Callable[[int], AbstractContextManager[object]]
pytestmark = pytest.mark.django_db


def add_documents(number: int, collection: Collection) -> list[Document]:
    return Document.objects.bulk_create(
        Document(
            collection=collection, source="PDF", original_filename=f"{n}.pdf", checksum=f"{n:064}",
            size_bytes=1, file=f"documents/{n}.pdf", page_count=1, chunk_count=1,
        )
        for n in range(number)
    )  # fmt: skip


def add_chunks(document: Document, number: int) -> list[Chunk]:
    return Chunk.objects.bulk_create(
        Chunk(document=document, chunk_index=n, content="text", start_char=0, end_char=4, token_count=1)
        for n in range(number)
    )


@pytest.mark.parametrize("number", [1, 50])
def test_listing_takes_one_query_however_many_there_are(
    number: int, django_assert_num_queries: CountQueries
) -> None:
    collection = find_collection(None, access=FULL)
    add_documents(number, collection)

    with django_assert_num_queries(1):
        listed = services.list_documents(collection, access=FULL)
        assert {document.collection.name for document in listed} == {"default"}

    assert len(listed) == number


@pytest.mark.parametrize("number", [1, 50])
def test_chunks_take_one_query_however_many_there_are(
    number: int, django_assert_num_queries: CountQueries
) -> None:
    (document,) = add_documents(1, find_collection(None, access=FULL))
    add_chunks(document, number)

    with django_assert_num_queries(1):
        assert len(services.list_chunks(document.id, access=FULL)) == number


def test_deletion_takes_as_many_statements_whatever_is_below(
    django_assert_num_queries: CountQueries,
) -> None:
    (document,) = add_documents(1, find_collection(None, access=FULL))
    add_chunks(document, 50)

    with django_assert_num_queries(8 + 2):  # and a savepoint with its release, in a test's transaction
        services.delete_document(document.id, access=FULL)

    assert not Chunk.objects.exists()


def test_collection_is_found_by_name_and_by_id() -> None:
    law = Collection.objects.create(name="law")

    assert find_collection("law", access=FULL) == law
    assert find_collection(str(law.id), access=FULL) == law
    assert find_collection("default", access=FULL).id == get_default_collection().id


def test_collections_are_found_in_one_statement_in_the_order_they_are_named(
    django_assert_num_queries: CountQueries,
) -> None:
    law, tea = (Collection.objects.create(name=name) for name in ("law", "tea"))

    with django_assert_num_queries(1):
        found = find_collections(["tea", str(law.id).upper(), "law"], access=FULL)

    assert found == [tea, law]
    assert find_collections([], access=FULL) == []
    assert find_collections(["default"], access=FULL) == [get_default_collection()]
    with pytest.raises(NotFound):
        find_collections(["law", "nowhere"], access=FULL)
    with pytest.raises(Forbidden):
        find_collections(["law", "tea"], access=Access(collection_ids=(law.id,)))


@pytest.mark.parametrize(
    ("name", "error"),
    [("nowhere", NotFound), ("", InvalidInput), ("a\0b", InvalidInput), ("\ud800", InvalidInput)],
)
def test_collection_that_cannot_be_is_refused(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        find_collection(name, access=FULL)


@pytest.mark.parametrize("missing", [services.get_document, services.list_chunks, services.delete_document])
def test_unknown_document_is_not_found(missing: Callable[..., Model]) -> None:
    with pytest.raises(NotFound, match="Document not found"):
        missing(new_id(), access=FULL)


class Stumbling:
    """Fails as a lost connection does, the first `failures` times."""

    def __init__(self, failures: int) -> None:
        self.failures, self.tries = failures, 0

    def __call__(self) -> str:
        self.tries += 1
        if self.tries <= self.failures:
            raise OperationalError("server closed the connection unexpectedly")
        return "done"


@pytest.mark.django_db(transaction=True)
def test_transient_failure_is_tried_three_times_more() -> None:
    work = Stumbling(3)
    assert (with_retries(work), work.tries) == ("done", 4)

    hopeless = Stumbling(99)
    with pytest.raises(DatabaseUnavailable):
        with_retries(hopeless)
    assert hopeless.tries == 4


def test_there_is_no_second_try_within_somebody_elses_transaction() -> None:
    work = Stumbling(1)

    with pytest.raises(OperationalError), transaction.atomic():
        with_retries(work)

    assert work.tries == 1


@pytest.fixture
def forgotten_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an earlier test found gone counts for a second."""
    monkeypatch.setattr(threads, "_last", threads._Outcomes())


@pytest.mark.usefixtures("forgotten_failures")
@pytest.mark.django_db(transaction=True)
def test_released_connection_is_closed_and_comes_back_by_itself() -> None:
    get_default_collection()
    release_connection()
    assert connection.connection is None

    assert find_collection(None, access=FULL).name == "default"


@pytest.mark.parametrize(
    "text", ["", "x", "01890a5dac96774bbcceb302099a8057", "urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057"]
)
def test_only_the_canonical_form_is_an_id(text: str) -> None:
    with pytest.raises(InvalidInput, match="documentId"):
        parse_id(text, field="documentId")
