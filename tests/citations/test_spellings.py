"""Numbers, dates and counts in the spellings of models and of documents: the same ones, and others."""

import pytest

from rag.citations.facts import facts_of
from tests.citations.replies import judgement_of, state


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The fund holds 5 m euros.", "The fund holds 5 million euros."),
        ("The fund holds $5m.", "The fund holds 5 million dollars."),
        ("The tower is 5 m tall.", "The tower is 5 metres tall."),
        ("The tower is 0.33 km tall.", "The tower is 330 m tall."),
        ("One in five households has a cat.", "Of all households 20 % have a cat."),
        ("A fifth of the households have a cat.", "Of all households 20 % have a cat."),
        ("Half of the seats were sold.", "50 percent of the seats were sold."),
        ("Two thirds of the seats were sold.", "67 % of the seats were sold."),
        ("The dough rests for half an hour.", "The dough rests for 30 minutes."),
        ("The notice period is two weeks.", "The notice period is 14 days."),
        ("The village has 2,018 inhabitants.", "The village has 2018 inhabitants."),
        ("The village has 2.018 inhabitants.", "The village has 2018 inhabitants."),
        ("The village has 2,018 inhabitants.", "The village has 2.018 inhabitants."),
        ("The village has 2 018 inhabitants.", "The village has 2018 inhabitants."),
        ("The Second Chamber meets in Rome.", "Chamber II meets in Rome."),
        ("Chamber II meets in Rome.", "The second chamber meets in Rome."),
        ("The firm was founded on 2021-03-05.", "The firm was founded on 5 March 2021."),
        ("The firm was founded on March 5, 2021.", "The firm was founded on 2021-03-05."),
        ("Die Firma besteht seit dem 05.03.2021.", "Die Firma besteht seit dem 5. März 2021."),
        ("Die Firma besteht seit dem 5. März 2021.", "Die Firma besteht seit dem 05.03.2021."),
        ("The firm was founded on 05.03.2021.", "The firm was founded on 5 March 2021."),
        ("Twenty-five people came.", "25 people came."),
        ("About 50 people came.", "51 people came."),
        ("Die Kosten betrugen 7.800.000 Franken.", "Die Kosten betrugen 7,8 Millionen Franken."),
        ("Revenue rose to $4.2 billion.", "Revenue rose to $4,200 million."),
        ("The coil weighs twelve kilograms.", "The coil weighs 12 kg."),
        ("The price is 45 cents.", "The price is $0.45."),
        ("The share is 12 per cent.", "The share is 12%."),
        ("The first chamber has 3 seats.", "The 1st chamber has three seats."),
        ("The range is 10-12 m.", "The range is from 10 m to 12 m."),
        ("It came in the 3rd week.", "It came in the third week."),
        ("苏格兰议会由129名议员组成", "议会有１２９名议员。"),
    ],
)
def test_one_number_in_two_spellings_contradicts_nothing(claim: str, text: str) -> None:
    assert state(claim, text) in ("supported", "unverified")


@pytest.mark.parametrize(
    ("claim", "text", "missing"),
    [
        ("The fund holds 6 m euros.", "The fund holds 5 million euros.", "6"),
        ("The fund holds 5 billion euros.", "The fund holds 5 m euros.", "5 billion euros"),
        ("The tower is 330 feet tall.", "The tower is 330 m tall.", "330 feet"),
        ("One in four households has a cat.", "Of all households 20 % have a cat.", "One in four"),
        ("Half of the seats were sold.", "40 percent of the seats were sold.", "Half"),
        ("The dough rests for half an hour.", "The dough rests for 45 minutes.", "half"),
        ("The notice period is two weeks.", "The notice period is 10 days.", "two weeks"),
        ("The village has 2,019 inhabitants.", "The village has 2.018 inhabitants.", "2,019"),
        ("Chamber III meets in Rome.", "The second chamber meets in Rome.", "III"),
        ("The firm was founded on 2021-04-05.", "The firm was founded on 5 March 2021.", "2021-04-05"),
        ("The firm was founded on 2021-03-06.", "The firm was founded on 5 March 2021.", "2021-03-06"),
        ("Die Firma besteht seit dem 06.03.2021.", "Die Firma besteht seit dem 5. März 2021.", "06.03.2021"),
        ("About 50 people came.", "71 people came.", "50"),
        ("The share rose by 8 percentage points.", "The share rose by 8%.", "8 percentage points"),
        ("The price is 45 euros.", "The price is $45.", "45 euros"),
        ("The coil weighs 12 g.", "The coil weighs 12 kg.", "12 g"),
        ("Twenty-six people came.", "25 people came.", "Twenty-six"),
        ("The third chamber has seats.", "The second chamber has seats.", "third"),
        ("苏格兰议会由128名议员组成", "苏格兰议会由129名议员组成。", "128"),
    ],
)
def test_another_number_contradicts_and_is_told_as_it_was_written(
    claim: str, text: str, missing: str
) -> None:
    assert judgement_of(claim, text).missing == (missing,)


def test_a_small_count_in_letters_may_be_the_writers_own() -> None:
    text = "The fire was caused by lightning. The lamp was old."
    assert state("There were two causes: lightning and an old lamp.", text) == "unverified"
    assert state("There were 2 causes: lightning and an old lamp.", text) == "contradicted"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "On 3 May 1870, Ann Lee paid $5m.",
            ["number 3", "month May", "number 1870", "name Ann Lee", "number $5m"],
        ),
        ("One in five saw COVID-19.", ["number One in five", "name COVID-19"]),
        ("Section 2A of the Act", ["name Section 2A", "name Act"]),
        ("nothing here", []),
    ],
)
def test_the_facts_of_a_text_stand_in_it_as_they_are_told(text: str, found: list[str]) -> None:
    facts = facts_of(text, "en")
    assert [f"{fact.kind} {fact.text}" for fact in facts] == found
    assert all(text[fact.start : fact.end] == fact.text for fact in facts)


def test_a_name_that_a_pdf_tears_is_not_missing() -> None:
    text = "Chairman of the Board of Direc tors, Chief Executive Officer and Pr esident Wendell P. Weeks"
    claim = "Wendell P. Weeks runs the company as its President."
    assert state(claim, text) in ("supported", "unverified")
    told = judgement_of("Edwin Sidents is Chairman of the Board and Chief Executive Officer.", text)
    assert told.missing == ("Edwin Sidents",)


BESIDE = "Net sales rose by $1,683 million in fiscal year 2022. They had fallen by $12 million before."
ROWS = """In millions | 2022 | 2021
Net sales | $ 14,544 | $ 12,861
Cost of sales | (11,724) | (10,129)
Gross profit | 2,820 | 2,732
Interest | (135) | (139)
Operating income | 1,239 | 1,321"""


def test_a_figure_of_a_row_is_there_though_text_beside_has_others() -> None:
    claim = "Amcor's net sales for fiscal year 2022 were $14,544 million."
    assert not judgement_of(claim, BESIDE, ROWS).missing
    assert judgement_of(claim.replace("14,544", "1,239"), BESIDE, ROWS).missing == ("$1,239 million",)


def test_no_answers_a_question_and_denies_nothing_by_itself() -> None:
    text = "restic does not have a built-in way of scheduling backups."
    assert state("No, restic does not have a built-in way of scheduling backups.", text) == "supported"
    assert judgement_of("No, restic has a built-in way of scheduling backups.", text).missing == ("not",)
