"""Office files and mail over HTTP: found, cited by sheet, slide or chapter, and what came with a mail."""

from email.message import EmailMessage
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.extraction.test_docx import saved
from tests.extraction.test_mail import letter
from tests.extraction.test_office_formats import entry, epub, odt, talk
from tests.extraction.test_sheets import TOWNS, workbook
from tests.platform.talk import collection, file, ingested, stored
from tests.support.stack import Stack

BOOK = epub(
    {"one.xhtml": "<p>The owl of Norderney sees at night.</p>", "two.xhtml": "<p>Foxes sleep.</p>"},
    entry("The Owl", "one.xhtml") + entry("The Fox", "two.xhtml"),
)
CASES = [
    (
        workbook(Notes=[["x"]], Towns=[["Town", "People", "Bridges"], *TOWNS]),
        "a.xlsx",
        "Town 77",
        "Towns, rows ",
    ),
    (b"town,bridges\nRome,31\nBari,2\n", "towns.csv", "bridges of Rome", "rows 1-3"),
    (saved(talk()), "talk.pptx", "Rome sold", "slide 3"),
    (
        odt('<text:h text:outline-level="1">Lamps</text:h><text:p>They are green.</text:p>'),
        "a.odt",
        "green",
        "Lamps",
    ),
    (rb"{\rtf1 The bell rings at noon.}", "a.rtf", "bell noon", None),
    (BOOK, "book.epub", "owl Norderney", "The Owl"),
    (letter("The harbour freezes in January.").as_bytes(), "a.eml", "harbour January", "The lamp"),
]


@pytest.mark.parametrize(("data", "name", "words", "place"), CASES, ids=[case[1] for case in CASES])
def test_a_passage_says_where_in_its_file_it_stands(
    client: httpx.Client, data: bytes, name: str, words: str, place: str | None
):
    to = collection(client, f"Of {name}")
    document = stored(client, file(data, name), to=to)
    found = client.post("/v1/search", json={"query": words, "collections": [to], "mode": "sparse"}).json()
    best = found["results"][0]
    assert best["document_id"] == document
    assert best["place"] == place or (best["place"] or "").startswith(place or " ")
    described = client.get(f"/v1/documents/{document}").json()
    assert described["type"] == name.rpartition(".")[2]


def attached(mail: EmailMessage, data: bytes, name: str) -> EmailMessage:
    mail.add_attachment(data, "application", "octet-stream", filename=name)
    return mail


def by_name(job: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["filename"]: one for one in job["documents"]}


def test_what_is_attached_to_a_mail_becomes_documents_of_its_job(client: httpx.Client):
    to = collection(client, "Mails")
    inner = attached(letter("An older letter."), b"# Deep\n\nThe well is deep.", "deep.md")
    inner.replace_header("Subject", "Older")
    mail = attached(letter(), workbook(Towns=[["Town", "Sold"], ["Rome", 31]]), "sales.xlsx")
    attached(mail, b"PK\x03\x04 nothing", "broken.docx")
    mail.add_attachment(b"\x89PNG", "image", "png", filename="logo.png")
    mail.add_attachment(inner)
    job = ingested(client, file(mail.as_bytes(), "order.eml", team="south"), to=to)
    documents = by_name(job)

    assert sorted(documents) == ["Older.eml", "broken.docx", "deep.md", "order.eml", "sales.xlsx"]
    assert (job["progress"]["total"], job["progress"]["failed"], job["status"]) == (5, 1, "completed")
    assert documents["broken.docx"]["error_code"] == "UNPROCESSABLE"
    about = client.get(f"/v1/documents/{documents['sales.xlsx']['id']}").json()["metadata"]
    assert (about["attachment_of"], about["attachment_of_name"]) == (
        documents["order.eml"]["id"],
        "order.eml",
    )
    assert (about["attachment_depth"], about["team"]) == (1, "south")
    deep = client.get(f"/v1/documents/{documents['deep.md']['id']}").json()["metadata"]
    assert (deep["attachment_of"], deep["attachment_depth"]) == (documents["Older.eml"]["id"], 2)
    query = {"query": "Rome", "collections": [to], "mode": "sparse"}
    assert client.post("/v1/search", json=query).json()["results"][0]["place"] == "Towns, rows 1-2"

    second = attached(letter("Again."), workbook(Towns=[["Town", "Sold"], ["Rome", 31]]), "copy.xlsx")
    attached(second, b"# Deep\n\nThe well is deep.", "again.md")
    again = by_name(ingested(client, file(second.as_bytes(), "again.eml"), to=to))
    assert (again["again.md"]["error_code"], again["again.md"]["duplicate_of"]) == (
        "DUPLICATE",
        documents["deep.md"]["id"],
    )


def test_mails_within_mails_end_somewhere_and_say_so(client: httpx.Client):
    to = collection(client, "Deep mails")
    mail = letter("The innermost.")
    for depth in range(5):
        around = letter(f"Around {depth}.")
        around.replace_header("Subject", f"Level {depth}")
        around.add_attachment(mail)
        mail = around
    documents = by_name(ingested(client, file(mail.as_bytes(), "outer.eml"), to=to))
    assert sorted(documents) == ["Level 1.eml", "Level 2.eml", "Level 3.eml", "outer.eml"]
    assert "left out" in documents["Level 1.eml"]["warnings"][0]
    assert documents["Level 2.eml"]["warnings"] == []


@pytest.mark.slow
def test_slides_and_sheets_are_sane_and_survive_a_copy(server: Stack, tmp_path: Path):
    to, archive = collection(server.client, "Office"), str(tmp_path / "office.tar.gz")
    job = ingested(server.client, *(file(data, name) for data, name, *_ in CASES), to=to)
    assert job["progress"]["failed"] == 0
    server.manage("export_collection", "Office", archive)
    server.manage("import_collection", archive, "--collection", "Copy")
    assert "All is well" in server.manage("sanity", "--deep")
    for place in ("Office", "Copy"):
        asked = {"query": "Town 77", "collections": [place], "mode": "sparse"}
        best = server.client.post("/v1/search", json=asked).json()["results"][0]
        assert (best["chapter"], best["page_number"]) == ("Towns", 2)
