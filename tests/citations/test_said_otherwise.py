"""Claims that reach further than their sentence, and those that only say it in words of their own."""

import pytest

from rag.citations.judge import judged


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The bridge was built by monks.", "The bridge is believed to have been built by monks."),
        ("The vase dates from the fifth century.", "The vase probably dates from the fifth century."),
        ("The virus came from bats.", "Researchers suspect that the virus came from bats."),
        ("The council built a tunnel.", "The council wants to build a tunnel."),
        ("The tunnel was built in 2030.", "The tunnel will be built in 2030."),
        ("The library is a prison.", "The library was a prison until 1990 and is now a hotel."),
        ("Cats chase dogs.", "Cats eat mice, and dogs chase cats."),
        ("The mayor opened the fair.", "The mayor's wife opened the fair."),
        ("Members pay half.", "Children of members pay half."),
        ("Lee fired Kim.", "The manager hired by Lee fired Kim."),
        ("Infants should see a doctor.", "Infants with fever should see a doctor."),
        ("The tests failed.", "Some of the tests failed."),
        ("Any invoice must be paid.", "An undisputed invoice must be paid."),
        ("Malta ratified the treaty.", "Apart from Malta, all states ratified the treaty."),
        ("Slice the apples before you peel them.", "Peel the apples before you slice them."),
        ("Sales fell because the shop was closed.", "Because sales fell, the shop was closed."),
        ("The dose is raised per day.", "The dose is 5 mg a day; it is raised every week."),
        ("Ann Ray was made head in May.", "Ann Ray, who joined as head, was made chief in May."),
        ("The firm has 40 shops in Rome.", "The firm has 40 shops, a third of them in Rome."),
        ("The lid must be washed.", "The lid may be washed."),
        ("He taught law in Rome.", "He studied law in Rome and taught history in Padua."),
    ],
)
def test_what_reaches_further_is_no_support(claim: str, passage: str) -> None:
    assert judged(claim, passage, "en").support is None


@pytest.mark.parametrize(
    ("claim", "passage", "language"),
    [
        ("The town purchased the mill in 1904.", "In 1904 the town bought the mill.", "en"),
        ("The town employs a physician.", "The town employs a doctor.", "en"),
        ("In summary, the lid has to be washed.", "The lid must be washed.", "en"),
        ("The filter is checked annually.", "The filter is checked once a year.", "en"),
        ("The dough rests for half an hour.", "The dough rests for 30 minutes.", "en"),
        ("The notice period is two weeks.", "The notice period is 14 days.", "en"),
        ("It did not show an effect.", "It showed no effect.", "en"),
        ("Once it is green, press the key.", "Once it is green, press the key twice.", "en"),
        ("The firm was founded on 2021-03-05.", "The firm was founded on 5 March 2021.", "en"),
        ("Der Antrag endet am 31.03.2021.", "Der Antrag endet am 31. März 2021.", "de"),
    ],
)
def test_what_is_said_in_other_words_is_support(claim: str, passage: str, language: str) -> None:
    assert judged(claim, passage, language).support


def test_a_word_for_another_is_none_where_who_does_it_is_exchanged() -> None:
    passage = "The town bought the mill from the baker."

    assert judged("The town purchased the mill from the baker.", passage, "en").support
    assert judged("The baker purchased the mill from the town.", passage, "en").support is None
