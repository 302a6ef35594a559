"""The page in a real browser: Debian's Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

from tests.support.stack import Stack

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")  # its event loop must not run on while other tests use theirs
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("The tests of the page need Chromium, which .ci/run installs.")
        pytest.skip("needs Chromium (Debian's package chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """`open_page(stack, "/documents", width=390, color_scheme="dark")`: a page of a new, empty profile.

    What the page should never do fails the test: an error in its console, a script that throws, a request to
    another server.
    """
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def open_page(
        stack: Stack,
        path: str = "/",
        *,
        width: int = 1280,
        height: int = 860,
        expected: str = "",
        **options: Any,
    ) -> Page:
        """expected: of errors in the console that the test provokes."""
        viewport = {"width": width, "height": height}
        context = browser.new_context(base_url=stack.url, viewport=viewport, **options)
        contexts.append(context)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=stack.url)
        page = context.new_page()

        def on_console(message: ConsoleMessage) -> None:
            if message.type == "error" and not (expected and expected in message.text):
                wrong.append(f"console: {message.text}")

        def on_request(request: Request) -> None:
            if not request.url.startswith((stack.url, "data:", "blob:")):
                wrong.append(f"request: {request.url}")

        page.on("console", on_console)
        page.on("request", on_request)
        page.on("pageerror", lambda error: wrong.append(f"script: {error}"))
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


def ask(page: Page, question: str) -> None:
    """Ask, and wait until the answer is there."""
    turns = page.locator("article.turn")
    count = turns.count()
    page.fill("#question", question)
    page.press("#question", "Enter")
    turns.nth(count).locator(".actions").wait_for(timeout=30_000)
