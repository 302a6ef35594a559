"""What texts say for the words of a question: "boss" is "chief executive officer" there."""

import pytest

from benchmarks.reading.paraphrases import Translated, learn
from embeddings.lexical.terms import lexemes
from rag.ranking.order import bm25
from rag.ranking.sentences import analysis_of, question_terms, score_sentences
from rag.retrievers.paraphrases import MOST, paraphrases_of, weigh_paraphrases
from rag.retrievers.words import ALL_CHUNKS, weigh_words

COUNTS = {ALL_CHUNKS: 1000, "boss": 1, "chief": 40, "execut": 60, "offic": 80, "rival": 2}


@pytest.mark.parametrize(
    ("asked", "said"),
    [("boss", "chief"), ("rivals", "competitors"), ("kids", "children"), ("headcount", "employees")],
)
def test_everyday_words_are_known_by_those_of_documents(asked: str, said: str):
    assert set(lexemes(said, "en")) & set(paraphrases_of(lexemes(asked, "en")))


def test_a_paraphrase_weighs_at_most_what_the_word_does():
    worth = {"boss": 2.0, "chief": 3.0, "execut": 1.0}
    assert weigh_paraphrases(["boss"], worth) == {
        "boss": {"chief": 2.0, "execut": 1.0}
    }  # none says "officer"


def test_a_word_that_is_asked_for_is_no_paraphrase():
    assert weigh_paraphrases(["boss", "chief"], {"boss": 2.0, "chief": 3.0}) == {}


def test_a_long_question_has_its_likeliest_paraphrases_only():
    asked = lexemes("boss staff rivals audits base kids profit debt doctor worker buy cost", "en")
    worth = dict.fromkeys([*asked, *paraphrases_of(asked)], 1.0)
    assert sum(map(len, weigh_paraphrases(asked, worth).values())) == MOST


def test_paraphrases_are_searched_for_where_that_is_asked():
    asked = {"en": ("boss",)}
    assert weigh_words(asked, COUNTS).candidate_query().query == "'boss'"
    assert "'chief'" in weigh_words(asked, COUNTS, widely=True).candidate_query().query


def test_questions_in_other_languages_have_none():
    assert weigh_words({"de": ("boss",)}, COUNTS, widely=True).paraphrases == {}


def test_a_sentence_that_says_a_word_otherwise_holds_some_of_it_and_nothing_of_others():
    text = "The chief executive officer joined us in 2019. The fleet has nine ships. The boss has a ship."
    known, said = {"boss": 4.0, "zorblax": 4.0}, {"boss": {"chief": 3.0, "execut": 2.0}}
    terms = question_terms("Who is the boss of Zorblax?", known, "en", said)
    assert [sentence.coverage for sentence in score_sentences(text, terms, "en")] == [3 / 8, 0.0, 4 / 8]
    assert terms.words_in(analysis_of(text, "en")) == {"boss"}


def test_a_passage_is_as_strong_as_by_the_paraphrase_that_counts_most():
    known, said = {"boss": 4.0, "zorblax": 4.0}, {"boss": {"chief": 3.0, "execut": 2.0}}
    terms = question_terms("Who is the boss of Zorblax?", known, "en", said)
    texts = ("A chief.", "An executive chief.", "An executive.", "A boss and chief.", "Nobody.")
    one, both, less, word, none = (bm25(terms, analysis_of(text, "en")) for text in texts)
    assert word > one > less > none == 0
    assert both == pytest.approx(one, rel=0.2)  # in a text that is a word longer


def test_translations_are_learnt_from_what_answers():
    said_for = {"boss": "chief", "fleet": "ship", "cost": "fee", "rival": "competitor"}
    pairs = [
        Translated(frozenset((asked, where)), frozenset((said, where, "today")), source=where)
        for asked, said in said_for.items()
        for where in ("north", "south", "east")
    ]
    assert learn(pairs) == {asked: {said: pytest.approx(1, abs=0.1)} for asked, said in said_for.items()}
