"""Every view for everybody: axe finds nothing, in both themes, on desktop and phone; two languages."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.page.conftest import OpenPage, ask
from tests.provider import Provider
from tests.support.api import embed, ingest
from tests.support.pdf import make_pdf
from tests.support.stack import Stack

SENTENCES = "A lighthouse keeper counted 253 steps every evening. The harbour froze twice in 1893."
QUESTION = "How many steps did the lighthouse keeper count?"
REPLY = (
    "A lighthouse keeper counted 253 steps every evening [1]. The keeper seemed rather fond of stairs [1]. "
    "The harbour froze twice in 1975 [1]."
)
SCREENS = {"desktop": {"width": 1280, "height": 860}, "phone": {"width": 390, "height": 800}}


def violations(page: Page) -> list[str]:
    found = Axe().run(
        page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]}
    )
    return [
        f"{rule['id']}: {node['html'][:150]}"
        for rule in found.response["violations"]
        for node in rule["nodes"]
    ]


@pytest.fixture
def library(provider_server: Stack, provider: Provider) -> Stack:
    ingest(provider_server.client, make_pdf(SENTENCES, "A second page."), "harbour.pdf")
    embed(provider_server.client)
    provider.says(REPLY)
    return provider_server


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_nothing(library: Stack, open_page: OpenPage, theme: str, screen: str):
    page = open_page(library, **SCREENS[screen], color_scheme=theme)
    found = {"welcome": violations(page)}
    ask(page, QUESTION)
    found["answer"] = violations(page)
    page.locator("button.marker.exact").first.focus()
    expect(page.locator(".card")).to_be_visible()
    found["card"] = violations(page)
    page.locator("button.marker.exact").first.click()
    page.locator(".paper text").first.wait_for(state="attached")
    found["viewer"] = violations(page)
    page.goto("/documents")
    page.locator(".library li").first.wait_for()
    found["documents"] = violations(page)
    page.locator(".library a").first.click()
    page.locator(".facts").wait_for()
    found["document"] = violations(page)
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    found["help"] = violations(page)

    assert {view: wrong for view, wrong in found.items() if wrong} == {}


def test_screen_readers_are_told_when_the_answer_is_ready_and_not_each_word(
    library: Stack, open_page: OpenPage
):
    page = open_page(library)

    ask(page, QUESTION)

    expect(page.get_by_role("status").first).to_have_text("Answer ready, 1 source.")
    assert page.locator("[aria-live]").count() == 0
    assert page.locator("[role=status] .answer, [role=log]").count() == 0


def test_the_page_speaks_german_to_german_readers(library: Stack, open_page: OpenPage):
    page = open_page(library, locale="de-DE")

    assert page.locator("html").get_attribute("lang") == "de"
    expect(page.get_by_role("heading", level=1)).to_have_text("Fragen Sie Ihre Dokumente")
    ask(page, QUESTION)
    expect(page.locator(".verification")).to_contain_text("1 Aussage geprüft")
    page.get_by_role("link", name="Dokumente", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Dokumente")


def test_words_of_the_menu_are_whole_on_a_phone(library: Stack, open_page: OpenPage):
    page = open_page(library, locale="de-DE", width=360)

    link = page.get_by_role("link", name="Dokumente", exact=True)
    box = link.bounding_box()
    assert box
    assert box["height"] < 40  # one line
    page.set_viewport_size({"width": 320, "height": 600})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_scripts_of_the_page_are_small(library: Stack, open_page: OpenPage):
    page = open_page(library)
    page.wait_for_load_state("networkidle")

    sizes = page.evaluate(
        """Promise.all(performance.getEntriesByType('resource').filter((one) => one.name.endsWith('.js'))
            .map(async (one) => {
                const packed = (await fetch(one.name)).body.pipeThrough(new CompressionStream('gzip'));
                return (await new Response(packed).arrayBuffer()).byteLength;
            }))"""
    )

    assert 5 < len(sizes) < 20
    assert sum(sizes) <= 60_000
