"""Which documents a question names, by who says its words, and what it asks of them."""

from uuid import UUID

import pytest

from rag.named_documents import (
    ask_of_document,
    documents_named_in,
    names_in,
    own_name_in,
    without_own_name,
)
from rag.types.retrieval import NamedDocuments, Retrieval, Saying
from tests.rag.factory import passage

OWN, OTHER = UUID(int=7), UUID(int=8)
READ = 500  # chunks of all documents
PAID = "How much are trainees paid according to the Harbour Pilots Handbook?"


def found_in(name: str, *, title: str = "") -> Retrieval:
    own = {"document_id": OWN, "document_name": name, "title": title, "language": "en"}
    return Retrieval(tuple(passage(n, **own) for n in range(5)))


def say(lexeme: str, chunks: int, of: int, *, by: UUID = OWN, in_all: int | None = None) -> Saying:
    return Saying(lexeme, by, chunks, of, in_all or chunks, READ)


@pytest.mark.parametrize(
    ("name", "title", "text", "names"),
    [
        ("scan0017.pdf", "", "How many people does Nike employ?", {"nike"}),
        ("scan0017.pdf", "", "Nike revenue 2021", {"nike"}),  # a year is asked for
        ("scan0017.pdf", "", "how many people does nike employ?", set()),
        ("NIKE_2021_10K.pdf", "", "how many people does nike employ?", {"nike"}),
        ("scan0017.pdf", "Harbour Pilots Handbook", PAID.lower(), {"harbour", "pilot", "handbook"}),
        ("harbour-tides-and-currents-of-the-north.pdf", "", PAID.lower(), set()),  # one word of many
        ("trainees.pdf", "", "how much are trainees of northern harbours paid in their second year?", set()),
        ("nike.pdf", "", "Give me an overview of Nike.", set()),
    ],
)  # fmt: skip
def test_names_have_a_capital_letter_or_are_what_a_document_is_called(
    name: str, title: str, text: str, names: set[str]
):
    assert names_in(text, found_in(name, title=title)) == names


@pytest.mark.parametrize(
    ("text", "sayings", "rest"),
    [
        ("How many people does Nike employ?", [say("nike", 400, 453)], "How many people does employ?"),
        ("Nike revenue 2021", [say("nike", 400, 453)], "revenue 2021"),
        (
            PAID,
            [say(word, 9, 9) for word in ("harbour", "pilot", "handbook")],
            "How much are trainees paid according to the",
        ),
        # A tenth of its chunks say the name, and these are many; elsewhere they say "we".
        ("Where is Gallus Air based?", [say("gallus", 12, 82), say("air", 12, 82)], "Where is based?"),
        # The document is about the first name only.
        ("Adobe Creative price", [say("adob", 483, 483), say("creativ", 60, 483)], "Creative price"),
    ],
)
def test_a_document_that_says_a_name_throughout_is_asked_for_the_rest(
    text: str, sayings: list[Saying], rest: str
):
    named = documents_named_in(text, found_in("scan0017.pdf"), sayings)
    assert named is not None
    assert (named.ids, named.rest) == ({OWN}, rest)


def test_all_documents_that_are_about_a_name_are_named():
    both = [say("nike", 90, 100, in_all=140), say("nike", 50, 60, by=OTHER, in_all=140)]
    named = documents_named_in("Nike revenue 2021", found_in("a.pdf"), both)
    assert named == NamedDocuments(frozenset({OWN, OTHER}), frozenset({"nike"}), "revenue 2021")


@pytest.mark.parametrize(
    ("text", "sayings"),
    [
        ("Where does Nike make shoes?", []),
        ("Where does Nike make shoes?", [say("nike", 9, 100)]),  # in passing
        ("Where does Nike make shoes?", [say("nike", 1, 2)]),  # half of a short text is as little
        ("Where does Nike make shoes?", [say("nike", 50, 100, in_all=100)]),  # others speak of it, too
        (  # all documents say it
            "Where does the Company make shoes?",
            [say("compani", 190, 240, in_all=420), say("compani", 230, 250, by=OTHER, in_all=420)],
        ),
        (  # two do, as often as a tenth
            "Where are the Notes payable?",
            [say("note", 30, 240, in_all=60), say("note", 30, 250, by=OTHER, in_all=60)],
        ),
        ("How much Nike does Adidas sell?", [say("nike", 90, 99), say("adida", 90, 99, by=OTHER)]),
        ("What is Nike?", [say("nike", 90, 99)]),  # nothing else is asked
        ("What is American Nike?", [say("nike", 90, 99)]),
        ("Nike 2021", [say("nike", 90, 99)]),
    ],
)
def test_a_name_that_stands_for_no_document_or_for_two_things_stays(text: str, sayings: list[Saying]):
    assert documents_named_in(text, found_in("scan0017.pdf"), sayings) is None


def test_nothing_found_names_nothing():
    assert names_in(PAID, Retrieval(())) == set()


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("How many people does Nike employ?", "How many people does it employ?"),
        ("What was Nike's gross margin in 2022?", "What was its gross margin in 2022?"),
        ("Who audits Nike?", "Who audits it?"),
        ("Who audits the nike?", "Who audits the nike?"),
        ("Who audits Adidas?", "Who audits Adidas?"),
        # Others say the first word of the name, too.
        ("Who runs American Nike?", "Who runs it?"),
        ("Does Nike & Nike make soap?", "Does it make soap?"),
        ("Is the CEO Nike chose a woman?", "Is the CEO it chose a woman?"),
    ],
)
def test_a_document_is_asked_of_itself_by_a_pronoun(text: str, asked: str):
    named = NamedDocuments(frozenset({OWN}), frozenset({"nike"}), "")
    assert ask_of_document(text, named, "en") == asked


HANDBOOK = "Made Tech hires. At Made Tech the team made a plan with the tech lead. "
OFTEN = {"made": 1.2, "tech": 1.1, "team": 0.9}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("When is payday at Made Tech?", {"made", "tech"}),
        ("who runs the made tech pension", {"made", "tech"}),
        ("What does the team do on Fridays?", set()),  # everybody says it, and writes it small
        ("When was the lead made?", set()),
        ("When is payday at Northwind?", set()),
    ],
)
def test_whose_documents_these_are_is_written_with_capitals(text: str, name: set[str]):
    passages = tuple(passage(n, content=HANDBOOK, language="en") for n in range(5))
    assert own_name_in(text, Retrieval(passages, idf=OFTEN)) == name


def test_addresses_do_not_tell_how_a_name_is_written():
    told = "Nike pays on Fridays, see www.nike.com/pay or ask @nike, pay@nike.com or nike-pay. "
    passages = tuple(passage(n, content=told, language="en") for n in range(5))
    assert own_name_in("When does nike pay?", Retrieval(passages, idf={"nike": 0.5})) == {"nike"}


def test_what_few_say_is_not_whose_documents_these_are():
    passages = tuple(passage(n, content=HANDBOOK, language="en") for n in range(5))
    assert own_name_in("payday at Made Tech", Retrieval(passages, idf={"made": 1.2, "tech": 3.0})) == set()


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("When is payday at Nike?", "When is payday?"),
        ("who runs the nike pension", "who runs the pension"),
        ("Does Nike pay for lunch?", "Does it pay for lunch?"),
        ("How long is Nike's probation?", "How long is its probation?"),
        ("nike season ticket loan", "season ticket loan"),
        ("When was Nike founded?", "When was it founded?"),
    ],
)
def test_whose_documents_these_are_tells_none_from_another(text: str, rest: str):
    sayings = [say("nike", 10, 50, by=UUID(int=n), in_all=70) for n in range(7)]
    named = without_own_name(text, frozenset({"nike"}), "en", sayings)
    assert named == NamedDocuments(frozenset(), frozenset({"nike"}), rest)


@pytest.mark.parametrize(
    ("text", "documents", "of"),
    [
        ("When is payday at Nike?", 4, 99),  # few
        ("When is payday at Nike?", 7, 30),  # of less than half of all that is read
        ("Who is Nike?", 7, 50),  # nothing else is asked
        ("Nike?", 7, 50),
    ],
)
def test_a_name_that_some_documents_say_stays(text: str, documents: int, of: int):
    sayings = [say("nike", 10, of, by=UUID(int=n), in_all=70) for n in range(documents)]
    assert without_own_name(text, frozenset({"nike"}), "en", sayings) is None
