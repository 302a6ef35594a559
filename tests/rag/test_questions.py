"""Which questions compare two things, and which ask about a document as a whole."""

import time
from uuid import UUID

import pytest

from rag.question_forms import (
    Comparison,
    asks_for_overview,
    comparison_in,
    overview_of,
    question_without_frame,
)
from rag.types.retrieval import Passage
from tests.rag.factory import passage

OWN = UUID(int=7)


@pytest.mark.parametrize(
    ("question", "subjects"),
    [
        (
            "Which is older, the Belfry of Ghent or the Rialto Bridge?",
            ("the Belfry of Ghent", "the Rialto Bridge"),
        ),
        ("Which tower is taller: Borkum or Norderney?", ("Borkum", "Norderney")),
        ("Who earned more in 2017, Amazon or Adobe?", ("Amazon", "Adobe")),
        ("compare Rust and Go", ("Rust", "Go")),
        ("Please compare the tower with the bridge.", ("the tower", "the bridge")),
        ("What is the difference between mitosis and meiosis?", ("mitosis", "meiosis")),
        ("How does Rust differ from Go?", ("Rust", "Go")),
        ("How do plants and animals differ?", ("plants", "animals")),
        ("Is the tower taller than the bridge?", ("the tower", "the bridge")),
        ("Tesla vs. Edison", ("Tesla", "Edison")),
        ("Vergleiche Warschau und Krakau", ("Warschau", "Krakau")),
        ("Was ist älter, der Turm oder die Brücke?", ("der Turm", "die Brücke")),
        ("Was ist der Unterschied zwischen Mitose und Meiose?", ("Mitose", "Meiose")),
        ("Worin unterscheiden sich Rust und Go?", ("Rust", "Go")),
        ("Quelle est la différence entre la tour et le pont ?", ("la tour", "le pont")),
        ("What do Tesla and the Normans have in common?", ("Tesla", "the Normans")),
        ("In what ways are wolves and dogs alike?", ("wolves", "dogs")),
        ("Were Tesla and Edison both born in Europe?", ("Tesla", "Edison")),
        ("Tell me about mitosis and about meiosis.", ("mitosis", "meiosis")),
        ("Do wolves and dogs have anything in common?", ("wolves", "dogs")),
        ("What distinguishes mitosis from meiosis?", ("mitosis", "meiosis")),
        ("What sets Rust apart from Go?", ("Rust", "Go")),
        ("How is Rust different from Go?", ("Rust", "Go")),
        ("Was haben Warschau und Krakau gemeinsam?", ("Warschau", "Krakau")),
        ("¿Qué tienen en común Madrid y Roma?", ("Madrid", "Roma")),
    ],
)
def test_the_two_things_are_found(question: str, subjects: tuple[str, str]):
    found = comparison_in(question)
    assert (found.subjects if found else None) == subjects


@pytest.mark.parametrize(
    ("question", "halves"),
    [
        (
            "Compare the revenue of Amazon and Adobe in 2017.",
            ("the revenue of Amazon in 2017", "the revenue of Adobe in 2017"),
        ),
        (
            "Compare the revenue of Amazon in 2017 and 2019",
            ("the revenue of Amazon in 2017", "the revenue of Amazon in 2019"),
        ),
        (
            "Compare Amcor's Flexibles and Rigid Packaging segments in fiscal 2023.",
            ("Amcor's Flexibles in fiscal 2023", "Amcor's Rigid Packaging segments in fiscal 2023"),
        ),
        ("Compare the Belfry of Ghent and the Rialto Bridge", ("the Belfry of Ghent", "the Rialto Bridge")),
        ("Compare the Tower of London and Big Ben", ("the Tower of London", "Big Ben")),
        ("Vergleiche den Umsatz von Amazon und Adobe", ("den Umsatz von Amazon", "den Umsatz von Adobe")),
        (
            "What is the difference between Adobe's and Nike's research spending?",
            ("Adobe's research spending", "Nike's research spending"),
        ),
        (
            "What's the difference between Adobe's tax rate and Nike's?",
            ("Adobe's tax rate", "Nike's tax rate"),
        ),
        ("Amazon vs Adobe: net income", ("Amazon net income", "Adobe net income")),
        ("Compare Amazon and Adobe revenue", ("Amazon revenue", "Adobe revenue")),
        (
            "Does Amazon or Adobe pay the higher dividend?",
            ("Amazon pay dividend", "Adobe pay dividend"),
        ),
        (
            "What is the quorum at the Chess Club compared with the Tennis Club?",
            ("What is the quorum at the Chess Club", "What is the quorum at the Tennis Club"),
        ),
        ("Which is bigger by headcount, Amazon or Adobe?", ("Amazon headcount", "Adobe headcount")),
        (
            "Which has more inhabitants, Warsaw or Kenya?",
            ("Warsaw number of inhabitants", "Kenya number of inhabitants"),
        ),
        ("Which is older, Harvard or the Yuan dynasty?", ("when was Harvard", "when was the Yuan dynasty")),
        (
            "Were Tesla and Edison both born in Europe?",
            ("Tesla born in Europe", "Edison born in Europe"),
        ),
    ],
)
def test_what_is_asked_of_both_is_searched_for_of_each(question: str, halves: tuple[str, str]):
    found = comparison_in(question)
    assert isinstance(found, Comparison)
    assert found.halves == halves


@pytest.mark.parametrize(
    ("question", "halves"),
    [
        (
            "Which religion did the people of Warsaw and the Normans have?",
            (
                "Which religion did the people of Warsaw have?",
                "Which religion did the people of the Normans have?",
            ),
        ),
        (
            "What happened to Japan in the oil crisis and to Tesla in New York?",
            ("What happened to Japan in the oil crisis", "What happened to to Tesla in New York?"),
        ),
        (
            "Where are the headquarters of Adobe and of Amcor located?",
            (
                "Where are the headquarters of Adobe located?",
                "Where are the headquarters of Amcor located?",
            ),
        ),
        (
            "How long is lunch at the Harbour School and in the Rowing Course?",
            ("How long is lunch at the Harbour School", "How long is lunch in the Rowing Course?"),
        ),
        ("When was Nike founded, and Adobe?", ("When was Nike founded", "When was Adobe founded")),
    ],
)
def test_two_names_are_searched_for_apart_without_being_compared(question: str, halves: tuple[str, str]):
    found = comparison_in(question)
    assert found is not None
    assert (found.halves, found.compared, found.bare) == (halves, False, False)


@pytest.mark.parametrize(
    ("question", "halves"),
    [
        ("Who founded Nike, and who founded Adobe?", ("Who founded Nike?", "who founded Adobe?")),
        ("Who runs Nike? Who owns Nike?", ("Who runs Nike?", "Who owns Nike?")),
        (
            "Who runs Nike? Who owns Adobe? Where is Amcor?",
            ("Who runs Nike?", "Who owns Adobe?", "Where is Amcor?"),
        ),
        ("Who runs Nike, and who works there?", ("Who runs Nike?", "who works at Nike?")),
        (
            "How many employees does Nike have and who is its boss?",
            ("How many employees does Nike have?", "who is Nike's boss?"),
        ),
        (
            "Which languages are spoken in Kenya, and which did the Normans speak?",
            ("Which languages are spoken in Kenya?", "Which languages did the Normans speak?"),
        ),
        (
            "What was Adobe's backlog, and what was Nike's?",
            ("What was Adobe's backlog?", "What was Nike's backlog?"),
        ),
        (
            "Who built the tower and how long does it take to climb the bridge?",
            ("Who built the tower?", "how long does it take to climb the bridge?"),
        ),
    ],
)
def test_two_questions_are_asked_one_by_one(question: str, halves: tuple[str, str]):
    found = comparison_in(question)
    assert found is not None
    assert found.asks_twice
    assert (found.halves, found.compared) == (halves, False)


@pytest.mark.parametrize(
    ("question", "bare"),
    [
        ("Compare Rust and Go", True),
        ("Which is older, Harvard or Yale?", True),
        ("Compare the revenue of Amazon and Adobe", False),
        ("Compare the revenue of Amazon with the revenue of Adobe", False),
        ("Which has more inhabitants, Warsaw or Kenya?", False),
        ("Were Tesla and Edison both born in Europe?", False),
    ],
)
def test_things_are_only_named_where_nothing_else_is_asked_of_them(question: str, bare: bool):
    found = comparison_in(question)
    assert found is not None
    assert found.compared
    assert found.bare is bare


@pytest.mark.parametrize(
    "question",
    [
        "Why was the tower built?",
        "What is the tower, and when was it built or destroyed?",
        "In 1901, what percentage was protestant or catholic?",
        "Who designed the tower and the bridge?",
        "When was the tower built and who built it?",
        "When was Adobe founded, and by whom?",
        "Who was Ada, who was Eve, and when did she die?",
        "Which is older, the tower or the tower?",
        "",
        "compare and",
    ],
)
def test_other_questions_are_of_one_thing(question: str):
    assert comparison_in(question) is None


@pytest.mark.parametrize(
    "part",
    [
        *("which is older older, or or ", "compare and and with ", "is more than ", "a vs b ", "of in 2017 "),
        *("Is Aa or Bb ", "Aa's bb and who is its ", "A compared with "),
    ],
)
def test_looking_at_a_question_takes_no_time(part: str):
    started = time.process_time()
    comparison_in((part * 200)[:500])
    comparison_in(part * 200)
    asks_for_overview(part * 200)
    question_without_frame(part * 200)
    assert time.process_time() - started < 0.2


@pytest.mark.parametrize(
    "question",
    [
        "Summarize the report.",
        "Give me a short summary of towers.pdf",
        "What are the main findings?",
        "What is the report about?",
        "Fasse den Bericht kurz zusammen.",
        "Worum geht es in towers.pdf?",
        "Was sind die wichtigsten Punkte?",
        "Résume le document",
    ],
)
def test_who_asks_for_an_overview_is_known(question: str):
    assert asks_for_overview(question)


@pytest.mark.parametrize(
    "question",
    [
        "How tall is the main tower?",
        "What is mitosis?",
        "What was the key agenda of the filing?",
        "Who was it about to meet?",
    ],
)
def test_other_questions_ask_for_none(question: str):
    assert not asks_for_overview(question)


def of(document: int, name: str, title: str = "", language: str = "en") -> Passage:
    made = passage(document, document_name=name, title=title or name, language=language)
    return made


TOWERS, BRIDGES = of(1, "towers_2023.pdf", "Towers of the Coast"), of(2, "bridges.pdf")


@pytest.mark.parametrize(
    ("question", "document", "whole"),
    [
        ("Summarize towers_2023.pdf", TOWERS, True),
        ("Give me an overview of the towers of the coast.", TOWERS, True),
        ("What is the bridges report about?", BRIDGES, True),
        ("What are the main risks of bridges?", BRIDGES, False),
    ],
)
def test_a_document_is_meant_by_its_name_or_title(question: str, document: Passage, whole: bool):
    found = overview_of(question, [TOWERS, BRIDGES] * 3)
    assert found == (document.document_id, whole)


@pytest.mark.parametrize(
    "question", ["Summarize the document", "Summarize what happened in 2023", "How tall is it?"]
)
def test_no_document_is_meant_where_several_are_found_and_none_is_named(question: str):
    assert overview_of(question, [TOWERS, BRIDGES] * 3) is None
    assert overview_of(question, []) is None


def test_a_document_is_meant_where_nearly_all_that_is_found_is_of_it():
    found = [TOWERS] * 9 + [BRIDGES] * 2
    assert overview_of("What are the main points?", found) == (TOWERS.document_id, True)
    assert overview_of("What are the main risks?", found) == (TOWERS.document_id, False)
    assert overview_of("What are the main risks?", found[2:]) is None


def test_german_names_are_found_by_german_words():
    report = of(3, "geschaeftsbericht.pdf", "Die Türme an der Küste", language="de")
    found = overview_of("Fasse „Die Türme an der Küste“ bitte kurz zusammen", [report, TOWERS, BRIDGES])
    assert found == (report.document_id, True)


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("My colleague Ann asks when Tesla died.", "when Tesla died."),
        ("Hi Brenda, what is the basic unit in Poland?", "what is the basic unit in Poland?"),
        ("Can you tell Ann Miller when the exchange was built?", "when the exchange was built?"),
        ("Ludwig is wondering which treaty it signed.", "which treaty it signed."),
        ("Anna fragt, wann Tesla starb.", "wann Tesla starb."),
    ],
)
def test_who_asks_is_no_part_of_the_question(text: str, alone: str):
    assert question_without_frame(text) == alone


@pytest.mark.parametrize(
    "text",
    [
        "When did Tesla die?",
        "What did Tesla say to Zorblax about alternating current?",
        "According to Apple, what was the revenue?",
        "In 2019, what did Amazon earn?",
        "For Apple: what was the revenue?",
        "",
    ],
)
def test_whom_a_question_is_about_stays_in_it(text: str):
    assert question_without_frame(text) is None
