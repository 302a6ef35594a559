"""What questions read from chunks is stored with them, is made where it lacks, and changes no answer."""

from collections.abc import Iterator
from contextlib import closing
from uuid import UUID

import pytest
from django.db import connection

from documents.access import FULL
from documents.models import Chunk, Document
from embeddings import services
from embeddings.lexical import index
from embeddings.lexical.sentences import VERSION, describe_sentences
from embeddings.models import ChunkAnalysis
from embeddings.queue import ANALYSIS_LOCK
from knowlex.base.ids import new_id

pytestmark = pytest.mark.usefixtures("configure", "transactional_db")
GERMAN = "Die Häuser der alten Stadt liegen an einem Fluss. Viele Menschen kommen jedes Jahr hierher."
ENGLISH = "The houses of the old town lie on a river. Many people come here every year."


@pytest.fixture
def stored(add_document) -> Iterator[list[UUID]]:
    ids = [add_document([f"{text} Number {n}." for n in range(3)]) for text in (GERMAN, ENGLISH)]
    Document.objects.filter(id=ids[0]).update(language="de")
    services.request_embeddings(access=FULL)
    while services.embed_batch(new_id()):
        pass
    return ids


def analyses() -> dict[UUID, str]:
    return dict(ChunkAnalysis.objects.filter(version=VERSION).values_list("chunk_id", "analysis"))


def true_analyses() -> dict[UUID, str]:
    chunks = Chunk.objects.select_related("document")
    return {chunk.id: describe_sentences(chunk.content, chunk.document.language) for chunk in chunks}


def test_it_is_stored_with_the_first_vector(stored):
    assert analyses() == true_analyses()
    assert len(analyses()) == 6


def test_it_goes_with_its_chunk(stored):
    Chunk.objects.filter(document_id=stored[0]).delete()
    assert len(analyses()) == 3


def test_what_lacks_is_made_and_what_is_older_is_replaced(stored):
    first, second, *_ = sorted(analyses())
    ChunkAnalysis.objects.filter(chunk_id=first).delete()
    ChunkAnalysis.objects.filter(chunk_id=second).update(version=VERSION - 1, analysis="\n")

    assert list(index.describe_missing(batch=1)) == [1, 1]

    assert analyses() == true_analyses()
    assert ChunkAnalysis.objects.count() == 6
    assert list(index.describe_missing()) == []


def test_a_document_whose_language_changes_is_described_anew(stored):
    Document.objects.filter(id=stored[0]).update(language="")
    for _ in index.reindex(everything=True):
        pass
    assert Document.objects.get(id=stored[0]).language in ("", "de")
    assert analyses() == true_analyses()


def test_while_another_process_is_at_it_it_is_left_alone(stored):
    ChunkAnalysis.objects.all().delete()
    other = connection.copy()
    with closing(other), other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [ANALYSIS_LOCK])
        assert list(index.describe_missing()) == []
        cursor.execute("SELECT pg_advisory_unlock(%s)", [ANALYSIS_LOCK])
    assert sum(index.describe_missing()) == 6
