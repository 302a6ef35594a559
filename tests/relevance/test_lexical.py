"""One analysis of words for chunks, sentences and questions."""

import pytest

from embeddings.lexical.terms import SPARSE_DIMENSIONS, idf, lexemes, term_weights


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Normans’ castles weren't small", ["norman", "castl", "weren", "small"]),
        ("COVID-19 and SPG4", ["covid", "19", "spg4"]),
        ("東京タワー tower", ["東京", "京タ", "タワ", "ワー", "tower"]),
        ("港 ABC", ["港", "abc"]),
        ("ﬁne Straße NAÏVE", ["fine", "straße", "naïv"]),
        ("how many of the", []),
        ("?!", []),
    ],
)
def test_words_are_folded_and_stemmed(text: str, found: list[str]) -> None:
    assert lexemes(text) == found


def test_a_question_and_a_chunk_meet_whatever_form_the_word_has() -> None:
    assert set(lexemes("Who finished the paintings?")) == set(lexemes("finishing a PAINTING"))


def test_a_rarer_word_weighs_more_and_none_is_worthless() -> None:
    worth = [idf(n, 1000) for n in (0, 1, 10, 100, 1000)]
    assert worth == sorted(worth, reverse=True)
    assert worth[-1] > 0


def test_in_a_collection_of_one_chunk_its_words_weigh_nearly_as_much_as_others() -> None:
    assert idf(0, 1) / idf(1, 1) < 1.5


def test_repetition_counts_less_each_time() -> None:
    (once,), (twice,), (often,) = (term_weights(["rope"] * n).values() for n in (1, 2, 20))
    assert once < twice < often < 2.2
    assert twice - once < once


def test_positions_fit_the_sparse_vector() -> None:
    assert all(
        0 <= place < SPARSE_DIMENSIONS for place in term_weights(lexemes("a rope of Kenyan 首都 hemp"))
    )
