"""A question about somebody else is refused, even where all its other words fit."""

import pytest

from rag.ranking.sentences import misspelled, subjects_of
from tests.relevance.asking import LOCAL, MODEL_NOBODY_KNOWS, relevance

THRESHOLD = 0.8
AMAZON = (
    "Amazon annual report. Amazon's revenue in 2022 was 514 billion dollars.",
    "Amazon employs many people in Seattle. Net income fell.",
)


@pytest.mark.parametrize("model", [MODEL_NOBODY_KNOWS, LOCAL])
def test_another_name_or_year_is_refused(model: str) -> None:
    def told(question: str) -> float:
        return relevance(question, *AMAZON, model=model, distance=0.35)

    assert told("What was Amazon's revenue in 2022?") >= THRESHOLD
    assert told("What was Apple's revenue in 2022?") < THRESHOLD
    assert told("What was Amazon's revenue in 1997?") < THRESHOLD


def test_a_misspelled_name_is_not_another_one() -> None:
    text = "Setanta planned to launch a sports channel on the platform in 1990."
    misspelled = relevance("On what platform was Sentanta planning to launch a sports channel?", text)
    assert misspelled >= THRESHOLD
    assert relevance("On what platform was Santander planning to launch a sports channel?", text) < THRESHOLD


@pytest.mark.parametrize(
    ("question", "subjects"),
    [
        ("What was Apple's revenue in 2022?", ["2022", "appl"]),
        ("Who is Marie Curie, born in France?", ["curi mari", "franc"]),
        ("What Is the Capital of Kenya?", []),  # capital letters as a matter of style
        ("WHAT IS THE CAPITAL OF KENYA", []),
        ("How does COVID-19 spread in the EU?", []),  # codes and abbreviations have many spellings
        ("What costs $2000 or 20.2022?", []),
        ("Did it grow? If so, why?", []),
        ("Kenya", []),
        ("What did I buy?", []),
        ("1979年的努力结局如何？", []),
        ("", []),
    ],
)
def test_names_and_years_are_told_from_other_words(question: str, subjects: list[str]) -> None:
    assert [" ".join(sorted(one)) for one in subjects_of(question, "")] == subjects


def test_where_every_noun_has_a_capital_only_years_count() -> None:
    assert subjects_of("Wann bekam Kenia 1963 eine Regierung?", "de") == (frozenset({"1963"}),)


@pytest.mark.parametrize(
    ("name", "word", "same"),
    [
        ("sentanta", "setanta", True),
        ("shelbrook", "shelbrok", True),
        ("amazon", "amazan", True),
        ("apple", "appla", False),  # too short
        ("austria", "australia", False),
        ("amazon", "amazon", False),
    ],
)
def test_one_letter_may_differ_in_a_long_name(name: str, word: str, same: bool) -> None:
    assert misspelled(name, frozenset((word, "other"))) is same
