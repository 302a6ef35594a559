"""The library on the page: bringing documents in, looking at one, replacing and deleting it."""

import base64
import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.page.conftest import OpenPage, ask
from tests.support.api import embed, ingest
from tests.support.pdf import make_pdf
from tests.support.stack import Stack

TOWERS = make_pdf("The tower has 253 steps.", "It was built of granite in 1893.", "A lamp stands at its top.")


def drop(page: Page, files: dict[str, bytes]) -> None:
    """Drop files on the page as a person does, from outside the browser."""
    encoded = {name: base64.b64encode(data).decode() for name, data in files.items()}
    transfer = page.evaluate_handle(
        """(files) => {
            const transfer = new DataTransfer();
            for (const [name, data] of Object.entries(files))
                transfer.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name));
            return transfer;
        }""",
        encoded,
    )
    page.dispatch_event(".drop", "drop", {"dataTransfer": transfer})


def test_dropped_files_can_be_asked_when_they_are_ready(server: Stack, open_page: OpenPage):
    page = open_page(server, "/documents")

    drop(
        page,
        {
            "towers.pdf": TOWERS,
            "program.bin": b"\x7fELF\x02\x01\x01",
            "notes.md": b"# Notes\n\nThe lamp is green.\n",
        },
    )

    rows = page.locator(".uploads li")
    expect(rows.filter(has_text="towers.pdf")).to_contain_text("✓ ready", timeout=60_000)
    expect(rows.filter(has_text="notes.md")).to_contain_text("✓ ready", timeout=60_000)
    expect(rows.filter(has_text="program.bin")).to_contain_text("The file seems to be a program")
    expect(page.locator(".library li")).to_have_count(3)
    rows.filter(has_text="towers.pdf").get_by_role("link", name="ask about it").click()
    expect(page.get_by_role("button", name="Ask all documents again")).to_contain_text("Only towers.pdf")
    ask(page, "How many steps has the tower?")
    expect(page.locator("article.turn .answer")).to_contain_text("253 steps")


def test_a_folder_of_many_files_comes_in_by_few_requests_and_waits_when_there_were_too_many(
    server: Stack, open_page: OpenPage
):
    page = open_page(server, "/documents", expected="429")
    sent: list[str] = []

    def on_upload(route: Route) -> None:
        sent.append(route.request.method)
        if len(sent) == 1:
            route.fulfill(
                status=429,
                headers={"Retry-After": "1"},
                json={"error": "RATE_LIMITED", "message": "Too many."},
            )
        else:
            route.continue_()

    page.route("**/v1/ingest", on_upload)
    notes = {f"note-{n:03}.txt": f"Lamp number {n} is green.".encode() for n in range(220)}
    drop(page, {**notes, "z.bin": b"\x7fELF\x02\x01\x01"})

    page.get_by_role("button", name="Clear this list").wait_for(timeout=90_000)
    expect(page.locator(".uploads li.completed")).to_have_count(200)
    expect(page.locator(".uploads li.failed")).to_contain_text(["z.bin"])
    assert server.client.get("/v1/collections").json()["collections"][0]["document_count"] == 220
    assert len(sent) <= 6


def test_an_empty_file_keeps_no_other_out(server: Stack, open_page: OpenPage):
    page = open_page(server, "/documents", expected="400")

    drop(page, {"towers.pdf": TOWERS, "empty.txt": b"", "notes.md": b"# Notes\n\nThe lamp is green.\n"})

    rows = page.locator(".uploads li")
    expect(rows.filter(has_text="ready")).to_have_count(2, timeout=60_000)
    expect(rows.filter(has_text="empty.txt")).to_contain_text("The file empty.txt is empty.")


def test_leaving_while_files_are_sent_warns(server: Stack, open_page: OpenPage):
    page = open_page(server, "/documents")
    leave = "dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    assert page.evaluate(leave)
    page.route("**/v1/ingest", lambda route: None)  # never answered

    drop(page, {"towers.pdf": TOWERS})

    expect(page.locator(".uploads li")).to_contain_text("sending")
    assert not page.evaluate(leave)


def test_a_refused_file_is_told_in_the_readers_language(server: Stack, open_page: OpenPage):
    page = open_page(server, "/documents", locale="de-DE")

    drop(page, {"program.bin": b"\x7fELF\x02\x01\x01"})

    row = page.locator(".uploads li")
    expect(row).to_contain_text("Die Datei kann nicht gelesen werden. (The file seems to be a program")


def test_the_states_of_documents_move_by_themselves(server: Stack, open_page: OpenPage):
    ingest(server.client, TOWERS, "towers.pdf")
    page = open_page(server, "/documents")
    row = page.locator(".library li")
    expect(row).to_contain_text("waiting")

    embed(server.client)

    expect(row).to_contain_text("ready", timeout=15_000)


def test_a_failed_document_says_why_and_offers_no_question(server: Stack, open_page: OpenPage):
    files = {"file": ("torn.pdf", b"%PDF-1.4 torn")}
    job = server.client.post("/v1/ingest", data={"collection_id": "default"}, files=files).json()
    job = server.client.get(f"/v1/ingest/{job['job_id']}", params={"wait": 60}).json()
    (document,) = job["documents"]
    page = open_page(server, f"/documents/{document['id']}", width=390)

    expect(page).to_have_title("torn.pdf - Knowlex")
    expect(page.locator(".problem")).to_have_text("The PDF is damaged and cannot be read.")
    expect(page.locator(".facts")).to_contain_text("13 bytes")
    expect(page.get_by_role("heading", name="Passages")).to_have_count(0)
    expect(page.get_by_role("link", name="Ask about this document")).to_have_count(0)


def test_a_file_that_is_there_already_is_shown_and_no_failure(server: Stack, open_page: OpenPage):
    id_ = ingest(server.client, TOWERS, "towers.pdf")["documentId"]
    page = open_page(server, "/documents")

    drop(page, {"again.pdf": TOWERS})

    row = page.locator(".uploads li")
    expect(row).to_contain_text("is already here", timeout=60_000)
    row.get_by_role("link", name="show it").click()
    expect(page).to_have_url(re.compile(rf"/documents/{id_}$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("towers.pdf")


def test_an_earlier_version_of_the_same_name_can_go(server: Stack, open_page: OpenPage):
    page = open_page(server, "/documents")
    rows = page.locator(".uploads li")
    for number, text in enumerate((b"The office opens at eight.", b"The office opens at nine."), start=1):
        drop(page, {"opening-hours.txt": text})
        expect(rows.filter(has_text="ready")).to_have_count(number, timeout=60_000)

    row = rows.filter(has_text="Another one of this name is here")
    expect(row).to_have_count(1)
    page.on("dialog", lambda dialog: dialog.accept())
    row.get_by_role("button", name="Delete the older one").click()

    expect(row).to_have_count(0)
    expect(page.locator(".library li").filter(has_text="opening-hours.txt")).to_have_count(1)


def test_a_document_shows_its_facts_pages_and_passages(server: Stack, open_page: OpenPage):
    id_ = ingest(server.client, TOWERS, "towers.pdf")["documentId"]
    embed(server.client)
    page = open_page(server, f"/documents/{id_}")

    facts = page.locator(".facts")
    expect(facts).to_contain_text("ready")
    expect(facts).to_contain_text("English")
    expect(facts.get_by_role("link", name="default")).to_have_attribute(
        "href", "/documents?collection=default"
    )
    expect(page.locator(".strip a")).to_have_count(3)
    expect(page.locator(".strip a").first).to_have_attribute("title", "Page 1: read as text")
    page.locator(".strip a").nth(1).click()
    expect(page.locator(".viewer")).to_contain_text("page 2 of 3")
    page.get_by_role("button", name="Close the page").click()
    passage = page.locator(".chunks button").first
    passage.click()
    expect(page.locator(".marks rect").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(passage).to_be_focused()


def test_the_passages_of_a_long_document_are_read_on(server: Stack, open_page: OpenPage):
    text = "\n\n".join(f"## Lamp {n}\n\nLamp number {n} burns oil." for n in range(130))
    id_ = ingest(server.client, text.encode(), "lamps.md")["documentId"]
    page = open_page(server, f"/documents/{id_}")

    expect(page.locator(".chunks li")).to_have_count(100)
    page.get_by_role("button", name="More passages").click()
    expect(page.locator(".chunks li")).to_have_count(130)
    expect(page.locator(".chunks li").last).to_contain_text("Lamp number 129")
    expect(page.get_by_role("button", name="More passages")).to_have_count(0)


def test_a_new_version_takes_over_and_says_so_where_the_old_one_was_quoted(
    server: Stack, open_page: OpenPage
):
    id_ = ingest(server.client, TOWERS, "towers.pdf")["documentId"]
    embed(server.client)
    page = open_page(server)
    ask(page, "How many steps has the tower?")
    page.locator("button.marker.exact").first.click()
    expect(page.locator(".marks rect")).to_have_count(1)
    link = page.evaluate("document.activeElement.closest('.viewer') && location.href")
    page.goto(f"/documents/{id_}")

    with page.expect_file_chooser() as chooser:
        page.get_by_text("Replace", exact=True).click()
    chooser.value.set_files(
        {"name": "towers.pdf", "mimeType": "application/pdf", "buffer": make_pdf("It has 254 steps.")}
    )

    expect(page.locator(".facts")).to_contain_text("Pages1", timeout=60_000)
    expect(page.get_by_text("The new version is here.")).to_be_in_viewport(ratio=1, timeout=60_000)
    with page.expect_file_chooser() as chooser:
        page.get_by_text("Replace", exact=True).click()
    chooser.value.set_files({"name": "towers.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4 torn"})
    expect(page.locator(".status")).to_contain_text("The PDF is damaged and cannot be read.", timeout=60_000)
    page.goto(link)
    expect(page.locator(".viewer .notice")).to_contain_text("This document has a newer version.")
    expect(page.locator(".marks rect")).to_have_count(0)


def test_a_deleted_document_leaves_a_receipt_and_is_gone(server: Stack, open_page: OpenPage):
    id_ = ingest(server.client, TOWERS, "towers.pdf")["documentId"]
    embed(server.client)
    page = open_page(server, f"/documents/{id_}", expected="404")
    page.on("dialog", lambda dialog: dialog.accept())

    page.get_by_role("button", name="Delete").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Deleted")
    expect(page.locator("main")).to_contain_text("3 pages, 3 passages, 3 vectors and the file are gone.")
    page.goto(f"/documents/{id_}")
    expect(page.get_by_role("alert")).to_contain_text("Document not found")


def test_documents_are_found_sorted_and_read_on(server: Stack, open_page: OpenPage):
    documents = [
        {"source": {"type": "text", "content": f"Note {n} about lamps.", "filename": f"note-{n:03}.txt"}}
        for n in range(80)
    ]
    job = server.client.post("/v1/ingest", json={"collection_id": "default", "documents": documents}).json()
    server.client.get(f"/v1/ingest/{job['job_id']}", params={"wait": 60})
    page = open_page(server, "/documents?sort=title")

    expect(page.locator(".library li").first).to_contain_text("note-000.txt")
    page.locator(".library li").nth(45).scroll_into_view_if_needed()
    expect(page.locator(".library li")).to_have_count(80)
    page.get_by_role("searchbox", name="Find by name or title").fill("note-07")
    expect(page.locator(".library li")).to_have_count(10)
    page.get_by_role("combobox", name="Order").select_option("-created_at")
    expect(page).to_have_url(re.compile(r"q=note-07.*sort=-created_at|sort=-created_at.*q=note-07"))


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>.md", "ملف عربي.md", "a" * 200 + ".md"])
def test_any_name_is_shown_as_it_is(server: Stack, open_page: OpenPage, name: str):
    ingest(server.client, b"# Lamp\n\nThe lamp in the hall is green.\n", name)
    page = open_page(server, "/documents", width=390)

    expect(page.locator(".library .name b")).to_have_text(name)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
