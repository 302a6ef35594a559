"""The order of the default reranker, and what relevance makes of the other candidates."""

import asyncio
from dataclasses import replace

import pytest

from documents.text.sentences import sentence_spans
from rag.ranking.order import scale_of, strength
from rag.ranking.sentences import question_terms, score_passage
from rag.relevance.assessment import assess, is_foreign
from rag.relevance.features import describe
from rag.rerankers.sentence import SentenceReranker
from rag.types.retrieval import Passage, Retrieval
from rag.types.sentences import Scale
from tests.relevance.asking import LOCAL, MODEL_NOBODY_KNOWS, ask_of, judged, passage, retrieval

E5 = "multilingual-e5-small"
QUESTION = "When was the tower in Ghent restored?"
CLOSE = "Rain fell. The tower in Ghent was restored in 1902."


def compared(number: int, content: str, *, cosine: float, sentences: float) -> Passage:
    """With a vector for each sentence, all of them as similar."""
    spans = tuple(sentence_spans(content))
    found = passage(number, content, distance=1 - cosine)
    return found._replace(bounds=spans, similarities=(sentences,) * len(spans))


def order(question: str, *passages: Passage, model: str = LOCAL) -> list[str]:
    ranked = asyncio.run(
        SentenceReranker().rerank(ask_of(question), retrieval(question, passages, model=model))
    )
    return [found.content for found in ranked.passages]


def test_of_equal_words_the_more_similar_passage_goes_first() -> None:
    near, far = (passage(n, f"{CLOSE} Part {n}.", distance=d) for n, d in ((1, 0.3), (2, 0.8)))
    assert order(QUESTION, far, near)[0] == near.content


def test_a_similar_sentence_brings_its_passage_up() -> None:
    plain = compared(1, "Bells ring. Monks pray.", cosine=0.3, sentences=0.3)
    answering = compared(2, "Rain fell. Masons came in 1902.", cosine=0.3, sentences=0.6)
    assert order(QUESTION, plain, answering)[0] == answering.content


def test_passages_with_and_without_sentence_vectors_stand_in_one_order() -> None:
    """Some chunks were embedded before sentences were stored."""
    old = passage(1, CLOSE, distance=0.4)
    new = compared(2, "Bells ring. Monks pray.", cosine=0.1, sentences=0.15)
    assert order(QUESTION, new, old) == [old.content, new.content]


def test_what_was_found_by_words_alone_is_ordered_by_words() -> None:
    passages = [passage(n, text)._replace(distance=None) for n, text in enumerate(("Bells ring.", CLOSE), 1)]
    assert order(QUESTION, *passages)[0] == CLOSE


def test_what_its_documents_name_says_a_passage_need_not_say() -> None:
    question = "What were the harbour dues of Mirow in 1902?"
    naming = passage(1, "Mirow lies on the northern shore of the lake.", title="Mirow")
    ledger = passage(2, "Harbour dues were 90 guilders in 1902.", title="Accounts of Mirow")
    other = passage(3, "Harbour dues were 70 guilders in 1902.", title="Accounts of Ghent")
    assert order(question, other, naming, ledger)[0] == ledger.content


def test_each_passage_is_read_by_the_analysis_of_its_own_language() -> None:
    german = passage(1, "Die Türme von Gent wurden restauriert.")._replace(language="de")
    other = passage(2, "Die Glocken von Gent läuten.")._replace(language="de")
    question = "Wann wurde der Turm von Gent restauriert?"
    known = {"turm": 4.0, "gent": 2.0, "restauri": 4.0}
    found = Retrieval((other, german), known, MODEL_NOBODY_KNOWS)
    ranked = asyncio.run(SentenceReranker().rerank(ask_of(question), found)).passages
    assert ranked[0].content == german.content
    assert ranked[0].sentences[0].coverage > 0.5


@pytest.mark.parametrize("narrow", [True, False])
def test_a_model_of_narrow_cosines_is_weighed_like_one_of_wide_ones(narrow: bool) -> None:
    base, step = (0.8, 0.02) if narrow else (0.1, 0.1)
    cosines = [base + step * n for n in (0, 0, 0, 0, 1, 1, 1, 2, 2, 4)]
    passages = [passage(n, f"Entry {n}.", distance=1 - cosine) for n, cosine in enumerate(cosines)]
    scale = scale_of(MODEL_NOBODY_KNOWS, passages)
    values = [strength(p, score_passage(p, TERMS), TERMS, scale) for p in passages]
    assert 0.2 < max(values) - min(values) < 1.2


TERMS = question_terms(QUESTION, {})


def test_the_scale_stored_with_a_calibration_goes_before_the_known_one() -> None:
    assert scale_of(LOCAL, [], {"base": 0.5, "spread": 0.05}) == Scale(0.5, 0.05)
    assert scale_of(LOCAL, [], {"base": 0.5, "spread": 0}) == scale_of(LOCAL, [])


def test_five_copies_of_an_answer_do_not_hide_one_another() -> None:
    alone = judged(QUESTION, [passage(1, CLOSE, distance=0.4)], model=LOCAL).passages[0]
    copies = [passage(n, CLOSE, distance=0.4) for n in range(5)]
    found = retrieval(QUESTION, [passage(1, CLOSE)], model=LOCAL)
    (first, *_) = assess(QUESTION, replace(found, passages=tuple(copies)), None).passages
    assert first.relevance == pytest.approx(alone.relevance)


def test_what_stands_out_from_the_other_candidates_is_more_relevant() -> None:
    answer = passage(0, CLOSE, distance=0.4)
    alike = [passage(n, f"{CLOSE} Part {n}.", distance=0.4) for n in range(1, 20)]
    other = [passage(n, f"Entry {n} is about rope.", distance=0.95) for n in range(1, 20)]
    found = retrieval(QUESTION, [answer], model=LOCAL)
    among_alike, among_others = (
        describe(QUESTION, replace(found, passages=(answer, *others)))[0].features.margin
        for others in (alike, other)
    )
    assert among_alike < among_others


def test_another_companys_name_counts_against_a_report_that_holds_the_other_words() -> None:
    text = "Net revenue rose by a tenth."
    right, wrong = (
        judged(f"How did the revenue of {name} change?", [passage(1, text, title="Amazon annual report")])
        .passages[0]
        .relevance
        for name in ("Amazon", "Apple")
    )
    assert wrong < 0.8 * right


def test_a_question_without_names_misses_none() -> None:
    named, plain = (
        describe(question, retrieval(question, [passage(1, CLOSE)]))[0].features.names
        for question in ("Who restored the tower in Bruges?", "who restored the tower?")
    )
    assert (named, plain) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("question", "language", "foreign"),
    [
        ("Wann wurde der Turm von Gent restauriert?", "en", True),
        ("Wann wurde der Turm von Gent restauriert?", "", True),
        ("Wann wurde der Turm von Gent restauriert?", "de", False),
        ("When was the tower restored?", "en", False),
        ("When was the tower restored?", "de", True),
        ("Gent", "en", False),
        ("这座塔是什么时候修复的？", "en", True),
        ("这座塔是什么时候修复的？", "zh", False),
        ("متى رُمم البرج؟", "en", True),
        ("متى رُمم البرج؟", "ar", False),
        ("Когда реставрировали башню?", "de", True),
        ("Когда реставрировали башню?", "ru", False),
        ("塔はいつ修復されましたか？", "zh", True),
        ("Who painted 蒙娜丽莎?", "en", False),
    ],
)
def test_a_question_in_another_language_is_told_by_its_stop_words_or_its_script(
    question: str, language: str, foreign: bool
) -> None:
    assert is_foreign(question, passage(1, "Text.")._replace(language=language)) is foreign


def test_across_languages_a_multilingual_model_decides_by_similarity() -> None:
    question = "Wann wurde der Turm von Gent restauriert?"
    near, far = (
        assess(question, Retrieval((passage(1, CLOSE, distance=d),), {}, E5), None).passages[0].relevance
        for d in (0.1, 0.25)
    )
    assert near > 0.8 > 0.5 > far
    english_model = Retrieval((passage(1, CLOSE, distance=0.5),), {}, LOCAL)
    assert assess(question, english_model, None).passages[0].relevance < 0.5


@pytest.mark.parametrize(
    ("question", "content", "language"),
    [
        ("Wann wurde der Turm von Gent restauriert?", CLOSE, "en"),
        ("这座塔是什么时候修复的？", CLOSE, "en"),
        ("When was the tower of Ghent restored?", "根特的塔楼于1321年修复，当时是冬天。", "zh"),
        ("متى رُمم البرج في غنت؟", "رُمم برج غنت عام ١٣٢١ بعد الحريق.", "ar"),
    ],
)
def test_near_passages_in_any_two_languages_are_relevant_and_far_ones_are_not(
    question: str, content: str, language: str
) -> None:
    near, far = (
        assess(
            question,
            Retrieval((passage(1, content, distance=d)._replace(language=language),), {}, E5),
            None,
        )
        .passages[0]
        .relevance
        for d in (0.09, 0.25)
    )
    assert near > 0.8 > 0.5 > far


def test_a_calibration_of_ones_own_holds_for_every_language() -> None:
    stored = {"intercept": 3, "similarity": 0, "sentence": 0.0, "coverage": 0.0, "evidence": 0.0}
    german = passage(1, "Der Turm wurde 1321 erneuert.", distance=0.3)._replace(language="de")
    found = Retrieval((german,), {}, E5)
    assert assess("Wann war das mit dem Turm?", found, stored).passages[0].relevance == pytest.approx(
        0.9526, abs=1e-4
    )


def test_without_a_question_vector_words_decide() -> None:
    found = retrieval(QUESTION, [passage(1, CLOSE)._replace(distance=None)], model=LOCAL)
    assert assess(QUESTION, found, None).passages[0].relevance > 0.8
    assert found.passages[0].sentences == ()
    assert assess(QUESTION, found, None).passages[0].sentences


def test_a_calibration_stored_before_sentences_had_vectors_is_still_used() -> None:
    stored = {
        "intercept": 3,
        "similarity": 0,
        "sentence": 0.0,
        "coverage": 0.0,
        "evidence": 0.0,
        "pairs": 120,
    }
    found = retrieval("gold", [passage(1, CLOSE)], model=LOCAL)
    assert assess("gold", found, stored).passages[0].relevance == pytest.approx(0.9526, abs=1e-4)


def test_of_two_that_say_the_same_the_one_under_the_asked_heading_is_stronger():
    text = "It lasts for two years."
    plain = passage(1, text)
    scores = score_passage(plain, TERMS)
    for fields in ({"title": "The bridge"}, {"section": "Bridge"}, {"document_name": "bridge.pdf"}):
        above = plain._replace(**fields)
        terms = question_terms("How long does the bridge last?", {})
        scale = scale_of("all-MiniLM-L6-v2", [plain])
        assert strength(above, scores, terms, scale) > strength(plain, scores, terms, scale)
