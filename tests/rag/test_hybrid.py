"""Retrieval on real PostgreSQL; the provider's vectors are bags of words, so what is near is known."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

import pytest
from django.conf import settings as django_settings
from django.db import connection

from documents.access import FULL
from documents.models import Collection, Document
from embeddings.lexical.index import reindex
from embeddings.models import EmbeddingModel
from knowlex.base.errors import NotFound, RetrievalFailed
from knowlex.db.pool import close_pool
from knowlex.db.threads import execute
from rag.answering import lifecycle, services
from rag.retrievers.hybrid import HybridRetriever
from rag.retrievers.scope import Scopes
from rag.types.question import NO_FILTERS, Filters, Mode, Question
from rag.types.retrieval import Retrieval, Saying
from tests.provider import Provider
from tests.rag.conftest import AddDocument
from tests.support.texts import place

pytestmark = pytest.mark.django_db(transaction=True)
T = TypeVar("T")

RING = "Consistent hashing places the nodes on a ring."
BREAD = "Sourdough bread bakes for forty minutes."
TEA = "Green tea steeps for two minutes."


def run(work: Awaitable[T]) -> T:
    """In a loop of its own, whose connections are closed with it."""

    async def closing() -> T:
        try:
            return await work
        finally:
            await lifecycle.close()
            await close_pool()

    return asyncio.run(closing())


def retrieve(
    text: str, *collections: str, top_k: int = 5, mode: Mode = "hybrid", **options: int
) -> Retrieval:
    async def search() -> Retrieval:
        ids = await services.resolve_collections(collections or ("default",), access=FULL)
        return await HybridRetriever(**options).retrieve(Question(text, ids, top_k=top_k, mode=mode))

    return run(search())


@pytest.fixture
def library(add_document: AddDocument) -> None:
    add_document(RING, BREAD, title="Two things")
    add_document(TEA)


def test_both_rankings_find_and_rank(library: None):
    found = retrieve("Which bread bakes for minutes?")
    first = found.passages[0]
    assert (first.content, first.dense_rank, first.sparse_rank) == (BREAD, 1, 1)
    assert first.score == pytest.approx(1 / 61)
    assert (first.title, first.document_name, first.chunk_index) == ("Two things", "file0.pdf", 1)
    assert [p.content for p in found.passages] == [BREAD, TEA, RING]
    assert found.passages[-1].sparse_rank is None
    assert found.passages[-1].sparse_score is None


def test_a_document_without_title_goes_by_its_file_name(library: None):
    assert retrieve("green tea").passages[0].title == "file1.pdf"


MANUALS = [f"{place(number)} {number % 7}00" for number in range(60)]


@pytest.fixture
def manuals(add_document: AddDocument) -> None:
    for number, name in enumerate(MANUALS):
        add_document(f"The warranty covers {number + 200} months.", title=f"Manual of the {name}")


def test_of_many_manuals_that_say_the_same_the_one_that_is_named_is_found(manuals: None):
    for number in (3, 31, 59):
        found = retrieve(f"How many months does the warranty of the {MANUALS[number]} cover?")
        passage = next(one for one in found.passages if one.title.endswith(MANUALS[number]))
        assert f" {number + 200} months" in passage.content
        assert passage.sparse_rank == 1


def test_words_of_an_older_release_take_on_the_titles_when_they_are_analysed_anew(manuals: None):
    only_the_text = "lexemes = array_to_tsvector('{warranti}'), weights = '{1:1}/16777216'"
    execute(f"UPDATE embeddings_lexicalentry SET {only_the_text}")
    asked = f"the warranty of the {MANUALS[31]}"
    assert MANUALS[31] not in " ".join(one.title for one in retrieve(asked, mode="sparse").passages[:1])
    assert sum(done.chunks for done in reindex(everything=True)) == len(MANUALS)
    assert retrieve(asked, mode="sparse").passages[0].title.endswith(MANUALS[31])


def test_own_text_is_found_at_distance_zero(library: None):
    assert retrieve(RING).passages[0].distance == 0.0


def test_unknown_words_leave_the_dense_ranking_alone(library: None):
    found = retrieve("Wolkenkuckucksheim")
    assert len(found.passages) == 3
    assert {p.sparse_rank for p in found.passages} == {None}
    assert found.idf.keys() == {"wolkenkuckucksheim"}


@pytest.mark.parametrize("text", ["?!", "the of and", "' | & ! ( ) :* \\ \"", "😀", "漢字はどこ", "a" * 2000])
def test_no_question_is_an_error(library: None, text: str):
    assert len(retrieve(text).passages) == 3


def test_rare_words_are_worth_more(library: None):
    found = retrieve("minutes of bread")
    assert found.idf["bread"] > found.idf["minut"] > 0


def test_only_the_asked_collections_are_read(library: None, add_document: AddDocument):
    add_document("Bread is made of flour.", collection="kitchen")
    assert [p.content for p in retrieve("bread", "kitchen").passages] == ["Bread is made of flour."]
    assert len(retrieve("bread").passages) == 3
    assert len(retrieve("bread", "default", "kitchen").passages) == 4


def test_chunks_without_a_vector_are_not_found(library: None, add_document: AddDocument):
    add_document("Bread without a vector.", embed=False)
    assert len(retrieve("bread").passages) == 3


def test_deleted_chunks_and_their_words_are_gone(library: None):
    Document.objects.filter(original_filename="file0.pdf").delete()
    found = retrieve("bread minutes")
    assert [p.content for p in found.passages] == [TEA]


def test_top_k_beyond_the_usual_depth_is_honoured(add_document: AddDocument):
    add_document(*(f"Fact {n} about lighthouse{n}." for n in range(60)))
    assert len(retrieve("fact", top_k=50, depth=5, candidates=5).passages) >= 50
    assert len(retrieve("fact", top_k=3, depth=5, candidates=5).passages) == 5


def test_one_plan_serves_only_searches_of_most_chunks(library: None, add_document: AddDocument):
    add_document("Bread is made of flour.", collection="kitchen")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE embeddings_lexicalentry")

    async def is_usual(*collections: str, filters: Filters = NO_FILTERS) -> bool:
        ids = await services.resolve_collections(collections, access=FULL)
        scope = await Scopes().of(Question("Which bread?", ids, top_k=5, filters=filters))
        assert scope is not None
        return scope.is_usual

    assert run(is_usual("default"))
    assert run(is_usual("default", "kitchen"))
    assert not run(is_usual("kitchen"))
    assert not run(is_usual("default", filters=Filters(page_from=1)))


def test_the_question_is_not_embedded_when_there_is_nothing_to_find(embedder: Provider):
    assert retrieve("anything").passages == ()
    assert embedder.calls("embeddings") == []


def test_a_collection_without_vectors_costs_no_model_call(library: None, embedder: Provider):
    Collection.objects.create(name="empty")
    embedder.forget_log()
    assert retrieve("bread", "empty").passages == ()
    assert embedder.calls("embeddings") == []


def test_a_refused_question_is_a_retrieval_failure(library: None, embedder: Provider):
    embedder.rule("status", status=401, on="embeddings")
    with pytest.raises(RetrievalFailed):
        retrieve("bread")


def test_vectors_of_another_size_are_never_compared(library: None):
    EmbeddingModel.objects.update(dimensions=7)
    with pytest.raises(RetrievalFailed):
        retrieve("bread")


def test_the_models_calibration_comes_along(library: None):
    EmbeddingModel.objects.update(calibration={"intercept": -1.5})
    found = retrieve("bread")
    assert found.calibration == {"intercept": -1.5}
    assert found.model_name == "text-embedding-3-small"


def test_collections_are_found_by_name_and_by_id(library: None):
    default = Collection.objects.get(name="default")
    other = Collection.objects.create(name="Other")
    names = ("Other", str(default.id).upper(), "default")
    assert run(services.resolve_collections(names, access=FULL)) == (other.id, default.id)
    with pytest.raises(NotFound):
        run(services.resolve_collections(("default", "other"), access=FULL))


def test_a_question_carries_the_configured_threshold(library: None):
    question = run(services.make_question("Why?", access=FULL, top_k=7))
    assert (question.min_relevance, question.top_k) == (django_settings.RELEVANCE_THRESHOLD, 7)


@pytest.mark.parametrize("mode", ["sparse", "exact"])
def test_words_are_found_while_the_model_is_down(library: None, embedder: Provider, mode: Mode):
    embedder.rule("status", status=500, on="embeddings")
    embedder.forget_log()
    assert [p.content for p in retrieve("bread", mode=mode).passages] == [BREAD]
    assert embedder.calls("embeddings") == []


@pytest.mark.parametrize("others", [0, 30])
def test_who_says_a_word_is_told_with_how_much_of_it_does(add_document: AddDocument, others: int):
    """others: chunks of another collection, which says the word, too; most of all, or none."""
    own = add_document("Nike makes shoes.", "Nike sells them.", "They come from abroad.", title="Report")
    if others:
        add_document(*(f"Nike has shop number {n}." for n in range(others)), collection="others")
    execute("ANALYZE embeddings_lexicalentry")

    assert sayings("nike", "bread") == [Saying("nike", own.id, 2, 3, 2, 3)]


def test_of_a_document_that_the_caller_may_not_read_nothing_is_said(add_document: AddDocument):
    hidden = add_document("Nike makes shoes.", "Nike sells them.", title="Report")
    permissions = {"visibility": "restricted", "allowed_users": ["ann"]}
    Document.objects.filter(id=hidden.id).update(permissions=permissions)
    (readers,) = execute("SELECT readers FROM documents_document WHERE id = %s", [hidden.id])[0]

    assert [one.document_id for one in sayings("nike", principals=tuple(readers))] == [hidden.id]
    assert sayings("nike", principals=("somebody else",)) == []


def sayings(*words: str, principals: tuple[str, ...] | None = None) -> list[Saying]:
    async def find() -> list[Saying]:
        ids = await services.resolve_collections(("default",), access=FULL)
        question = Question("Where does Nike make shoes?", ids, top_k=5, principals=principals)
        return list(await HybridRetriever().find_sayings(question, words))

    return run(find())


def test_within_a_document_words_are_searched_for_as_texts_say_them(add_document: AddDocument):
    chief = "Anna Lund has served as the chief executive officer of this company since the spring of 2019."
    own = add_document(chief, BREAD, title="Annual report", language="en")
    add_document(TEA, title="Teas")

    async def search() -> tuple[Retrieval, Retrieval]:
        ids = await services.resolve_collections(("default",), access=FULL)
        question, retriever = Question("Who is the boss?", ids, top_k=5), HybridRetriever()
        return await retriever.retrieve(question), await retriever.retrieve_within(question, {own.id})

    usual, within = run(search())
    assert not any(passage.sparse_score for passage in usual.passages)  # BM25 is of the question's words
    assert [passage.content for passage in within.passages if passage.sparse_score] == [chief]
    assert {"chief", "execut", "offic"} <= usual.paraphrases["boss"].keys()
    assert usual.paraphrases == within.paraphrases
