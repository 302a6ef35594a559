"""Every store gives the same passages in the same order, whatever the mode and the filters."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext

import pytest

from documents.models import Collection, Document
from embeddings.external.configuration import is_external, space_of
from embeddings.models import EmbeddingModel
from embeddings.protocols import VectorStore
from embeddings.types import Point, Space
from knowlex.runtime.components import component
from rag.retrievers import scope
from rag.retrievers.hybrid import HybridRetriever
from rag.types.question import Filters, Mode, Question
from rag.types.retrieval import Retrieval
from tests.outside.conftest import stored_points
from tests.rag.conftest import AddDocument
from tests.rag.test_hybrid import run
from tests.stores.conftest import STORES
from tests.support.environment import PROJECT

pytestmark = pytest.mark.django_db(transaction=True)

MODES: tuple[Mode, ...] = ("hybrid", "dense", "sparse", "exact")
QUESTIONS = ("How long does a question wait for its answer?", "vectors", "the right document")
Found = list[tuple[str, float, int | None, int | None]]


@pytest.fixture
def library(add_document: AddDocument) -> list[Filters]:
    """Two collections of what this project says of itself; some filters, none and rare and common ones."""
    pieces = re.split(r"\n\n+", (PROJECT / "docs" / "evaluation.md").read_text())
    texts = list(dict.fromkeys(piece for piece in pieces if len(piece) > 30))
    half = len(texts) // 2
    for start in range(0, half, 20):
        add_document(*texts[start : start + 20], metadata={"tags": ["even" if start % 40 else "odd"]})
    add_document(*texts[half:], collection="other", metadata={"tags": ["odd"]})
    first = Document.objects.get(original_filename="file0.pdf")
    return [Filters(), Filters(document_ids=(first.id,)), Filters(tags=("odd",))]


@pytest.fixture
def use(choose: Callable[[str], None]) -> Callable[[str], None]:
    """`use("chroma")`: what PostgreSQL holds is put into it, and it is searched from then on."""

    def put(kind: str) -> None:
        choose(kind)
        if kind in STORES:
            model = EmbeddingModel.objects.get(active=True)
            run(filled(space_of(model.id, model.dimensions), stored_points()))

    return put


async def filled(space: Space, points: list[Point]) -> None:
    async with the_store() as store:
        await store.drop(space)
        await store.put(space, points)


@asynccontextmanager
async def the_store() -> AsyncIterator[VectorStore]:
    """With this loop's connections closed in the end."""
    store = component("VECTOR_STORE", VectorStore)
    try:
        yield store
    finally:
        await store.aclose()


def everything_found(wanted: list[Filters]) -> list[Found]:
    """For every question, in one collection and in both, by every mode, under all filters."""
    default = Collection.objects.get(name="default").id
    both = tuple(Collection.objects.order_by("name").values_list("id", flat=True))
    asked = [
        Question(text, read, top_k=8, mode=mode, filters=filters)
        for text in QUESTIONS for read in ((default,), both) for mode in MODES for filters in wanted
    ]  # fmt: skip

    async def all_of_them() -> list[Found]:
        retriever = HybridRetriever(depth=10)
        async with the_store() if is_external() else nullcontext():
            return [shown(await retriever.retrieve(question)) for question in asked]

    return run(all_of_them())


def shown(found: Retrieval) -> Found:
    return [(p.content, round(p.score, 5), p.dense_rank, p.sparse_rank) for p in found.passages]


def test_the_same_passages_in_the_same_order(
    library: list[Filters], use: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
):
    expected = everything_found(library)
    assert sum(map(bool, expected)) > 30
    for kind in ("memory", *STORES):
        use(kind)
        assert everything_found(library) == expected, kind
        with monkeypatch.context() as patched:
            patched.setattr(scope, "NARROW", 0)
            assert everything_found(library) == expected, f"{kind}, no filter is narrow"
