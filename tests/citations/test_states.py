"""What each state means, claim by claim: exact, supported, unverified, and contradicted by what."""

import pytest

from rag.citations.judge import judge_claim
from rag.types.claims import Claim, Judgement
from rag.types.context import Block
from tests.citations.replies import judgement_of, state

TOWER = (
    "The Eiffel Tower is a landmark of Paris. Standing 330 metres, the tower was the tallest structure until "
    "1930. It was not designed by Maurice Koechlin alone. Google acquired YouTube in 2006 for $1.65 billion."
)
MILL = (
    "Rules for the use of the old mill\n\nA wheel of grey oak, made in 1870, burned in 1899. Boats may pass "
    "if the warden agrees. The red mill is quite old, and the bridge is blue. The wheel turns at night."
)
GLOSSARY = "anaphase: stage in which the chromatids are separated\n\nmitosis: division of the nucleus\n"


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Standing 330 metres, the tower was the tallest structure until 1930.", TOWER),
        ("- standing 330 metres, the  tower was the\ntallest structure until 1930", TOWER),
        ("**The Eiffel Tower** is a landmark of Paris", TOWER),
        ("The red mill is quite old", MILL),  # a clause of its sentence
        ("The wheel turns at night.", MILL),
        ("Boats may pass if the warden agrees. The red mill is quite old, and the bridge is blue.", MILL),
        ("anaphase: stage in which the chromatids are separated", GLOSSARY),
        ("Marta repairs clocks.", "Marta repairs clocks. Her shop is small."),
        ("The lamp burns gas", "Marta repairs clocks. The lamp burns gas!"),
    ],
)
def test_a_whole_statement_that_stands_word_for_word_is_exact(claim: str, text: str) -> None:
    judgement = judgement_of(claim, text)
    (finding,) = judgement.findings
    assert judgement.support == "exact"
    assert text[finding.start : finding.end].strip()


def test_a_statement_is_exact_in_any_script() -> None:
    assert (
        state("议会大楼位于爱丁堡", "苏格兰议会由129名议员组成。议会大楼位于爱丁堡。", language="zh")
        == "exact"
    )
    assert state("Башня стоит у самой реки.", "Башня стоит у самой реки.", language="ru") == "exact"


@pytest.mark.parametrize(
    "claim",
    [
        "330 metres",
        "Paris",
        "the tallest structure until 1930",
        "Rules for the use of the old mill",  # a heading
        "A wheel of grey oak",
        "A wheel of grey oak, made in 1870",
        "Boats may pass.",  # under a condition
        "the bridge is blue and the red mill is quite old",
    ],
)
def test_a_noun_phrase_a_heading_and_a_torn_sentence_are_never_exact(claim: str) -> None:
    assert state(claim, TOWER, MILL, cited=(1, 2)) == "unverified"


@pytest.mark.parametrize("claim", ["The old mill.", "Chief Executive Officer.", "Old clocks", "Marta Lee."])
def test_a_name_or_noun_with_a_full_stop_is_no_statement(claim: str) -> None:
    assert state(claim, f"Marta repairs clocks.\n\n{claim}\n\nHer shop is small.") == "unverified"


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The tower was the tallest structure until 1930.", TOWER),
        ("The Eiffel Tower is a landmark", TOWER),
        ("The village has 2,018 inhabitants.", "In May the village has 2.018 inhabitants, all told."),
    ],
)
def test_what_a_sentence_says_in_the_same_words_is_supported(claim: str, text: str) -> None:
    assert state(claim, text) == "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "At 330 metres, the tower held a record for a long time.",
        "In 2006 YouTube went to Google.",
        "YouTube was acquired by Google in 2006.",
        "The iron structure draws many visitors.",
        "Le bâtiment est un symbole de la ville.",
        "was the tallest structure until 1930",  # of what?
    ],
)
def test_what_is_said_in_words_of_ones_own_is_unverified_and_keeps_its_block(claim: str) -> None:
    judgement = judgement_of(claim, "Bread is baked in an oven.", TOWER, cited=(2,))
    (finding,) = judgement.findings
    assert (finding.block, finding.support) == (2, "unverified")


@pytest.mark.parametrize(
    ("claim", "missing"),
    [
        ("The tower was the tallest structure until 1931.", "1931"),
        ("The tower stands 331 metres.", "331 metres"),
        ("The tower stands 330 feet.", "330 feet"),
        ("Google acquired YouTube for €1.65 billion.", "€1.65 billion"),
        ("Google acquired YouTube for $1.65 million.", "$1.65 million"),
        ("In May 2006 Google acquired YouTube.", "May"),
        ("The Eiffel Tower is a landmark of Rome.", "Rome"),
        ("In 2006 YouTube was acquired by Microsoft.", "Microsoft"),
        ('The tower was "the tallest building" until 1930.', "the tallest building"),
        ("The Eiffel Tower is not a landmark of Paris.", "not"),
        ("It was designed by Maurice Koechlin alone.", "not"),
    ],
)
def test_a_fact_that_does_not_stand_where_the_passage_speaks_of_it_contradicts(
    claim: str, missing: str
) -> None:
    assert judgement_of(claim, TOWER) == Judgement(missing=(missing,))


def test_a_heading_word_for_word_lacks_nothing_and_is_quoted() -> None:
    heading = "How to Negotiate Salary After You Get a Job Offer"
    others = (
        "How a job offer is made in Berlin. Snow fell.",
        "Here is how to react to a job offer in Berlin.",
    )
    text = f"Rain fell all day.\n\n{heading}\n\nAsk for time first."
    (finding,) = judgement_of(heading, *others, text, cited=(3,)).findings
    assert text[finding.start : finding.end] == heading
    assert judgement_of("Está permitido comer en las salas", "No está permitido comer en las salas.").missing


def test_a_number_that_stands_elsewhere_does_not_help() -> None:
    towers = (
        "The north tower is 120 metres tall. The warden lives in it.\n\n" + "Rain fell all day long. " * 4
    )
    text = (
        towers + "The south tower is 90 metres tall. It burned. The road is 47 metres long and leads to town."
    )
    assert state("The north tower is 47 metres tall.", text) == "contradicted"
    assert state("The north tower is 120 metres tall.", text) == "exact"


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The mill has no school.", "The mill has a school.", "contradicted"),
        ("The tower was opened to visitors.", "The tower was not opened to visitors.", "contradicted"),
        ("The museum never opens on Sundays.", "The museum opens on Sundays.", "contradicted"),
        ("The museum opens on Sundays.", "The museum never opens on Sundays.", "contradicted"),
        ("The museum never opens on Sundays.", "The museum does not open on Sundays.", "unverified"),
        (
            "It opens neither on Sundays nor Mondays.",
            "It does not open on Sundays and Mondays.",
            "unverified",
        ),
        ("It opens neither on Sundays nor Mondays.", "It opens on Sundays and Mondays.", "contradicted"),
        ("The saw isn't safe, so it can't be sold.", "The saw is not safe or sold.", "unverified"),
        ("The saw must not be used with gloves.", "The saw must not be used without gloves.", "contradicted"),
        ("The rooms are not only large.", "The rooms are not only large but bright.", "exact"),
        ("The mill was sold.", "The mill was not sold. In 1903 the mill was sold.", "supported"),
        (
            "The drug is not a cure for fever.",
            "The drug is a cure for fever but not for cough.",
            "unverified",
        ),
    ],
)
def test_a_denial_that_is_turned_around_contradicts(claim: str, text: str, expected: str) -> None:
    assert state(claim, text) == expected


ALDER = "The north tower of Alder was built in 1836 and altered by Ann Lee. Bob Ray paid for the lamp."


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Who altered the north tower of Alder?", "Ann Lee", "supported"),
        ("Who altered the north tower of Alder?", "Bob Ray", "contradicted"),
        ("When was the north tower of Alder built?", "1836", "supported"),
        ("When was the north tower of Alder built?", "1837", "contradicted"),
        ("What is it that the warden does?", "the lamp", "unverified"),
    ],
)
def test_a_terse_answer_is_read_together_with_its_question(question: str, answer: str, expected: str) -> None:
    assert state(answer, ALDER, question=question) == expected


def test_a_denial_is_read_in_german_too() -> None:
    text = "Der Turm wurde nicht abgerissen."
    assert state("Der Turm wurde abgerissen.", text, language="de") == "contradicted"


def test_the_words_of_the_question_need_not_stand_in_a_passage() -> None:
    claim = "The Kingfisher of 1904 has a hull of teak."
    assert state(claim, "The hull is of teak.") == "contradicted"
    assert (
        state(claim, "The hull is of teak.", question="What is the hull of the Kingfisher of 1904?")
        == "unverified"
    )


def test_a_pronoun_of_the_passage_may_be_the_name_of_the_claim() -> None:
    text = "Ada Byron wrote the first program. She died in London in 1852. Charles Babbage built the engine."
    assert state("Ada Byron died in London in 1852.", text) == "unverified"
    assert state("Ada Byron died in London in 1853.", text) == "contradicted"
    assert state("Grace Hopper wrote the first program.", text) == "contradicted"


def test_a_claim_moves_only_to_a_block_that_verifies_it() -> None:
    north, south = "The north tower has 120 steps.", "The south tower has 90 steps."

    def found(claim: str, *cited: int) -> list[tuple[int, str]]:
        judgement = judgement_of(claim, north, south, cited=cited)
        return [(finding.block, finding.support) for finding in judgement.findings]

    assert found("The south tower has 90 steps.", 1) == [(2, "exact")]
    assert found("The south tower has 90 steps.", 1, 2) == [(1, "unverified"), (2, "exact")]
    assert found("Ninety steps lead up to the southern lamp.", 1) == [(1, "unverified")]
    assert found("The south tower has 90 steps.") == [(2, "exact")]


def test_a_single_letter_s_is_no_name() -> None:
    text = "Something passed from the heat-killed S strain into the live R strain."
    claim = Claim("It went from the killed S strain to another.", (1,), (), "")
    assert judge_claim(claim, [Block(text, (), "en")]).findings


def test_nothing_is_raised_whatever_the_texts_are() -> None:
    odd = ["", "\n", "İ" * 50, "[1]" * 50, "1,2.3" * 40, '"' * 40, "¬¬", "٣ ५ １２９", "\u200b", "不" * 300]
    for claim in odd:
        for text in odd:
            judgement = judge_claim(Claim(claim, (1,), (), claim), [Block(text, (), "en")])
            assert judgement.findings or judgement.missing
