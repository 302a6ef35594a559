import time

import pytest

from rag.citations import claim, settle, without_markers


@pytest.mark.parametrize(
    ("reply", "settled", "cited"),
    [
        ("Paris [1].", "Paris [1].", (1,)),
        ("Paris [2], Rome [1].", "Paris [2], Rome [1].", (2, 1)),
        ("Both [1, 2] are.", "Both [1][2] are.", (1, 2)),
        ("Both [1; 2].", "Both [1][2].", (1, 2)),
        ("Both [1 and 2].", "Both [1][2].", (1, 2)),
        ("All [1-3].", "All [1][2][3].", (1, 2, 3)),
        ("All [2–9].", "All [2][3].", (2, 3)),
        ("Two [1], [2].", "Two [1][2].", (1, 2)),
        ("Wide 【1】.", "Wide [1].", (1,)),
        ("Wide 【1†source】.", "Wide [1].", (1,)),
        ("Fullwidth ［2］.", "Fullwidth [2].", (2,)),
        ("Named [Chunk 1] and [Source 2].", "Named [1] and [2].", (1, 2)),
        ("Footnote[^1].", "Footnote[1].", (1,)),
        ("Doubled [[2]].", "Doubled [2].", (2,)),
        ("Spaced [ 1 ].", "Spaced [1].", (1,)),
        ("Twice [1] and [1].", "Twice [1] and [1].", (1,)),
    ],
)
def test_markers_are_read_in_every_form(reply: str, settled: str, cited: tuple[int, ...]):
    assert settle(reply, 3) == (settled, cited)


@pytest.mark.parametrize(
    ("reply", "settled"),
    [
        ("Paris [9].", "Paris."),
        ("Paris [9] is big.", "Paris is big."),
        ("[9] Paris.", "Paris."),
        ("Paris ([9]).", "Paris."),
        ("Paris [0].", "Paris."),
        ("Paris [-1].", "Paris."),
        ("Paris [4-9] .", "Paris."),
        ("Paris [99999999999999999999999].", "Paris."),
        ("Paris 【7】.", "Paris."),
    ],
)
def test_what_names_no_block_is_removed_with_its_space(reply: str, settled: str):
    assert settle(reply, 3) == (settled, ())


def test_a_mixture_keeps_only_what_names_a_block():
    assert settle("A [9][1], b [2, 8] c [7].", 2) == ("A [1], b [2] c.", (1, 2))


@pytest.mark.parametrize(
    ("reply", "settled"),
    [
        ("Lit in 1871 [1], [2] and [7].", "Lit in 1871 [1][2]."),
        ("Lit in 1871 [7] and [1].", "Lit in 1871 [1]."),
        ("Lit in 1871 [1], and [7] or [8], and big.", "Lit in 1871 [1], and big."),
        ("Lit in 1871 [1] and [2].", "Lit in 1871 [1] and [2]."),
    ],
)
def test_no_and_is_left_of_what_names_no_block(reply: str, settled: str):
    assert settle(reply, 2)[0] == settled


def test_brackets_that_are_no_markers_stay():
    text = "He said [sic] that f(x) [see below] holds [1"
    assert settle(text, 3) == (text, ())


def test_without_markers_leaves_no_number_in_brackets():
    assert without_markers("As shown in [7], and [8, 9].") == "As shown in."


@pytest.mark.parametrize(
    ("text", "number", "said"),
    [
        ("One is true [1]. Two is false [2].", 2, "Two is false"),
        ("One is true. [1] Two is false. [2]", 2, "Two is false."),
        ("Both hold [1][2].", 2, "Both hold"),
        ("Nothing.", 1, "Nothing."),
    ],
)
def test_the_claim_of_a_marker_is_the_sentence_before_it(text: str, number: int, said: str):
    assert claim(text, number) == said


@pytest.mark.parametrize(
    "piece", ["[", "[1", "[1,", "[1]", "[chunk 1 ", "†", "[1†", "[1-", " ", "\n", "[[", "-1"]
)
def test_half_a_megabyte_of_anything_takes_linear_time(piece: str):
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        started = time.process_time()
        settle(text, 3)
        return time.process_time() - started

    assert seconds(500_000) < 2 + 20 * seconds(50_000)
