"""A question that names its document finds what it asks there, though every passage is about the name."""

import httpx

from tests.platform import talk
from tests.search.conftest import found, post
from tests.search.test_explain import LAST
from tests.support.api import NO_ANSWER
from tests.support.stack import Stack
from tests.support.texts import markdown

HANDBOOK = "Harbour Pilots Handbook"
QUESTION = f"How much are trainees paid according to the {HANDBOOK}?"
TOPICS = (
    "uniforms", "ladders", "radio channels", "tides", "fog", "tugs", "anchors", "lights", "engines", "charts",
    "licences", "ropes",
)  # fmt: skip
WAGE = "Apprentices receive 900 crowns a month."


def handbook(client: httpx.Client) -> str:
    """The id of a collection with it, and with another handbook."""
    made = talk.collection(client, "Handbooks")
    chapters = [
        (topic.capitalize(), f"What the {HANDBOOK} says of {topic} binds all pilots of the harbour. " * 4)
        for topic in TOPICS
    ]
    chapters.insert(7, ("Money", WAGE))
    bakers = [("Money", "Bakers are paid by the loaf."), ("Ovens", "An oven is lit at three.")]
    talk.stored(client, talk.file(markdown(HANDBOOK, chapters), "harbour-pilots-handbook.md"), to=made)
    talk.stored(client, talk.file(markdown("Bakers", bakers), "bakers-handbook.md"), to=made)
    return made


def test_the_passage_that_answers_stands_first(server: Stack):
    made = handbook(server.client)

    first = found(server.client, QUESTION, collections=[made])[0]
    assert WAGE in first["content"]


def test_explain_says_by_what_it_was_found(server: Stack):
    made = handbook(server.client)
    (wage,) = found(server.client, "900 crowns", collections=[made], mode="exact")

    told = post(server.client, QUESTION, collections=[made], explain=wage["chunk_id"]).json()["explanation"]

    assert told["found"]
    assert all(stage["kept"] for stage in told["stages"] if stage["stage"] in {"fusion", "rerank", *LAST[:2]})


def test_a_filter_that_leaves_the_document_out_holds(server: Stack):
    made = handbook(server.client)
    (bread,) = found(server.client, "by the loaf", collections=[made], mode="exact")

    results = found(
        server.client, QUESTION, collections=[made], filters={"documents": [bread["document_id"]]}
    )

    assert {one["document_name"] for one in results} == {"bakers-handbook.md"}


FILLER = (
    "We make goods that people like, and we sell them in many countries. Our costs rose, plans may change. "
    "Competition in our markets is strong, and the results of a quarter say little about the next one. "
)


def annual_report(client: httpx.Client, made: str, firm: str, people: str, name: str) -> None:
    """A report that says the firm's name in its headings only, and "we" in its text."""
    chapters = [(f"{firm}: {topic}", FILLER * 3) for topic in TOPICS]
    chapters.insert(5, ("Our people", f"{people} We think of them as our team."))
    talk.stored(client, talk.file(markdown("Annual report", chapters), name), to=made)


def test_a_firm_is_asked_for_what_its_own_report_says_of_us(server: Stack):
    made = talk.collection(server.client, "Reports")
    nordvik, sandhaven = (
        "We had approximately 73,300 employees worldwide.",
        "We employed 22,516 people in May.",
    )
    annual_report(server.client, made, "Nordvik", nordvik, "0000320187.md")
    annual_report(server.client, made, "Sandhaven", sandhaven, "0000796343.md")

    for asked, told in (
        ("How many people work for Nordvik?", nordvik),
        ("Nordvik number of employees", nordvik),
        ("How many people work for Sandhaven?", sandhaven),
    ):
        assert answer(server.client, asked, made) == told.replace(".", " [1].")


def answer(client: httpx.Client, asked: str, made: str) -> str:
    text: str = client.post("/v1/query", json={"query": asked, "collections": [made]}).json()["answer"]
    return text


def test_two_firms_are_each_asked_for_what_their_own_report_says(server: Stack):
    made = talk.collection(server.client, "Reports")
    nordvik = "We had approximately 73,300 employees worldwide."
    sandhaven = "We employed 22,516 people in May."
    annual_report(server.client, made, "Nordvik", nordvik, "0000320187.md")
    annual_report(server.client, made, "Sandhaven", sandhaven, "0000796343.md")
    annual_report(server.client, made, "Tarnstedt", "We are led by Ida Berg.", "0000796344.md")

    for asked in (
        "How many people work for Nordvik and Sandhaven?",
        "Does Nordvik or Sandhaven have more employees?",
        "Nordvik vs Sandhaven: number of employees",
        "How many people work for Nordvik, and how many people does Sandhaven employ?",
    ):
        told = answer(server.client, asked, made)
        assert "73,300" in told, asked
        assert "22,516" in told, asked

    # Of the third firm it is not said: only the other one is told, and where they are compared neither.
    told = answer(server.client, "How many people work for Tarnstedt and Nordvik?", made)
    assert told == nordvik.replace(".", " [1].")
    assert (
        answer(server.client, "Compare the number of employees of Tarnstedt and Nordvik", made) == NO_ANSWER
    )


def test_two_questions_about_one_firm_are_both_answered(server: Stack):
    made = talk.collection(server.client, "Reports")
    people = "We had approximately 73,300 employees worldwide. Our chief executive officer is Ida Berg."
    annual_report(server.client, made, "Nordvik", people, "0000320187.md")

    told = answer(
        server.client, "How many employees does Nordvik have, and who is its chief executive officer?", made
    )

    assert "73,300" in told
    assert "Ida Berg" in told


FIRM = "Northwind Ferries"
PAYDAY = "Wages arrive on the 27th of each month."


def test_whose_handbook_it_is_does_not_hide_what_answers(server: Stack):
    made = talk.collection(server.client, "Whose handbook")
    for topic in TOPICS:
        told = f"{FIRM} has rules for {topic}. At {FIRM} {topic} are checked daily, and payday is no excuse."
        talk.stored(server.client, talk.file(markdown(topic, [(topic, told)]), f"{topic}.md"), to=made)
    talk.stored(server.client, talk.file(markdown("Money", [("Payday", PAYDAY)]), "money.md"), to=made)

    first = found(server.client, f"When is payday at {FIRM}?", collections=[made])[0]

    assert PAYDAY in first["content"]
    reply = post(server.client, f"When is payday at {FIRM}?", collections=[made], explain=first["chunk_id"])
    ranks = {one["stage"]: one["rank"] for one in reply.json()["explanation"]["stages"]}
    assert (ranks["dense"], ranks["top_k"]) == (1, 1)
    told = answer(server.client, f"When is payday at {FIRM.lower()}?", made)
    assert told == PAYDAY.replace(".", " [1].")
