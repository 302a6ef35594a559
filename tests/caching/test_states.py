"""The state of what is read: another one after every change that a question could notice."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection

from documents.access.scopes import FULL
from documents.library import collection_states
from documents.models import Collection, CollectionChange, Document
from embeddings.models import Embedding, EmbeddingModel, LexicalEntry
from embeddings.services import embed_batch, request_embeddings
from knowlex.db.pool import close_pool
from rag.answering import collections_read
from tests.rag.conftest import AddDocument

pytestmark = pytest.mark.django_db(transaction=True)


def state(*collections: str) -> str:
    async def read() -> str:
        try:
            return (await collections_read.named(collections or ("default",), access=FULL)).state
        finally:
            await close_pool()

    return asyncio.run(read())


@contextmanager
def changing(*collections: str) -> Iterator[None]:
    before = state(*collections)
    yield
    assert state(*collections) != before


@contextmanager
def not_changing(*collections: str) -> Iterator[None]:
    before = state(*collections)
    yield
    assert state(*collections) == before


def test_documents_that_come_change_and_go_change_the_state(add_document: AddDocument):
    with changing():
        document = add_document("The ring holds nodes.", embed=False)
    rows = Document.objects.filter(id=document.id)
    for change in ({"title": "Rings"}, {"metadata": {"tags": ["x"]}}, {"language": "de"}):
        with changing():
            rows.update(**change)
    with changing():
        rows.delete()


def test_what_no_answer_shows_does_not(add_document: AddDocument):
    document = add_document("The ring holds nodes.")
    with not_changing():
        Document.objects.filter(id=document.id).update(status="processing")
        document.collection.description = "Other words"
        document.collection.save()
    with not_changing():
        Document.objects.filter(id=document.id).update(title=document.title)


def test_vectors_words_and_sentences_change_it(add_document: AddDocument):
    add_document("Tea steeps.")  # the first vectors choose the model
    document = add_document("The ring holds nodes.", "It has a clock.", embed=False)
    with not_changing():
        batches = request_embeddings(document.id, access=FULL).batches
    with changing():
        embed_batch(batches[0])
    with changing():
        LexicalEntry.objects.update(collection_id=document.collection_id)
    with changing():
        Embedding.objects.filter(chunk__document__title="").delete()


def test_a_collection_that_is_not_read_changes_nothing(add_document: AddDocument):
    add_document("The ring holds nodes.")
    Collection.objects.create(name="other")
    with not_changing(), changing("other"), changing("default", "other"):
        add_document("Tea steeps.", collection="other")


def test_another_model_calibration_or_index_changes_it(add_document: AddDocument):
    add_document("The ring holds nodes.")
    with changing():
        EmbeddingModel.objects.update(calibration={"weights": [1.0]})
    with changing():
        EmbeddingModel.objects.update(name="another")


def test_the_order_in_which_collections_are_named_does_not_matter(add_document: AddDocument):
    add_document("Tea steeps.", collection="other")
    assert state("default", "other") == state("other", "default") != state("default")


def test_a_change_that_is_committed_late_is_not_missed(add_document: AddDocument):
    """It began first: its row has the smaller id, and comes after the other's."""
    one, other = add_document("The ring holds nodes."), add_document("Tea steeps.")
    with psycopg.connect(**_connection()) as slow:
        slow.execute("UPDATE documents_document SET title = 'Slow' WHERE id = %s", [one.id])
        with changing():
            Document.objects.filter(id=other.id).update(title="Fast")
        with changing():
            slow.commit()


def test_folding_keeps_every_state(add_document: AddDocument):
    for number in range(4):
        add_document(f"Fact {number}.", collection="other")
    with not_changing("default", "other"):
        collection_states.fold_changes(above=1)
        assert CollectionChange.objects.filter(collection_id=_id("other")).count() == 1
    collection_states.fold_changes(above=0)
    with changing("other"):
        add_document("One more fact.", collection="other")


def test_folding_leaves_alone_what_is_not_committed(add_document: AddDocument):
    document = add_document("The ring holds nodes.")
    with psycopg.connect(**_connection()) as slow:
        slow.execute("UPDATE documents_document SET title = 'Slow' WHERE id = %s", [document.id])
        with not_changing():
            collection_states.fold_changes(above=0)
        with changing():
            slow.commit()


def test_a_collection_that_goes_leaves_nothing(add_document: AddDocument):
    add_document("Tea steeps.", collection="other")
    gone = _id("other")
    Collection.objects.filter(id=gone).delete()
    collection_states.fold_changes()
    assert not CollectionChange.objects.filter(collection_id=gone).exists()


def test_deleting_a_document_adds_one_row_however_many_chunks_it_had(add_document: AddDocument):
    document = add_document(*(f"Fact number {n}." for n in range(30)))
    before = CollectionChange.objects.count()
    Document.objects.filter(id=document.id).delete()
    assert CollectionChange.objects.count() == before + 1


def _id(name: str) -> Any:
    return Collection.objects.get(name=name).id


def _connection() -> dict[str, Any]:
    database = connection.settings_dict
    return {
        "host": database["HOST"],
        "port": database["PORT"] or None,
        "user": database["USER"],
        "dbname": database["NAME"],
    }
