"""Sentences of a passage, scored for a question, and the order that they give to passages."""

import asyncio

import pytest

from rag.ranking.sentences import analysis_of, question_terms, score_sentences
from rag.rerankers.sentence import SentenceReranker
from rag.types.sentences import SentenceScores
from tests.relevance.asking import ask_of, passage, retrieval

TEXT = "The Norse  arrived\nin 911. They took Rouen!  Did they stay?\nMany did. 東京は首都です。"


def test_offsets_are_exact_and_in_order() -> None:
    scores = score_sentences(TEXT, question_terms("Rouen", {}))
    parts = [TEXT[s.start : s.end] for s in scores]
    assert parts == [
        "The Norse  arrived\nin 911.",
        "They took Rouen!",
        "Did they stay?",
        "Many did.",
        "東京は首都です。",
    ]


def test_coverage_is_the_share_of_the_questions_weight() -> None:
    terms = question_terms("norse rouen", {"nors": 3.0, "rouen": 1.0})
    first, second, *others = score_sentences(TEXT, terms)
    assert (first.coverage, first.coverage_with_previous) == (0.75, 0.75)
    assert (second.coverage, second.coverage_with_previous) == (0.25, 1.0)
    assert others[0].coverage == 0.0
    assert others[0].coverage_with_previous == 0.25
    assert all(s.coverage == s.coverage_with_previous == 0.0 for s in others[1:])


def test_a_word_that_no_chunk_holds_weighs_more_than_any_known_one() -> None:
    terms = question_terms("norse zanzibarquux", {"nors": 7.0})
    assert terms.weights["zanzibarquux"] > 7.0


def test_words_that_only_ask_do_not_count_unless_there_is_nothing_else() -> None:
    assert question_terms("How does hashing work?", {}).words == {"hash"}
    assert question_terms("Does it work?", {}).words == {"work"}


@pytest.mark.parametrize(
    "question", ["How long does the ferry take?", "What happens to the ferry?", "How old is the ferry?"]
)
def test_words_of_the_questions_frame_weigh_less(question: str) -> None:
    terms = question_terms(question, {})
    assert terms.coverage(frozenset({"ferri"})) > 0.6
    assert terms.coverage(terms.words) == 1.0


def test_the_same_words_weigh_as_ever_where_they_do_not_frame() -> None:
    terms = question_terms("Is the old bridge long?", {})
    assert len(set(terms.weights.values())) == 1


@pytest.mark.parametrize("text", ["", "   ", "?!", "the of and"])
def test_a_question_without_words_covers_nothing(text: str) -> None:
    assert {s.coverage for s in score_sentences(TEXT, question_terms(text, {}))} == {0.0}


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("It is four.", True),
        ('He said: "It is four."', True),
        ("四です。", True),
        ("Is it four?", False),
        ("1 Introduction", False),
    ],
)
def test_headings_and_questions_are_not_complete(text: str, complete: bool) -> None:
    assert [s.complete for s in analysis_of(text).sentences] == [complete]


def rerank(question: str, *texts: str, top_k: int = 5) -> list[str]:
    passages = [passage(n, text) for n, text in enumerate(texts, start=1)]
    found = retrieval(question, passages)
    ranked = asyncio.run(SentenceReranker().rerank(ask_of(question, top_k=top_k), found)).passages
    assert [p.score for p in ranked] == sorted((p.score for p in ranked), reverse=True)
    assert all(p.sentences for p in ranked)
    return [p.content for p in ranked]


def test_a_passage_goes_by_its_best_sentence_not_by_all_of_its_words() -> None:
    spread = "The tower is old. Bells ring in Ghent. It was restored by monks. Nobody paid for it."
    close = "Rain fell. The tower in Ghent was restored in 1902."
    assert rerank("When was the tower in Ghent restored?", spread, close)[0] == close


def test_passages_that_say_nothing_of_the_question_keep_their_order() -> None:
    texts = [f"Entry {n} is about rope." for n in range(10)]
    assert rerank("quaternions", *texts) == texts


def test_all_that_top_k_asks_for_is_handed_on() -> None:
    assert len(rerank("rope", *(f"Entry {n} is about rope." for n in range(60)), top_k=50)) == 50


def test_sentences_in_columns_are_those_looked_at_one_by_one() -> None:
    scores = score_sentences(TEXT, question_terms("norse rouen", {}))
    seen = tuple(scores)
    assert SentenceScores.of(seen) == scores
    assert (len(scores), scores[1], scores[-1:]) == (len(seen), seen[1], seen[-1:])
    assert list(scores.both_coverages()) == [one.coverage + one.coverage_with_previous for one in seen]
    assert not SentenceScores.of(())
