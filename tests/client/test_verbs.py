"""The verbs of both clients against a running Knowlex."""

from collections.abc import Callable
from pathlib import Path

import pytest

from knowlex_client import (
    Conflict,
    InvalidRequest,
    NotFound,
    Progress,
    WaitedTooLong,
    operations,
)
from knowlex_client.models import QueryAnswer
from tests.client.conftest import Either
from tests.support.api import UNKNOWN_ID
from tests.support.pdf import make_pdf
from tests.support.stack import Stack
from tests.support.waiting import wait_until

TEXT = "The lighthouse of Norderney has 253 steps. It was lit for the first time on 1 October 1874."
STEPS = "How many steps does the lighthouse of Norderney have?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A PDF, a file below, one that is no document, and a hidden one."""
    (tmp_path / "below").mkdir()
    (tmp_path / "norderney.pdf").write_bytes(make_pdf(TEXT))
    (tmp_path / "below" / "lamp.md").write_text("# Lamps\n\nThe lamp in the hall is green.")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    (tmp_path / ".hidden.md").write_text("Nobody sees this.")
    return tmp_path


def test_a_folder_is_ingested_and_asked(knowlex: Either, folder: Path):
    told: list[Progress] = []
    ingested = knowlex.ingest(folder, ("notes.txt", b"The bell rings at noon."), progress=told.append)

    assert {one.filename for one in ingested.documents} == {
        "norderney.pdf",
        "lamp.md",
        "broken.pdf",
        "notes.txt",
    }
    (failed,) = ingested.failed
    assert failed.filename == "broken.pdf"
    assert failed.error
    assert told[0] == Progress(files=4, sent=4)
    assert (told[-1].processed, told[-1].failed) == (4, 1)
    again = knowlex.ingest(folder / "norderney.pdf")
    assert (again.failed, [one.filename for one in again.duplicates]) == ([], ["norderney.pdf"])
    answer = knowlex.ask(STEPS)
    assert "253 steps" in answer.answer
    assert answer.citations[0].document_name == "norderney.pdf"
    assert knowlex.search("lamp", top_k=1, mode="sparse").results[0].document_name == "lamp.md"
    assert knowlex.ask("Which opera is about the silver mine?").reason is not None


def test_an_answer_streams_as_it_is_returned_whole(knowlex: Either):
    knowlex.ingest(("norderney.txt", TEXT.encode()))
    whole = knowlex.ask(STEPS)
    *texts, last = knowlex.stream(STEPS)

    assert "".join(texts) == last.answer == whole.answer
    assert isinstance(last, QueryAnswer)
    assert (last.citations, last.sources) == (whole.citations, whole.sources)


def test_documents_are_shown_with_their_pages_and_quotes(knowlex: Either):
    (document,) = knowlex.ingest(("norderney.pdf", make_pdf(TEXT))).documents
    (citation,) = knowlex.ask(STEPS).citations

    assert [one.id for one in knowlex.documents(status="completed", q="norder")] == [document.id]
    assert TEXT in knowlex.document(document.id).content
    assert [page.page_number for page in knowlex.pages(document.id)] == [1]
    assert "253 steps" in knowlex.page(document.id, 1).text
    assert knowlex.page_image(document.id, 1, width=400).startswith(b"\x89PNG")
    place = citation.start_char, citation.end_char
    marked = knowlex.highlights(citation.document_id, *place, checksum=citation.checksum)
    assert marked.quoted_text == citation.quoted_text
    assert marked.pages[0].rects
    knowlex.delete_document(document.id)
    assert knowlex.documents() == []


def test_lists_are_read_to_their_end(knowlex: Either):
    knowlex.ingest(*((f"{n}.txt", f"Text number {n}.".encode()) for n in range(5)))

    listed = knowlex.each(operations.list_platform_documents, lambda page: page.documents, limit=2)
    assert {one.filename for one in listed} == {f"{n}.txt" for n in range(5)}


def test_answers_are_rated(knowlex: Either, server: Stack):
    knowlex.ingest(("norderney.txt", TEXT.encode()))
    query_id = knowlex.ask(STEPS).query_id
    wait_until(lambda: server.client.get(f"/v1/queries/{query_id}").is_success, what="the answer's record")

    knowlex.feedback(query_id, "thumbs_up", comment="Right.")
    assert server.client.get("/v1/queries?rating=thumbs_up").json()["queries"][0]["query_id"] == str(query_id)


def test_a_question_set_is_evaluated(knowlex: Either):
    knowlex.ingest(("norderney.txt", TEXT.encode()))
    questions = [{"question": STEPS, "document": "norderney.txt"}]
    knowlex.call(operations.create_question_set, {"name": "steps", "questions": questions})

    measured = knowlex.evaluate("steps", configurations=[{"name": "words", "settings": {"mode": "sparse"}}])
    assert measured.status == "completed"
    assert measured.configurations[0].metrics["hit@1"].value == 1


def test_collections_are_made_listed_and_removed(knowlex: Either):
    made = knowlex.create_collection("Manuals", description="Of machines.")
    assert {one.name for one in knowlex.collections()} == {"default", "Manuals"}
    with pytest.raises(Conflict):
        knowlex.create_collection("Manuals")
    knowlex.delete_collection(made.id)
    assert {one.name for one in knowlex.collections()} == {"default"}


def test_errors_have_the_servers_code_and_message(knowlex: Either):
    with pytest.raises(InvalidRequest) as raised:
        knowlex.ask("")
    assert (raised.value.status, raised.value.code, raised.value.details) == (
        400,
        "INVALID_QUERY",
        {"field": "query"},
    )
    assert raised.value.request_id
    with pytest.raises(NotFound, match="Collection not found") as raised:
        list(knowlex.stream(STEPS, collections=["nowhere"]))
    assert raised.value.code == "NOT_FOUND"
    with pytest.raises(NotFound) as raised:
        knowlex.call(operations.get_model, model="gpt-4")
    assert raised.value.code == "model_not_found"
    with pytest.raises(NotFound):
        knowlex.document(UNKNOWN_ID)


def test_waiting_ends_when_nothing_moves(server: Stack, make_client: Callable[..., Either]):
    with server.paused_worker(), pytest.raises(WaitedTooLong, match=r"has not moved for 0\.5 s"):
        make_client(server.url).ingest(("norderney.txt", TEXT.encode()), patience_s=0.5)


def test_what_an_operation_does_not_take_is_refused_before_anything_is_sent(
    make_client: Callable[..., Either],
):
    nobody = make_client("http://127.0.0.1:9")
    with pytest.raises(TypeError, match="get_page needs number"):
        nobody.call(operations.get_page, document_id=UNKNOWN_ID)
    with pytest.raises(TypeError, match="no parameter colour"):
        nobody.call(operations.list_queries, colour="red")
    with pytest.raises(TypeError, match="takes no body"):
        nobody.call(operations.list_queries, {})
    with pytest.raises(ValueError, match="no file"):
        nobody.ingest()
