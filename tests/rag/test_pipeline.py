import asyncio
import time
from collections.abc import Sequence
from uuid import UUID

import pytest

from knowlex.common.errors import SynthesisTimeout
from rag.citations import checker
from rag.citations.types import Claim, Judgement
from rag.pipeline import Pipeline
from rag.types import Block, Usage
from tests.rag.factory import (
    CannedRetriever,
    CannedSynthesizer,
    KeepOrder,
    Reversing,
    as_given,
    passage,
    pipeline,
    question,
)


async def test_an_answer_holds_valid_markers_into_its_context():
    answering, _ = pipeline("Fact 2 is true [2]. Fact 1 is true [1]. So is [9].", passage(1), passage(2))
    answer = await answering.answer(question())
    assert (answer.answered, answer.text, answer.cited) == (
        True,
        "Fact 2 is true [2]. Fact 1 is true [1]. So is.",
        (2, 1),
    )
    assert [p.chunk_index for p in answer.context] == [1, 2]


async def test_far_passages_never_reach_the_model():
    answering, model = pipeline("unused [1]", passage(1, relevance=0.79))
    answer = await answering.answer(question())
    assert (answer.answered, answer.retrieved, model.contexts) == (False, 1, [])
    assert answer.confidence == 0.79
    assert answer.usage == Usage(model="canned")


async def test_relevance_at_the_threshold_is_enough():
    answering, _ = pipeline("Fact number 1 is true [1].", passage(1, relevance=0.8))
    assert (await answering.answer(question())).answered


async def test_without_a_threshold_everything_passes():
    answering, _ = pipeline("Fact number 1 is true [1].", passage(1, relevance=0.0))
    assert (await answering.answer(question(min_relevance=0.0))).answered


async def test_an_answer_that_cites_nothing_is_none():
    answering, _ = pipeline("Paris is the capital.", passage(1))
    answer = await answering.answer(question())
    assert (answer.answered, answer.text, answer.cited) == (False, "", ())


async def test_an_answer_that_cites_only_what_does_not_exist_is_none():
    answering, _ = pipeline("Paris [7].", passage(1))
    assert not (await answering.answer(question())).answered


async def test_a_refusal_is_none_even_if_it_cites():
    answering, _ = pipeline("Answer not found in provided content [1].", passage(1))
    assert not (await answering.answer(question())).answered


async def test_nothing_found_is_no_error():
    answering, model = pipeline("unused [1]")
    answer = await answering.answer(question())
    assert (answer.answered, answer.retrieved, answer.confidence, model.contexts) == (False, 0, 0.0, [])


async def test_the_reranker_decides_which_are_the_top_k():
    answering, model = pipeline(
        "Fact number 1 is true [1].", *(passage(n) for n in (1, 2, 3)), reranker=Reversing()
    )
    answer = await answering.answer(question(top_k=2))
    assert [p.chunk_index for p in model.contexts[0]] == [3, 2]
    assert answer.retrieved == 2


async def test_the_same_words_twice_take_one_place():
    answering, model = pipeline(
        "Fact number 1 is true [1].", passage(1, "Same."), passage(2, "Same."), passage(3, "Other.")
    )
    await answering.answer(question(top_k=2))
    assert [p.chunk_id for p in model.contexts[0]] == [UUID(int=1), UUID(int=3)]


async def test_every_stage_is_timed():
    answering, _ = pipeline("Fact number 1 is true [1].", passage(1))
    answer = await answering.answer(question())
    assert answer.stage_ms.keys() == {"retrieve", "rerank", "relevance", "context", "synthesize", "check"}


class Brooding:
    """A judge that comes to no verdict."""

    async def judge(self, claim: Claim, blocks: Sequence[Block]) -> Judgement:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")


async def test_the_deadline_holds_for_the_judge_too_streamed_or_not():
    model = CannedSynthesizer("Fact number 1 is true [1].")
    answering = Pipeline(CannedRetriever(passage(1)), KeepOrder(), as_given, model, Brooding())
    with pytest.raises(SynthesisTimeout):
        await answering.answer(question(deadline=time.monotonic() + 0.2))
    with pytest.raises(SynthesisTimeout):
        _ = [event async for event in answering.stream(question(deadline=time.monotonic() + 0.2))]


async def test_others_have_their_turn_while_a_long_reply_is_checked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checker, "AT_ONCE_S", 0.0)
    answering, _ = pipeline("Fact number 1 is true [1]. " * 50, passage(1))
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    waiting = asyncio.create_task(others())
    assert (await answering.answer(question())).answered
    waiting.cancel()
    assert turns >= 50
