from uuid import UUID

from rag.types import Usage
from tests.rag.factory import Reversing, passage, pipeline, question


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
    assert answer.usage == Usage()


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
