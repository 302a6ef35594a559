"""Logging in and out in a real browser, and a second account that must not see."""

from tests.conftest import MakeStack
from tests.keys.accounts import PASSWORD, make_account
from tests.page.conftest import OpenPage

UNAUTHORIZED = "401 (Unauthorized)"
ASK = """async (text) => {
    const init = { method: "POST", headers: { "Content-Type": "application/json" } };
    const reply = await fetch("/v1/query", { ...init, body: JSON.stringify({ query: text }) });
    return reply.status;
}"""


def test_log_in_ask_and_log_out(make_stack: MakeStack, open_page: OpenPage):
    stack = make_stack(workers=0, KNOWLEX_REQUIRE_API_KEY="true")
    make_account(stack, "ann", {"default": "read"})
    make_account(stack, "bob", {"default": "read"})

    def log_in(name: str):
        page = open_page(stack, "/", expected=UNAUTHORIZED)
        page.wait_for_url("**/login?next=%2F")
        page.get_by_label("Name of the account").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_text(name, exact=True).wait_for()
        return page

    page = log_in("ann")
    assert page.evaluate(ASK, "What does only ann ask?") == 200  # with what Chromium says of its own page
    page.reload()
    page.get_by_role("link", name="What does only ann ask?").wait_for()
    other = log_in("bob")
    other.get_by_role("button", name="Log out").wait_for()
    assert other.get_by_text("What does only ann ask?").count() == 0
    assert other.get_by_role("link", name="Administration").count() == 0

    page.get_by_role("button", name="Log out").click()

    page.wait_for_url("**/login")
    page.goto("/")
    page.wait_for_url("**/login?next=%2F")
