"""What counts as relevant, from one chunk to many; the cosine of an unknown model says nothing."""

import gc

import pytest

from rag.relevance.assessment import FITTED, WORDS_ONLY, Calibration, assess
from rag.relevance.features import Features, describe
from tests.relevance.asking import LOCAL, MODEL_NOBODY_KNOWS, judged, passage, relevance, retrieval

THRESHOLD = 0.8
KENYA = (
    "Nairobi is the capital of Kenya. It lies at 1,795 metres above sea level. Mombasa is the largest port."
)
HANDBOOK = (
    "Vacation policy. Full-time employees receive 25 vacation days each year. Unused days expire in March.",
    "Expenses. Employees may claim travel expenses within 30 days. Receipts are required above 20 euros.",
    "Security. Passwords must be changed every 90 days. Two-factor authentication is mandatory.",
)
HASHING = (
    "Consistent hashing places both nodes and keys on a ring. Each key belongs to the next node clockwise.",
    "The CAP theorem says that a distributed store cannot offer all three properties at once.",
)


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("What is the capital of Kenya?", [KENYA]),
        ("What is the largest port?", [KENYA]),
        ("How high above sea level does Nairobi lie?", [KENYA]),
        ("Kenya", [KENYA]),
        ("How many vacation days do employees get per year?", HANDBOOK),
        ("When do unused days expire?", HANDBOOK),
        ("How often must passwords be changed?", HANDBOOK),
        ("Is two-factor authentication mandatory?", HANDBOOK),
        ("How does consistent hashing work?", HASHING),
        ("What is the CAP theorem?", HASHING),
        ("Tell me about consistent hashing", [*HASHING, *HANDBOOK, KENYA]),
        ("At what temperature does water boil?", ["Water boils at 100 degrees Celsius at sea level."]),
        ("What happens after 30 days?", ["Refunds are paid within 30 days. After 30 days credit is given."]),
        ("How long does failover take?", ["Failover takes less than 30 seconds. Nodes run in two zones."]),
        ("Was ist die Hauptstadt von Kenia?", ["Nairobi ist die Hauptstadt von Kenia."]),
        ("肯尼亚的首都是什么？", ["内罗毕是肯尼亚的首都。"]),
    ],
)
def test_a_question_that_shares_its_words_with_a_passage_is_relevant(question: str, texts: list[str]) -> None:
    assert relevance(question, *texts) >= THRESHOLD


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("What is the price of gold?", [KENYA]),
        ("What is the capital of France?", [KENYA]),
        ("What is the population of Kenya?", [KENYA]),
        ("Who won the 1998 football world cup?", HANDBOOK),
        ("How many days are in February?", HANDBOOK),
        ("How does photosynthesis work?", HASHING),
        ("What is it?", [KENYA]),
        ("???", [KENYA]),
        ("How many moons does Jupiter have?", [*HASHING, *HANDBOOK, KENYA]),
    ],
)
def test_a_question_about_something_else_is_not(question: str, texts: list[str]) -> None:
    assert relevance(question, *texts) < THRESHOLD / 2


@pytest.mark.parametrize("model", [MODEL_NOBODY_KNOWS, LOCAL])
@pytest.mark.parametrize("text", [KENYA, "ok", "To be, or not to be", "内罗毕", "42"])
def test_a_passage_is_always_relevant_to_its_own_text(text: str, model: str) -> None:
    assert relevance(text, text, model=model, distance=0.0) > 0.99


def test_a_model_that_gives_every_text_one_vector_does_not_make_everything_relevant() -> None:
    assert relevance("What is the price of gold?", KENYA, model=LOCAL, distance=0.0) < THRESHOLD


def test_the_cosine_counts_only_for_a_model_it_was_fitted_for() -> None:
    question = "Which city is the seat of Kenya's government?"
    near, far = (relevance(question, KENYA, model=LOCAL, distance=d) for d in (0.3, 0.9))
    assert near > far
    assert relevance(question, KENYA, distance=0.3) == relevance(question, KENYA, distance=0.9)


def test_each_further_word_of_the_question_makes_a_passage_more_relevant() -> None:
    question = "When was the lighthouse of Sandholm painted red?"
    texts = [
        "Nothing of the kind.",
        "A lighthouse.",
        "The lighthouse of Sandholm.",
        "The lighthouse of Sandholm was painted.",
        "The lighthouse of Sandholm was painted red.",
    ]
    found = {
        p.content: p.relevance
        for p in judged(question, [passage(n, t) for n, t in enumerate(texts)]).passages
    }
    chances = [found[text] for text in texts]
    assert chances == sorted(set(chances))
    assert chances[0] < 0.01
    assert chances[-1] > THRESHOLD


def test_the_title_and_the_section_count_for_what_a_passage_only_calls_it() -> None:
    question = "What is the emission limit of the Orion engine?"
    text = "Its emission limit is four grams."
    plain, titled, in_section = (
        judged(question, [passage(1, text, **where)]).passages[0].relevance
        for where in ({}, {"title": "Orion engine"}, {"section": "The Orion engine"})
    )
    assert plain < titled == in_section


@pytest.mark.parametrize("calibration", [*FITTED.values(), WORDS_ONLY])
@pytest.mark.parametrize("name", ["similarity", "sentence", "coverage", "evidence"])
def test_no_feature_ever_lowers_the_relevance(calibration: Calibration, name: str) -> None:
    features = Features(0.3, 0.3, 0.3, 1.0)
    more = features._replace(**{name: getattr(features, name) + 0.2})
    assert calibration.probability(more) >= calibration.probability(features)


@pytest.mark.parametrize("logit", [-1e9, 0.0, 1e9])
def test_a_probability_is_one_whatever_the_weights(logit: float) -> None:
    chance = Calibration(logit, 0.0, 0.0, 0.0, 0.0).probability(Features(0.0, 0.0, 0.0, 0.0))
    assert 0.0 <= chance <= 1.0


def test_the_weights_stored_with_a_model_go_before_those_that_ship() -> None:
    found = retrieval("gold", [passage(1, KENYA)], model=LOCAL)
    stored = {"intercept": 3, "similarity": 0, "sentence": 0.0, "coverage": 0.0, "evidence": 0.0}
    assert assess("gold", found, stored).passages[0].relevance == pytest.approx(0.9526, abs=1e-4)


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"intercept": 3},
        {"intercept": float("nan"), "similarity": 0, "sentence": 0, "coverage": 0, "evidence": 0},
    ],
)
def test_unusable_stored_weights_count_as_none(stored: dict[str, float]) -> None:
    found = retrieval("gold", [passage(1, KENYA)], model=LOCAL)
    assert assess("gold", found, stored) == assess("gold", found, None)


def test_nothing_found_stays_nothing() -> None:
    assert judged("What is it?", []).passages == ()


def test_what_was_told_of_a_question_goes_with_it_and_is_no_work_for_the_garbage_collector() -> None:
    found = retrieval("How high does Nairobi lie?", [passage(1, KENYA), passage(2, HANDBOOK[0])])
    gc.collect()
    gc.disable()
    try:
        for _ in range(1000):
            assess("How high does Nairobi lie?", found, None)
        assert gc.collect() < 1000  # some are of the test run's other threads
    finally:
        gc.enable()


def test_a_passage_that_says_what_is_asked_for_stands_out_by_that() -> None:
    texts = (
        "A _quay_ is a paved bank where ships lie.",
        "Ships lie at the quay of Mirow, which is a paved bank.",
        "A quay of stone is a paved bank where ships lie.",
    )
    found = retrieval("What is a quay?", [passage(n, text) for n, text in enumerate(texts, start=1)])
    assert [one.features.defined for one in describe("What is a quay?", found)] == [1.0, 0.0, 0.0]
    assert not any(one.features.defined for one in describe("Where is the quay?", found))
    assert relevance("What is a quay?", *texts) > relevance("What is a quay?", *texts[1:])
