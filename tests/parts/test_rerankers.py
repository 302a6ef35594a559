"""One suite for the Protocol Reranker, over all that there are; what each does of its own: tests/rag."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rag.protocols import Reranker
from rag.rerankers.cross_encoder import CrossEncoderReranker
from rag.rerankers.http import HttpReranker
from rag.rerankers.none import KeepOrder
from rag.rerankers.sentence import SentenceReranker
from rag.types.question import Question
from rag.types.retrieval import Retrieval
from tests.provider import Provider
from tests.rag.factory import passage
from tests.rag.overlap_model import make_overlap_model

ASKED = Question("Which nodes sit on a ring?", (), top_k=3)
TEXTS = (
    "Bread bakes for an hour.",
    "The nodes sit on a ring.",
    "Rings are round. Eels are long.",
    "On a ring.",
)


@pytest.fixture(scope="module")
def overlap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_overlap_model(tmp_path_factory.mktemp("overlap"))


@pytest.fixture(params=["none", "sentence", "http", "cross-encoder"])
async def reranker(
    request: pytest.FixtureRequest, provider: Provider, overlap: Path
) -> AsyncIterator[Reranker]:
    """http: a server of the wire that gives scores; cross-encoder: a small ONNX model."""
    if request.param == "http":
        server = HttpReranker(base_url=provider.url, timeout_s=30)
        yield server
        await server.aclose()
    elif request.param == "cross-encoder":
        yield CrossEncoderReranker(model=str(overlap), timeout_s=30)
    else:
        yield {"none": KeepOrder, "sentence": SentenceReranker}[request.param]()


def found(*texts: str) -> Retrieval:
    return Retrieval(tuple(passage(n, text) for n, text in enumerate(texts)))


async def test_the_passages_stay_the_same_ones(reranker: Reranker):
    ranked = await reranker.rerank(ASKED, found(*TEXTS))
    assert sorted(one.content for one in ranked.passages) == sorted(TEXTS)
    assert {one.chunk_id for one in ranked.passages} == {one.chunk_id for one in found(*TEXTS).passages}


async def test_the_best_come_first_and_every_sentence_is_scored(reranker: Reranker):
    ranked = await reranker.rerank(ASKED, found(*TEXTS))
    scores = [one.score for one in ranked.passages]
    assert scores == sorted(scores, reverse=True)
    assert [len(one.sentences) for one in ranked.passages] == [
        2 if one.content == TEXTS[2] else 1 for one in ranked.passages
    ]
    for one in ranked.passages:
        assert all(0 <= start < end <= len(one.content) for start, end, *_ in one.sentences)


async def test_the_same_is_ranked_the_same_again(reranker: Reranker):
    first, second = [await reranker.rerank(ASKED, found(*TEXTS)) for _ in range(2)]
    assert [one.chunk_id for one in first.passages] == [one.chunk_id for one in second.passages]
    assert [one.score for one in first.passages] == pytest.approx([one.score for one in second.passages])


async def test_nothing_is_ranked_as_nothing(reranker: Reranker):
    assert (await reranker.rerank(ASKED, found())).passages == ()
