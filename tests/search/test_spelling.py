"""GET /v1/spelling: words that no document has, as they may have been meant."""

import httpx
import pytest

from tests.support.api import assert_problem, embed, ingest
from tests.support.stack import Stack

TEXT = (
    b"# Harbour\n\nThe lighthouse keeper of Norderney counted 253 steps. The ferry to Juist left at noon.\n"
)


def fill(server: Stack, text: bytes, name: str) -> httpx.Client:
    ingest(server.client, text, name)
    embed(server.client)
    return server.client


@pytest.fixture
def harbour(server: Stack) -> httpx.Client:
    return fill(server, TEXT, "harbour.md")


def suggestion(client: httpx.Client, question: str, **parameters: str) -> str | None:
    reply = client.get("/v1/spelling", params={"q": question, **parameters})
    assert reply.status_code == 200, reply.text
    return reply.json()["suggestion"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Who is the keeper of Nordernay?", "Who is the keeper of Norderney?"),  # another letter
        ("Who is the keeper of Nordrney?", "Who is the keeper of Norderney?"),  # one missing
        ("Who is the keeper of Nordernney?", "Who is the keeper of Norderney?"),  # one too many
        ("Who is the keeper of Nrodernye?", None),  # two errors in one word
        ("Who is the keeper of Nordenrey?", "Who is the keeper of Norderney?"),  # two changed places
        ("Which fery left for Jiust?", "Which ferry left for Juist?"),
        ("Who is the keeper of Norderney?", None),
        ("xx yy?", None),
    ],
)
def test_one_wrong_letter_is_put_right(harbour: httpx.Client, typed: str, meant: str | None):
    assert suggestion(harbour, typed) == meant


def test_words_of_collections_that_are_not_asked_are_not_suggested(harbour: httpx.Client):
    harbour.post("/v1/collections", json={"name": "empty"})

    assert suggestion(harbour, "Where is Nordernay?", collection="empty") is None
    assert_problem(harbour.get("/v1/spelling", params={"q": "a", "collection": "none"}), 404, "NOT_FOUND")
    assert_problem(harbour.get("/v1/spelling", params={"q": " "}), 400, "VALIDATION_ERROR")


@pytest.mark.parametrize("name", ["Nordernay", "Nordrney", "Nordenrey", "Nordernney"])
def test_a_question_with_a_name_one_letter_off_is_answered_as_it_was_meant(harbour: httpx.Client, name: str):
    asked = f"Show the keeper of {name}"  # the sentence reader reads no commands
    reply = harbour.post("/v1/query", json={"query": asked}).json()

    assert "counted 253 steps" in reply["answer"]
    assert reply["rewritten_query"] == asked.replace(name, "Norderney")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("boon of the steps", None),  # a word of English, though "noon" is near
        ("keeper of Boon", "keeper of noon"),  # a name that was typed wrongly may be a word
    ],
)
def test_a_usual_word_is_answered_as_it_is_typed(harbour: httpx.Client, asked: str, meant: str | None):
    assert harbour.post("/v1/query", json={"query": asked}).json()["rewritten_query"] == meant


def test_what_no_word_of_the_documents_is_near_to_stays_unanswered(harbour: httpx.Client):
    reply = harbour.post("/v1/query", json={"query": "How tall is the mayor of Zurich?"}).json()

    assert reply["reason"] == "below_threshold"
    assert reply["rewritten_query"] is None


LEDGER = (
    b"# Ledger\n\nThe free cash flow of Brambletown Ltd was 5,120 thousand pounds in 2019. Its timesheet"
    b" is sent by email to the foreman. The archive holds 500 GB of scans since May 4."
    b" Rule COVID-19 closed the hall.\n"
)


@pytest.fixture
def ledger(server: Stack) -> httpx.Client:
    return fill(server, LEDGER, "ledger.md")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("free cash flow of Brambletown in FY2019", "free cash flow of Brambletown in 2019"),
        ("free cash flow of Brambletown in FY 19", "free cash flow of Brambletown in 2019"),
        ("free cash flow of Brambletown in fiscal 2019", "free cash flow of Brambletown in 2019"),
        ("free cash flow of Brambletown in financial year 2019", "free cash flow of Brambletown in 2019"),
        ("free cash flow of Brambletown in FY2018", None),  # no document has the year
        ("timesheet by e-mail", "timesheet by email"),
        ("archive of 500GB", "archive of 500 GB"),
        ("hall closed by COVID19", "hall closed by COVID 19"),
        ("archive on the 4th of May", "archive on the 4 of May"),
        ("archive on May 4th", "archive on May 4"),
        ("the 4th archive", None),  # no day
        ("hall closed by COVID-19", None),  # as the document has it
    ],
)
def test_compounds_are_searched_and_answered_as_the_documents_write_them(
    ledger: httpx.Client, typed: str, meant: str | None
):
    reply = ledger.post("/v1/query", json={"query": typed}).json()
    found = ledger.post("/v1/search", json={"query": typed}).json()

    assert reply["rewritten_query"] == meant
    assert found["results"][0]["relevance"] == pytest.approx(
        ledger.post("/v1/search", json={"query": meant or typed}).json()["results"][0]["relevance"]
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("free cashflow of Brambletown", "free cash flow of Brambletown"),
        ("time sheet of the foreman", "timesheet of the foreman"),
        ("Who is Cashflow?", None),  # a name is left whole
    ],
)
def test_two_words_written_as_one_and_one_as_two_are_put_right(
    ledger: httpx.Client, typed: str, meant: str | None
):
    assert suggestion(ledger, typed) == meant
