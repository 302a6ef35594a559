"""Which words of a question find candidates: rare ones alone, others where two of them meet."""

import pytest

from rag.retrievers.words import ALL_CHUNKS, CandidateQuery, weigh_words

COUNTS = {ALL_CHUNKS: 100_000, "quokka": 3, "burrow": 900, "island": 3_000, "animal": 9_000, "live": 30_000}
COUNTS["herd"] = 20_000


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
        (("island", "live"), "'island'"),
        (("herd", "animal", "live"), "('animal' & 'herd' & 'live')"),  # only all at once are few enough
        (("unheard",), ""),
        ((), ""),
    ],
)
def test_rare_words_find_alone_and_common_ones_together(asked: tuple[str, ...], found: str) -> None:
    assert weigh_words({"en": asked}, COUNTS).candidate_query() == CandidateQuery(found)


@pytest.mark.parametrize("asked", [("live",), ("animal", "live")])
def test_of_common_words_alone_not_every_chunk_is_scored(asked: tuple[str, ...]) -> None:
    query, matching = weigh_words({"en": asked}, COUNTS).candidate_query()
    assert matching == "capped"
    assert all(word in query for word in asked)


def test_a_word_is_quoted_whatever_it_holds() -> None:
    assert (
        weigh_words({"": ("o'clock",)}, {ALL_CHUNKS: 9, "o'clock": 1}).candidate_query().query == "'o''clock'"
    )
