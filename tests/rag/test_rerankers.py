"""Each reranker's order and scores, and what becomes of an answer when its model is slow, wrong or gone."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from rag.answering import lifecycle
from rag.local_models import FAILURES, Limit
from rag.protocols import ModelBacked, Reranker
from rag.rerankers.by_model import RerankFailed, sigmoid
from rag.rerankers.cross_encoder import CrossEncoderReranker, PairModel
from rag.rerankers.http import HttpReranker
from rag.rerankers.none import KeepOrder
from rag.rerankers.sentence import SentenceReranker
from rag.types.question import Question
from rag.types.retrieval import Retrieval
from tests.provider import Provider
from tests.rag.factory import passage, question
from tests.rag.overlap_model import make_overlap_model

TEXTS = ("What is a ring of nodes?", "It is true that rings exist.", "Eels need deep seas.")
KEY = "sk-test-77aa1b"
Connect = Callable[..., HttpReranker]


def found(*texts: str) -> Retrieval:
    return Retrieval(tuple(passage(n, text) for n, text in enumerate(texts or TEXTS)))


def order(retrieval: Retrieval) -> list[str]:
    return [one.content for one in retrieval.passages]


async def sentence_order(retrieval: Retrieval) -> list[str]:
    return order(await SentenceReranker().rerank(question(), retrieval))


async def test_none_keeps_the_order_and_scores_the_sentences():
    kept = await KeepOrder().rerank(question(), found())
    assert order(kept) == list(TEXTS)
    assert all(len(one.sentences) == 1 and one.rerank_score is None for one in kept.passages)
    assert kept.reranker == ""


@pytest.fixture
async def connect(provider: Provider) -> AsyncIterator[Connect]:
    """`connect(timeout_s=…)`: a reranker at the provider; closed when the test ends."""
    made: list[HttpReranker] = []

    def new(**options: object) -> HttpReranker:
        usual = {"base_url": provider.url, "api_key": KEY, "model_name": "reranker", "timeout_s": 5.0}
        made.append(HttpReranker(**(usual | options)))
        return made[-1]

    yield new
    for one in made:
        await one.aclose()


async def test_a_server_orders_the_passages_by_its_scores(connect: Connect, provider: Provider):
    ranked = await connect().rerank(question(), found())
    assert order(ranked) == [TEXTS[2], TEXTS[1], TEXTS[0]]
    assert [one.score for one in ranked.passages] == [one.rerank_score for one in ranked.passages]
    assert ranked.passages[0].score == pytest.approx(TEXTS[2].count("e") / len(TEXTS[2]))
    assert all(one.sentences for one in ranked.passages)
    assert ranked.reranker == "http"
    (call,) = provider.calls("rerank")
    assert call.body["model"] == "reranker"
    assert call.body["query"] == question().text
    assert sorted(call.body["documents"]) == sorted(TEXTS)
    assert call.body["top_n"] == len(TEXTS)
    assert call.authorization == f"Bearer {KEY}"


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/rerank"])
async def test_the_address_may_name_the_path_or_not(connect: Connect, provider: Provider, path: str):
    ranked = await connect(base_url=provider.url + path, api_key="", model_name="").rerank(
        question(), found()
    )
    assert ranked.reranker == "http"
    (call,) = provider.calls("rerank")
    assert (call.path, call.authorization, "model" in call.body) == ("/v1/rerank", "", False)


async def test_logits_become_probabilities(connect: Connect):
    ranked = await connect(model_name="logits").rerank(question(), found())
    assert order(ranked) == [TEXTS[2], TEXTS[1], TEXTS[0]]
    assert all(0 < one.score < 0.5 for one in ranked.passages)


def test_a_probability_tells_logits_apart_and_never_overflows():
    chances = [sigmoid(logit) for logit in (-1e4, -60.0, -59.0, -1.0, 0.0, 1.0, 30.0, 1e4)]
    assert chances == sorted(chances)
    assert len(set(chances)) == len(chances)
    assert (chances[0], chances[4], chances[-1]) == (0.0, 0.5, 1.0)


async def test_a_server_reads_as_many_as_are_asked_for_and_the_others_stay_behind(
    connect: Connect, provider: Provider
):
    asked = replace(question(), top_k=12)
    ranked = await connect().rerank(asked, found(*[f"{'e' * n} number {n}" for n in range(30)]))
    (call,) = provider.calls("rerank")
    assert len(call.body["documents"]) == 20
    scores = [one.score for one in ranked.passages]
    assert len(scores) == 24
    assert scores == sorted(scores, reverse=True)
    assert [one.rerank_score is None for one in ranked.passages] == [False] * 20 + [True] * 4


@pytest.mark.parametrize(
    "fault",
    [
        *("reset", "close", "half", "cut", "html", "empty", "null", "list", "bad_utf8", "huge", "compressed"),
        *("status", "score_nan", "score_text", "score_missing", "index_beyond", "index_twice", "one_missing"),
    ],
)
async def test_a_server_that_answers_wrongly_leaves_the_order_as_it_was(
    connect: Connect, provider: Provider, fault: str
):
    provider.rule(fault, on="rerank")
    reranker = connect()
    ranked = await reranker.rerank(question(), found())
    assert order(ranked) == await sentence_order(found())
    assert ranked.reranker == "sentence"
    provider.reset()
    assert (await reranker.rerank(question(), found())).reranker == "http"


async def test_a_server_that_is_not_there_leaves_the_order_and_is_told(connect: Connect):
    reranker = connect(base_url="http://127.0.0.1:9")
    assert isinstance(reranker, ModelBacked)
    for _ in range(FAILURES):
        with pytest.raises(OSError, match="Connect"):
            await reranker.state()
        assert order(await reranker.rerank(question(), found())) == await sentence_order(found())
    assert await reranker.state() == "resting"


async def test_a_server_slower_than_its_limit_is_off_after_a_few_questions(
    connect: Connect, provider: Provider
):
    reranker = connect(timeout_s=0.1)
    assert await reranker.state() == "connected"
    provider.hold(on="rerank")
    for _ in range(FAILURES + 3):
        ranked = await reranker.rerank(question(), found())
        assert ranked.reranker == "sentence"
    assert len(provider.calls("rerank")) == FAILURES
    assert await reranker.state() == "resting"
    provider.release()


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def works() -> str:
    return "scores"


async def fails() -> str:
    raise RerankFailed("no")


async def test_after_its_rest_one_call_tries_the_model_and_a_result_ends_the_rest():
    clock = Clock()
    limit = Limit(1.0, rest_s=10.0, clock=clock)
    for _ in range(FAILURES):
        assert await limit.call(fails) is None
    assert limit.resting
    assert await limit.call(works) is None  # not asked
    clock.now += 10
    assert await limit.call(fails) is None  # the trial; now it rests for 20 s
    clock.now += 10
    assert await limit.call(works) is None
    clock.now += 10
    assert await limit.call(works) == "scores"
    assert not limit.resting


async def test_only_one_call_tries_a_model_that_was_off():
    clock, go, began = Clock(), asyncio.Event(), asyncio.Event()
    limit = Limit(5.0, rest_s=10.0, clock=clock)
    for _ in range(FAILURES):
        await limit.call(fails)
    clock.now += 10

    async def slow() -> str:
        began.set()
        await go.wait()
        return "scores"

    first = asyncio.ensure_future(limit.call(slow))
    await began.wait()
    assert await limit.call(slow) is None
    first.cancel()  # whoever asked has left
    await asyncio.gather(first, return_exceptions=True)
    go.set()
    assert await limit.call(slow) == "scores"


async def test_failures_that_are_not_in_a_row_turn_nothing_off():
    limit = Limit(1.0)
    for _ in range(3 * FAILURES):
        await limit.call(fails)
        assert await limit.call(works) == "scores"


@pytest.fixture(scope="module", params=["", "onnx"])
def overlap(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_overlap_model(tmp_path_factory.mktemp("overlap"), below=request.param)


async def test_a_cross_encoder_orders_the_passages_by_its_scores(overlap: Path):
    reranker = CrossEncoderReranker(model=str(overlap))
    reranker.check()
    asked = Question("nodes on a ring", (), top_k=5)
    texts = ("Bread bakes.", "The nodes sit on a ring.", "It is on a ring.")
    ranked = await reranker.rerank(asked, found(*texts))
    assert order(ranked) == [texts[1], texts[2], texts[0]]
    assert ranked.reranker == "cross-encoder"
    best, middle, worst = (one.score for one in ranked.passages)
    assert 1 > best > 0.9 > middle > 0.5 > worst > 0
    assert await reranker.state() == "loaded"


async def test_a_text_longer_than_the_model_is_cut_and_the_question_kept(overlap: Path):
    model = PairModel(overlap)
    assert model.logit("nodes on a ring", "The nodes on a ring. " + "bread " * 2000) > 3
    assert model.logit("nodes on a ring", "bread " * 2000 + "The nodes on a ring.") < 0


async def test_a_cross_encoder_slower_than_its_limit_leaves_the_order(overlap: Path):
    reranker = CrossEncoderReranker(model=str(overlap), timeout_s=1e-6)
    for _ in range(FAILURES):
        assert order(await reranker.rerank(question(), found())) == await sentence_order(found())
    assert await reranker.state() == "resting"


def test_a_folder_that_holds_no_cross_encoder_is_refused_at_once(tmp_path: Path, overlap: Path):
    with pytest.raises(ValueError, match=r"no tokenizer\.json"):
        CrossEncoderReranker(model=str(tmp_path))
    two = make_overlap_model(tmp_path / "two", outputs=2)
    with pytest.raises(ValueError, match="2 numbers"):
        CrossEncoderReranker(model=str(two)).check()
    (two / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ValueError, match="can be used"):
        CrossEncoderReranker(model=str(two)).check()
    (two / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match="can be used"):
        CrossEncoderReranker(model=str(two)).check()


def test_the_start_refuses_a_model_that_cannot_be_used(settings: Any, tmp_path: Path):
    folder = make_overlap_model(tmp_path, outputs=2)
    part = {
        "class": f"{CrossEncoderReranker.__module__}.CrossEncoderReranker",
        "options": {"model": str(folder)},
    }
    settings.KNOWLEX = settings.KNOWLEX | {"RERANKER": part}
    with pytest.raises(ImproperlyConfigured, match=r"KNOWLEX_RERANKER_MODEL: .*2 numbers"):
        lifecycle.ensure_reranker_works()


def test_all_of_them_are_rerankers(overlap: Path):
    every: list[Reranker] = [
        KeepOrder(),
        SentenceReranker(),
        HttpReranker(base_url="http://localhost"),
        CrossEncoderReranker(model=str(overlap)),
    ]
    assert [isinstance(one, ModelBacked) for one in every] == [False, False, True, True]
