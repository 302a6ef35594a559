"""Answers without a chat model: sentences of the context, word for word, each with its marker."""

import asyncio
import re

import pytest

from rag.citations import without_markers
from rag.context.fitting import context_of
from rag.synthesizers.extractive import ExtractiveSynthesizer
from tests.relevance.asking import answer, ask_of, judged, passage

GHENT = (
    "Ghent is a city in Flanders. The belfry of Ghent was finished in 1380.\nIt stands 91 metres tall. "
    "Tourists climb it."
)
DINANT = "The citadel of Dinant overlooks the Meuse. Adolphe Sax was born there."


def sentences(text: str) -> list[tuple[str, int]]:
    """[(sentence, n)] of an answer."""
    return [(said + stop, int(n)) for said, n, stop in re.findall(r"(.+?) \[(\d+)\]([.!?。]?)\s*", text)]


def test_the_best_sentences_are_given_word_for_word_with_their_passage() -> None:
    texts = (DINANT, GHENT)
    question = "When was the belfry of Ghent finished?"
    context = judged(question, [passage(n, text) for n, text in enumerate(texts, start=1)]).passages
    said = sentences(
        asyncio.run(ExtractiveSynthesizer().synthesize(ask_of(question), context_of(context))).text
    )
    assert said[0] == ("The belfry of Ghent was finished in 1380.", 1)
    assert all(text in " ".join(context[n - 1].content.split()) for text, n in said)


def test_a_footnote_is_said_without_its_sign() -> None:
    said = answer(
        "When was the belfry of Ghent finished?",
        "The belfry.[^1]\n\n[^1]: The belfry of Ghent was finished in 1380.",
    )
    assert without_markers(said).startswith("The belfry of Ghent was")


def test_sentences_of_one_passage_stand_in_reading_order() -> None:
    said = sentences(answer("How tall is the belfry of Ghent?", GHENT, DINANT))
    assert [text for text, _ in said] == [
        "The belfry of Ghent was finished in 1380.",
        "It stands 91 metres tall.",
    ]


def test_a_second_sentence_that_has_nothing_to_do_with_it_is_left_out() -> None:
    said = answer(
        "Who was born in Dinant?", "Adolphe Sax was born in Dinant. Rain is common. Frites are fried twice."
    )
    assert without_markers(said).startswith("Adolphe Sax was born in Dinant.")
    assert "Frites" not in said


def test_a_sentence_that_stands_in_two_overlapping_passages_is_said_once() -> None:
    shared = "The belfry of Ghent was finished in 1380."
    said = answer("When was the belfry of Ghent finished?", f"It is old. {shared}", f"{shared} It is tall.")
    assert without_markers(said).count(shared) == 1


def test_the_answer_goes_before_a_heading_or_a_question_of_the_same_words() -> None:
    said = sentences(
        answer("What is the refund period?", "What is the refund period?\nThe refund period is 30 days.")
    )
    assert said == [("The refund period is 30 days.", 1)]
    assert len(answer("refund period", "Refund period\n\nThe refund period is 30 days.").split()) < 15


@pytest.mark.parametrize("heading", ["Consistent Hashing", "# Chapter 1: Introduction to Consistent Hashing"])
def test_a_heading_is_not_said_beside_a_sentence(heading: str) -> None:
    text = "Consistent hashing places nodes and keys on a ring."
    assert answer("How does consistent hashing work?", f"{heading}\n{text}") == f"{text[:-1]} [1]."


def test_a_heading_is_better_than_nothing_and_stands_without_its_sign() -> None:
    assert answer("What is consistent hashing?", "## Consistent hashing") == "Consistent hashing [1]"


def test_a_list_item_that_answers_goes_before_a_sentence_that_does_not() -> None:
    said = answer("How many vacation days?", "Read this with care.\n- Vacation days: 25\n- Sick days: 10")
    assert said.startswith("Vacation days: 25 [1]")


def test_another_passage_that_holds_less_of_the_question_is_not_cited() -> None:
    texts = ("The south tower has 98 steps.", "The north tower has 120 steps.")
    assert answer("How many steps has the north tower?", *texts) == "The north tower has 120 steps [1]."
    both = sentences(answer("How many steps have the north and the south tower?", *texts))
    assert {n for _, n in both} == {1, 2}


def test_a_question_for_two_things_is_answered_from_both_passages() -> None:
    texts = (
        "The recommended deployment topology is active-passive. Two nodes run in separate zones.",
        "Each node runs the same version. Every node needs at least 16 GB of memory and four cores.",
    )
    said = answer(
        "What is the recommended deployment topology and how much memory does each node need?", *texts
    )
    assert "active-passive [" in said
    assert "16 GB of memory" in said
    assert {n for _, n in sentences(said)} == {1, 2}


def test_two_passages_that_hold_as_much_of_the_question_are_both_cited() -> None:
    texts = ("The refund period is 30 days.", "In Peru the refund period is 14 days.")
    assert [n for _, n in sentences(answer("How long is the refund period?", *texts))] == [1, 2]


def test_numbers_in_brackets_of_the_source_do_not_become_citations() -> None:
    said = answer(
        "What did Smith show?", "Smith showed [3, 7] that bees dance [2].", "Bees sting.", "Bees fly."
    )
    assert [n for _, n in sentences(said)] == [1]
    assert re.findall(r"\[(\d+)\]", said) == ["1"]


@pytest.mark.parametrize("note", ["12", "3,4", "[7]", "<sup>7</sup>", "[<sup>7</sup>](#notes)"])
def test_a_sentence_ends_before_the_number_of_its_note_and_is_said_without_it(note: str) -> None:
    said = answer(
        "What did Smith show?", f"Smith showed that bees dance.{note} Most people who met him denied it."
    )
    assert said == "Smith showed that bees dance [1]."


def test_an_answer_stays_short_whatever_the_source_is_like() -> None:
    table = " ".join(f"row {n} of the ledger" for n in range(500))
    said = answer("What does the ledger say of row 7?", table, f"Row 7 of the ledger says {table}.")
    assert 0 < len(said.split()) <= 125
    assert without_markers(said)[:-1] in f"{table} Row 7 of the ledger says {table}."


def test_scripts_without_spaces_stay_short_too() -> None:
    said = answer("首都", "首都は東京です" * 500)
    assert 0 < len(said) < 1000


def test_passages_without_sentence_scores_are_answered_from_too() -> None:
    said = asyncio.run(
        ExtractiveSynthesizer().synthesize(ask_of("belfry"), context_of([passage(1, GHENT)]))
    ).text
    assert sentences(said)[0][1] == 1


def test_an_empty_context_gives_nothing() -> None:
    assert asyncio.run(ExtractiveSynthesizer().synthesize(ask_of("belfry"), context_of([]))).text == ""
