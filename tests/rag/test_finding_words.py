"""Which words of a question find candidates: rare ones alone, others where two of them meet."""

import pytest

from rag.retrievers.words import ALL_CHUNKS, weigh_words

COUNTS = {ALL_CHUNKS: 100_000, "quokka": 3, "burrow": 900, "island": 3_000, "animal": 9_000, "live": 30_000}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (("quokka",), "'quokka'"),
        (("quokka", "burrow"), "'quokka' | 'burrow'"),
        (("quokka", "burrow", "island", "animal"), "'quokka' | 'burrow' | ('island' & 'animal')"),
        (
            ("quokka", "island", "animal", "live"),
            "'quokka' | ('island' & 'animal') | ('island' & 'live')",
        ),
        (("live",), "'live'"),  # common, and all there is
        (("animal", "live"), "'animal'"),
        (("unheard",), ""),
        ((), ""),
    ],
)
def test_rare_words_find_alone_and_common_ones_together(asked: tuple[str, ...], found: str) -> None:
    assert weigh_words({"en": asked}, COUNTS).finding() == found


def test_a_word_is_quoted_whatever_it_holds() -> None:
    assert weigh_words({"": ("o'clock",)}, {ALL_CHUNKS: 9, "o'clock": 1}).finding() == "'o''clock'"
