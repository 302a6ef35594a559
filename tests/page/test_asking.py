"""Asking on the page: answers, citations, the marked page, conversations."""

import html
import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.extraction.test_sheets import workbook
from tests.page.conftest import OpenPage, ask
from tests.platform.talk import file, stored
from tests.provider import Provider
from tests.support.api import embed, ingest
from tests.support.pdf import make_pdf
from tests.support.stack import Stack
from tests.support.waiting import wait_until
from tests.viewing import printed
from tests.viewing.printed import PrintedPage

QUESTION = "How many steps did the lighthouse keeper count?"
QUOTE = "A lighthouse keeper counted 253 steps every evening."


@pytest.fixture
def library(server: Stack) -> Stack:
    """A Knowlex with one document of one page."""
    page = PrintedPage()
    printed.plain(page)
    ingest(server.client, page.pdf(), "harbour.pdf")
    embed(server.client)
    return server


def test_an_answer_shows_its_sources_and_each_citation_opens_its_page(library: Stack, open_page: OpenPage):
    page = open_page(library)
    expect(page.locator(".welcome")).to_contain_text("Answers were measured in German, English, and Spanish;")

    ask(page, QUESTION)

    turn = page.locator("article.turn")
    expect(turn.locator(".sources li")).to_contain_text(["harbour.pdf, page 1"])
    marker = turn.locator("button.marker.exact").first
    expect(marker).to_have_accessible_name(re.compile(r"Source 1: harbour\.pdf, page 1\. word for word\."))
    marker.hover()
    card = page.locator(".card")
    expect(card).to_contain_text(QUOTE)
    expect(card).to_contain_text("These words stand in the document.")
    card.hover()  # the pointer can go into it
    expect(card).to_be_visible()
    marker.click()
    assert _marked_text(page) == QUOTE
    expect(page.locator(".viewer img")).to_have_js_property("complete", True)


def test_a_cell_is_cited_by_its_sheet_and_rows(server: Stack, open_page: OpenPage):
    stored(
        server.client, file(workbook(Towns=[["Town", "Bridges"], ["Rome", 31], ["Bari", 2]]), "towns.xlsx")
    )
    page = open_page(server)
    ask(page, "How many bridges has Rome?")
    turn = page.locator("article.turn")
    expect(turn.locator(".sources li")).to_contain_text(["towns.xlsx, Towns, rows 1-3"])
    turn.locator("button.marker").first.click()
    expect(page.locator(".viewer mark")).to_have_text("Rome | 31")  # and not the header
    page.get_by_role("button", name="Copy with sources").click()
    assert "“Rome | 31”" in page.evaluate("navigator.clipboard.readText()")
    german = open_page(server, f"/?{page.url.partition('?')[2]}", locale="de-DE")
    expect(german.locator("article.turn .sources li")).to_contain_text(["towns.xlsx, Towns, Zeilen 1 bis 3"])


def test_the_marked_rectangle_lies_where_the_sentence_is_printed(library: Stack, open_page: OpenPage):
    page = open_page(library)
    ask(page, QUESTION)

    page.locator("button.marker.exact").first.click()

    paper = page.locator(".paper").bounding_box()
    mark = page.locator(".marks rect").bounding_box()
    assert paper
    assert mark
    printed_page = PrintedPage()
    printed.plain(printed_page)
    (phrase,) = (phrase for phrase in printed_page.phrases if phrase.words == QUOTE)
    left, top, right, bottom = phrase.boxes[0]
    assert (mark["x"] - paper["x"]) / paper["width"] == pytest.approx(left, abs=0.01)
    assert (mark["y"] - paper["y"]) / paper["height"] == pytest.approx(top, abs=0.01)
    assert mark["width"] / paper["width"] == pytest.approx(right - left, abs=0.015)
    assert mark["height"] / paper["height"] == pytest.approx(bottom - top, abs=0.01)


def test_the_address_holds_the_conversation_and_the_open_quote(library: Stack, open_page: OpenPage):
    page = open_page(library)
    ask(page, QUESTION)
    page.locator("button.marker.exact").first.click()
    expect(page.locator(".marks rect")).to_have_count(1)

    page.reload()

    expect(page.locator("article.turn h2")).to_have_text(QUESTION)
    expect(page).to_have_title(f"{QUESTION} - Knowlex")
    expect(page.locator("article.turn .answer")).to_contain_text("253 steps")
    assert _marked_text(page) == QUOTE


def test_a_follow_up_begins_at_the_top_and_a_long_question_leaves_room_for_its_answer(
    library: Stack, open_page: OpenPage
):
    page = open_page(library, height=500)
    ask(page, QUESTION)
    ask(page, f"{QUESTION} {'And who was told of them, and when? ' * 50}")

    heading = page.locator("article.turn h2").last
    expect(heading).to_be_in_viewport()
    main, question = page.locator("main").bounding_box(), heading.bounding_box()
    assert main
    assert question
    assert 0 <= question["y"] - main["y"] < 60
    assert question["height"] < 150

    page.reload()

    expect(page.locator("article.turn h2").last).to_be_in_viewport()


def test_a_quote_deep_in_a_long_text_is_in_sight_at_once(server: Stack, open_page: OpenPage):
    chapters = (f"## Lamp {n}\n\n" + f"Lamp {n} burns oil of type {n * 7}. " * 30 for n in range(100))
    ingest(server.client, "\n\n".join(chapters).encode(), "lamps.md")
    embed(server.client)
    page = open_page(server)
    ask(page, "Which oil does lamp 90 burn?")

    page.locator("button.marker").first.click()

    mark = page.locator(".viewer mark")
    mark.wait_for()
    top, height = mark.evaluate("(mark) => [mark.getBoundingClientRect().top, innerHeight]")
    assert 0 < top < height


def test_a_question_that_is_not_sent_yet_is_kept_while_the_documents_are_looked_at(
    library: Stack, open_page: OpenPage
):
    page = open_page(library)
    page.fill("#question", QUESTION)

    page.get_by_role("link", name="Documents", exact=True).click()
    page.get_by_role("link", name="Ask", exact=True).click()

    expect(page.locator("#question")).to_have_value(QUESTION)
    page.press("#question", "Enter")
    page.locator("article.turn .actions").wait_for()
    page.reload()
    expect(page.locator("#question")).to_have_value("")


def test_the_collections_of_a_conversation_stay_chosen(library: Stack, open_page: OpenPage):
    library.client.post("/v1/collections", json={"name": "attic"}).raise_for_status()
    page = open_page(library, "/?collection=default&since=2001-01-01")
    ask(page, QUESTION)
    chosen = re.compile(r"[?&]collection=default\b")

    page.get_by_role("link", name="New conversation").click()

    expect(page).to_have_url(chosen)
    expect(page).not_to_have_url(re.compile("since"))
    page.goto("/")
    page.locator(".conversations li a").click()
    expect(page).to_have_url(chosen)
    expect(page).to_have_url(re.compile("since=2001-01-01"))


def test_of_a_collection_that_is_not_there_the_way_leads_to_all(library: Stack, open_page: OpenPage):
    page = open_page(library, "/?collection=ghost", expected="404")
    ask(page, QUESTION)
    page.locator(".scope summary", has_text="ghost").click()
    expect(page.get_by_role("checkbox", name="ghost")).to_be_checked()

    page.get_by_role("button", name="Ask all collections").click()

    expect(page.locator("article.turn .answer")).to_contain_text("253 steps")


def test_what_is_not_there_says_so_until_a_question_is_asked(library: Stack, open_page: OpenPage):
    page = open_page(library, "/?c=gone", expected="404")
    expect(page.get_by_role("alert")).to_have_text("Conversation not found.")

    ask(page, QUESTION)

    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("searchbox", name="Find a conversation").fill("submarine")
    expect(page.get_by_text("No conversation found.")).to_be_visible()


def test_an_answer_whose_document_was_deleted_says_that_it_is_gone(library: Stack, open_page: OpenPage):
    page = open_page(library)
    ask(page, QUESTION)
    (document,) = library.client.get("/v1/documents").json()["documents"]
    library.client.delete(f"/v1/documents/{document['id']}").raise_for_status()

    page.reload()

    turn = page.locator("article.turn")
    expect(turn).to_contain_text("The document was deleted; what it said is gone.")
    expect(turn).not_to_contain_text("checked")


def test_a_link_to_a_quote_can_be_sent(library: Stack, open_page: OpenPage):
    page = open_page(library)
    ask(page, QUESTION)
    page.locator("button.marker.exact").first.click()

    page.get_by_role("button", name="Copy link").click()

    link = page.evaluate("navigator.clipboard.readText()")
    page.goto(link)
    assert _marked_text(page) == QUOTE


def test_a_conversation_goes_on_and_is_found_again(library: Stack, open_page: OpenPage):
    page = open_page(library)
    ask(page, QUESTION)

    ask(page, "How often did the harbour freeze in the winter of 1893?")

    expect(page.locator("article.turn").nth(1).locator(".answer")).to_contain_text("froze twice")
    page.get_by_role("link", name="New conversation").click()
    expect(page.locator("article.turn")).to_have_count(0)
    page.get_by_role("searchbox", name="Find a conversation").fill("harbour FREEZE")
    page.locator(".conversations li a").click()
    expect(page.locator("article.turn h2")).to_have_text(
        [QUESTION, "How often did the harbour freeze in the winter of 1893?"]
    )


def test_an_answer_is_copied_with_its_sources(library: Stack, open_page: OpenPage):
    page = open_page(library)
    ask(page, QUESTION)

    page.get_by_role("button", name="Copy with sources").click()

    copied = page.evaluate("navigator.clipboard.readText()")
    assert "253 steps" in copied
    assert f"[1] harbour.pdf, page 1: “{QUOTE}”" in copied


def test_over_plain_http_it_is_copied_all_the_same(library: Stack, open_page: OpenPage):
    page = open_page(library)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    ask(page, QUESTION)

    page.get_by_role("button", name="Copy with sources").click()

    page.focus("#question")
    page.keyboard.press("Control+V")
    expect(page.locator("#question")).to_have_value(re.compile("253 steps"))
    page.evaluate("document.execCommand = () => false")
    page.get_by_role("button", name="Copied").click()
    expect(page.get_by_text("Select the text and copy it by hand.")).to_be_in_viewport(ratio=1)
    page.locator("button.marker.exact").first.click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_label("Copy it by hand:")).to_have_value(re.compile("/d/"))


def test_a_rating_that_was_not_taken_is_told_and_not_shown(library: Stack, open_page: OpenPage):
    page = open_page(library, expected="503")
    ask(page, QUESTION)
    refusal = {"error": "SERVICE_UNAVAILABLE", "message": "The database cannot be reached."}
    page.route("**/v1/feedback", lambda route: route.fulfill(status=503, json=refusal))

    good = page.get_by_role("button", name="This answer is good")
    good.click()

    expect(page.get_by_role("status").first).to_have_text("The database cannot be reached.")
    expect(good).to_have_attribute("aria-pressed", "false")


def test_feedback_reaches_the_record(library: Stack, open_page: OpenPage):
    page = open_page(library)
    ask(page, QUESTION)

    page.get_by_role("button", name="This answer is bad").click()
    page.get_by_role("textbox", name="What was good or bad?").fill("Too short.")
    page.get_by_role("button", name="Send").click()

    expect(page.get_by_role("button", name="This answer is bad")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("status").first).to_have_text("Thank you.")
    (query,) = library.client.get("/v1/queries").json()["queries"]

    def feedback() -> dict[str, str]:
        return library.client.get(f"/v1/queries/{query['query_id']}").json()["feedback"]

    wait_until(lambda: feedback()["comment"] == "Too short.", what="the comment")  # the rating goes before it
    assert feedback()["rating"] == "thumbs_down"


def test_without_an_answer_the_page_says_why_and_what_came_nearest(library: Stack, open_page: OpenPage):
    page = open_page(library)

    ask(page, "What is the melting point of tungsten carbide?")

    turn = page.locator("article.turn")
    expect(turn).to_contain_text("Your documents do not say enough to answer this.")
    expect(turn).to_contain_text("No passage of the documents was near enough")
    expect(turn).not_to_contain_text("%")
    turn.locator(".nearest button").first.click()
    expect(page.locator(".viewer")).to_contain_text("harbour.pdf")


def test_a_mistyped_name_is_offered_as_it_may_have_been_meant(library: Stack, open_page: OpenPage):
    page = open_page(library)
    ask(page, "What hapened to the fery?")

    page.get_by_role("button", name="What hapened to the ferry?").click()

    expect(page.locator("article.turn").nth(1).locator("h2")).to_have_text("What hapened to the ferry?")


def test_a_filter_that_hides_the_answer_can_be_dropped(library: Stack, open_page: OpenPage):
    page = open_page(library, "/?until=2001-01-01")
    ask(page, QUESTION)
    expect(page.locator("article.turn")).to_contain_text("The filters hide everything")

    page.get_by_role("button", name="Drop the filters").click()
    page.get_by_role("button", name="Ask again").click()

    expect(page.locator("article.turn .answer")).to_contain_text("253 steps")


def test_the_state_of_each_statement_can_be_seen(
    provider_server: Stack, provider: Provider, open_page: OpenPage
):
    ingest(provider_server.client, make_pdf(f"{QUOTE} The harbour froze twice in 1893."), "harbour.pdf")
    embed(provider_server.client)
    provider.says(
        "A lighthouse keeper counted 253 steps every evening [1]. The keeper seemed fond of stairs [1]."
        " The harbour froze twice in 1975 [1]."
    )
    page = open_page(provider_server)

    ask(page, QUESTION)

    answer = page.locator("article.turn .answer")
    expect(answer.locator("button.marker.exact")).to_have_count(1)
    expect(answer.locator("button.marker.unverified")).to_have_accessible_name(
        re.compile("check it yourself")
    )
    expect(answer.locator(".contradicted")).to_have_text("The harbour froze twice in 1975")
    answer.locator("button.marker.withdrawn").focus()
    expect(page.locator(".card")).to_contain_text("Not in the documents: 1975.")
    expect(page.locator(".verification")).to_contain_text("1 statement checked")
    expect(page.locator(".verification")).to_contain_text("1 withdrawn")


def test_an_answer_can_be_stopped_and_asked_again(
    provider_server: Stack, provider: Provider, open_page: OpenPage
):
    ingest(provider_server.client, make_pdf(QUOTE), "harbour.pdf")
    embed(provider_server.client)
    provider.says(lambda prompt: "The keeper counted 253 steps [1]. " * 200)
    provider.speaks_in(20, 0.05)
    page = open_page(provider_server)
    page.fill("#question", QUESTION)
    page.press("#question", "Enter")
    expect(page.locator("article.turn .sources li")).to_have_count(1)

    page.get_by_role("button", name="Stop").click()

    expect(page.locator("article.turn")).to_contain_text("Stopped. What stands here was not checked.")
    provider.reset()
    provider.says("A lighthouse keeper counted 253 steps every evening [1].")
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator("article.turn button.marker.exact")).to_have_count(1)


def test_a_question_that_fails_says_so_and_can_be_asked_again(
    provider_server: Stack, provider: Provider, open_page: OpenPage
):
    ingest(provider_server.client, make_pdf(QUOTE), "harbour.pdf")
    embed(provider_server.client)
    provider.rule("status", on="chat", status=500)
    page = open_page(provider_server, expected="503")

    ask(page, QUESTION)

    expect(page.locator("article.turn [role=alert]")).to_be_visible()
    expect(page.get_by_role("button", name="Ask again")).to_be_visible()


def test_everything_can_be_done_by_keyboard(library: Stack, open_page: OpenPage):
    page = open_page(library)
    page.locator(".brand").focus()

    page.keyboard.press("/")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.locator("article.turn .actions").wait_for()
    _tab_to(page, "button.marker.exact", backwards=True)
    expect(page.locator(".card")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".card")).to_have_count(0)
    page.keyboard.press("Enter")
    assert _marked_text(page) == QUOTE
    assert page.evaluate("document.activeElement.closest('.viewer') !== null")
    page.keyboard.press("+")
    page.keyboard.press("Escape")
    expect(page.locator(".viewer")).to_have_count(0)
    assert page.evaluate("document.activeElement.matches('button.marker')")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("this help")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_on_a_phone_the_page_fills_the_screen(library: Stack, open_page: OpenPage):
    page = open_page(library, width=390, height=800, has_touch=True)
    ask(page, QUESTION)

    page.locator("button.marker.exact").first.click()

    assert _marked_text(page) == QUOTE
    box = page.locator("dialog.sheet-dialog").bounding_box()
    assert box
    assert (box["width"], box["height"]) == (390, 800)
    page.get_by_role("button", name="Close the page").click()
    expect(page.locator("article.turn")).to_be_visible()


def test_nothing_that_a_document_or_a_model_says_becomes_markup(
    provider_server: Stack, provider: Provider, open_page: OpenPage
):
    evil = (
        "<img src=x onerror=alert(1)> <script>alert(2)</script> [x](javascript:alert(3))"
        " ![y](https://evil.example/p.png)"
    )
    shown = html.escape(evil)  # tags themselves are taken out of Markdown
    ingest(provider_server.client, f"# {shown}\n\n{QUOTE} {shown}\n".encode(), "a<b>&\"'<i>.md")
    embed(provider_server.client)
    provider.says(f"A lighthouse keeper counted 253 steps every evening [1]. {evil}")
    page = open_page(provider_server)

    ask(page, f"{QUESTION} {evil}"[:300])
    page.locator("button.marker.exact").first.click()
    expect(page.locator(".viewer mark, .viewer .plain").first).to_be_visible()
    page.goto("/documents")
    expect(page.locator(".library li")).to_have_count(1)

    assert page.locator("main img, main script, main a[href^='javascript'], main i").count() == 0
    page.goto("/")
    page.locator(".conversations li a").click()
    expect(page.locator("article.turn")).to_be_visible()
    assert page.locator("main img, main script").count() == 0


def _marked_text(page: Page) -> str:
    """The text of the lines that lie under the marks."""
    expect(page.locator(".marks rect").first).to_be_visible(timeout=15_000)
    page.locator(".paper text").first.wait_for(state="attached")
    lines: list[Any] = json.loads(
        page.evaluate(
            """JSON.stringify([...document.querySelectorAll('.paper text')].filter((line) => {
                const at = line.getBoundingClientRect(), middle = (at.top + at.bottom) / 2;
                return [...document.querySelectorAll('.marks rect')].some((rect) => {
                    const mark = rect.getBoundingClientRect();
                    return mark.top <= middle && middle <= mark.bottom;
                });
            }).map((line) => line.textContent))"""
        )
    )
    return " ".join(lines)


def _tab_to(page: Page, selector: str, *, backwards: bool = False) -> None:
    for _ in range(40):
        page.keyboard.press("Shift+Tab" if backwards else "Tab")
        if page.evaluate(f"document.activeElement.matches({selector!r})"):
            return
    raise AssertionError(f"{selector} is not reached by Tab")
