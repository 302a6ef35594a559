"""Logging in and out in a real browser, and a second account that must not see."""

import re

from playwright.sync_api import expect

from tests.conftest import MakeStack
from tests.keys.accounts import PASSWORD, log_in, make_account
from tests.page.conftest import OpenPage
from tests.support.api import ingest

REFUSED = "status of 40"  # 401 before the log-in, 404 of what is not to be seen
ASK = """async (text) => {
    const init = { method: "POST", headers: { "Content-Type": "application/json" } };
    const reply = await fetch("/v1/query", { ...init, body: JSON.stringify({ query: text }) });
    return reply.status;
}"""


def test_log_in_ask_and_log_out(make_stack: MakeStack, open_page: OpenPage):
    stack = make_stack(workers=0, KNOWLEX_REQUIRE_API_KEY="true")
    make_account(stack, "ann", {"default": "write"})
    make_account(stack, "bob", {"default": "read"})
    own = ingest(log_in(stack, "ann"), b"# Secret\n\nThe key lies under the stone.\n", "anns-secret.md")
    stack.sql("""UPDATE documents_document SET permissions = '{"visibility": "private"}' RETURNING id""")

    def log_in_on_page(name: str):
        page = open_page(stack, "/", expected=REFUSED)
        page.get_by_label("Name of the account").fill(name)  # each request that was refused leads there
        assert page.url.endswith("/login?next=%2F")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_text(name, exact=True).wait_for()
        return page

    page = log_in_on_page("ann")
    assert page.evaluate(ASK, "What does only ann ask?") == 200  # with what Chromium says of its own page
    page.reload()
    page.get_by_role("link", name="What does only ann ask?").wait_for()
    other = log_in_on_page("bob")
    other.get_by_role("button", name="Log out").wait_for()
    assert other.get_by_text("What does only ann ask?").count() == 0
    assert other.get_by_role("link", name="Administration").count() == 0
    for reader, sees in ((page, True), (other, False)):
        reader.goto("/documents")
        reader.get_by_text("anns-secret.md" if sees else "There are no documents yet.").first.wait_for()
        reader.goto(f"/documents/{own['documentId']}")
        reader.get_by_text("under the stone" if sees else "not found").first.wait_for()

    page.goto("/", wait_until="networkidle")
    page.context.clear_cookies()
    page.fill("#question", "Where does the key lie?")
    page.press("#question", "Enter")
    page.get_by_label("Name of the account").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#question")).to_have_value("Where does the key lie?")

    page.fill("#question", "What does ann not send?")
    page.get_by_role("button", name="Log out").click()

    expect(page).to_have_url(re.compile(r"/login$"))
    assert page.evaluate("sessionStorage.length") == 0
    page.goto("/", wait_until="commit")
    expect(page).to_have_url(re.compile(r"/login\?next=%2F$"))  # each request that was refused leads there


def test_files_go_into_a_collection_of_the_account(make_stack: MakeStack, open_page: OpenPage):
    stack = make_stack(workers=0, KNOWLEX_REQUIRE_API_KEY="true")
    make_account(stack, "chief", staff=True)
    log_in(stack, "chief").post("/v1/collections", json={"name": "Manuals"}).raise_for_status()
    make_account(stack, "ann", {"Manuals": "write"})
    page = open_page(stack, "/documents", expected=REFUSED)
    page.get_by_label("Name of the account").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")

    into = page.get_by_role("combobox", name="Collection of new documents")
    expect(into).to_have_value("Manuals")
    expect(into.get_by_role("option")).to_have_text(["Manuals"])
