"""Whether an answer answers its question, told without a model that reads it."""

from rag.relevance.answers import AnswerText, answer_relevance

QUESTION = "When was the lighthouse of Aldwick built?"
RIGHT = "The lighthouse of Aldwick was built in 1874."
BESIDE = "The lighthouse of Aldwick is painted red."


def relevance(*said: str, question: str = QUESTION, cosine: float = 0.6) -> float:
    found = answer_relevance(question, [AnswerText(text, text, text, "en", cosine=cosine) for text in said])
    assert found is not None
    return found


def test_an_answer_that_says_what_is_asked_for_is_relevant():
    assert relevance(RIGHT) > 0.8
    assert relevance("Ferries to Juist sail at high water.", cosine=0.1) < 0.02


def test_words_nearness_and_the_form_that_is_asked_for_each_count():
    assert relevance(RIGHT) > relevance(BESIDE)  # no time, and not built
    assert relevance(RIGHT, cosine=0.6) > relevance(RIGHT, cosine=0.3)
    asked = relevance(RIGHT, question="What colour is the lighthouse?")
    assert asked < relevance(BESIDE, question="What colour is the lighthouse?") + 0.2


def test_words_about_the_quote_count_for_a_terse_claim():
    terse = AnswerText("In 1874.", "In 1874.", RIGHT, "en", cosine=0.4)
    alone = AnswerText("In 1874.", "In 1874.", "In 1874.", "en", cosine=0.4)
    assert (answer_relevance(QUESTION, [terse]) or 0) > 2 * (answer_relevance(QUESTION, [alone]) or 0)


def test_an_answer_is_as_relevant_as_its_claims_on_average():
    assert relevance(BESIDE) < relevance(RIGHT, BESIDE) < relevance(RIGHT)


def test_without_claims_there_is_none():
    assert answer_relevance(QUESTION, []) is None
