"""Sentence spans: what counts as one sentence, and that the work grows with the text only."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.text.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith met Mrs. Jones, e.g. at noon.",
        "J. R. R. Tolkien wrote it.",
        "The dose is 3.5 mg per day.",
        "The U.S. Government paid.",
        "See Fig. 3 and No. 5 of vol. 2 for more.",
        "Smith et al. found nothing.",
        "Er kam am 3. Mai an.",
        '"Really?" he asked.',
        "Acme Inc. Holdings grew.",
        "1. Introduction",
        "The hall (c. 1455) and the U. S. Army of c. AD 500, i. e. Rome, stand.",
        "The king (r. 1066–1087) died.",
        "See Fig.2 A and no.7 B.",
        "With version 3.11 The Hall runs.",
        "The file.3 of them is lost.",
        "There are more than\n[300 kinds of lamps](https://lamps.example/all)\nin Mirow.",
        "| Lantern | It hangs above the quay. It burns oil. | 3 thalers |",
    ],
)
def test_one_sentence_stays_whole(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("He lives in the U.S. The next is here.", ["He lives in the U.S.", "The next is here."]),
        ('He said "No." They left.', ['He said "No."', "They left."]),
        ("He takes vitamin c. It helps.", ["He takes vitamin c.", "It helps."]),
        ("It began in 1999. Then it grew.", ["It began in 1999.", "Then it grew."]),
        ("今日は晴れ。明日は雨！「はい。」終わり", ["今日は晴れ。", "明日は雨！", "「はい。」", "終わり"]),
        ("Heading\n\nBody text", ["Heading", "Body text"]),
        (
            "Buy:\n- apples\n- pears\n1. first\n2. second",
            ["Buy:", "- apples", "- pears", "1. first", "2. second"],
        ),
        ("# Title\nBody", ["# Title", "Body"]),
        ("[Lamps](a.md)\n[Boats](b.md) and sails", ["[Lamps](a.md)", "[Boats](b.md) and sails"]),
        ("| a | b |\n| 1 | 2 |", ["| a | b |", "| 1 | 2 |"]),
        ("Wait... What?!", ["Wait...", "What?!"]),
        ("It began in 2003.[7][8] It grew.", ["It began in 2003.[7][8]", "It grew."]),
        ("It was new.[^2] It grew.", ["It was new.[^2]", "It grew."]),
        ("It was new.[^only] It grew.", ["It was new.[^only]", "It grew."]),
        ("It is “new.”[<sup>7</sup>](#n7) It grew.", ["It is “new.”[<sup>7</sup>](#n7)", "It grew."]),
        ("It was known.12 Others deny it.", ["It was known.12", "Others deny it."]),
        ("He says so (Holm, 1999).3,4 Others deny it.", ["He says so (Holm, 1999).3,4", "Others deny it."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_a_sentence_runs_over_wrapped_lines() -> None:
    text = "This is a paragraph of a file whose lines are wrapped so that\nit goes on here. Next."
    assert sentences(text) == [text[:-6], "Next."]


@given(st.text(alphabet=st.sampled_from("ab.!? \n\t()\"'。A1-#|…\u00a0"), max_size=300))
def test_spans_are_ordered_trimmed_and_lose_nothing_but_white_space(text: str) -> None:
    spans = sentence_spans(text)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "unit", ["a", ".", "\n", "[", "(", " ", ". ", "a\n", "\n ", ".\n", "A. ", "1. ", '."', "#\n"]
)
def test_the_work_is_linear_in_the_text(unit: str) -> None:
    def cpu(repeats: int) -> float:
        text = unit * (repeats // len(unit))
        started = time.process_time()
        sentence_spans(text)
        return time.process_time() - started

    small = min(cpu(100_000) for _ in range(3))
    assert cpu(800_000) < 30 * small + 0.2  # a quadratic routine would need 64 times as much


def test_a_definition_stays_with_its_term() -> None:
    text = "anaphase\n: stage in which sister chromatids part\n\ncell plate\n: wall between new cells"
    assert sentences(text) == text.split("\n\n")


def test_one_field_below_another_is_a_sentence_of_its_own() -> None:
    text = (
        "Materials: sycamore (box), beech (paddles), cast iron (crank, frame), brass plate\n"
        "Marks: the owner's initials burnt into the lid and into each of the two paddles"
    )
    assert sentences(text) == text.split("\n")
    wrapped = "The box is made of what is in the valley, as is to be seen: sycamore, beech and,\nBrass: none."
    assert sentences(wrapped) == [wrapped]


def test_a_line_of_signs_is_no_part_of_what_stands_around_it() -> None:
    text = "Keys of the kernel\n------------------\nModern kernels have it built in, all of\nthem. So it is."
    assert sentences(text) == [*text.split("\n")[:2], text.split("\n", 2)[2][:-10], "So it is."]
