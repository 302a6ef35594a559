"""Make the README's pictures, from the page as it runs: docs/images/ask.png and docs/images/documents.png.

Needs what `make setup-dev` installs, and Chromium: python samples/pictures.py
"""

import shutil
import sys

from demo import PROJECT, running_knowlex
from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

from knowlex_client import Knowlex

IMAGES = PROJECT / "docs" / "images"
MAX_BYTES = 250_000
COLOURS = 128
SIZE: ViewportSize = {"width": 1360, "height": 800}
DOCUMENTS = ("samples/nikola-tesla.pdf", "samples/README.md", "docs/operating.md", "docs/citations.md")
QUESTION = "Which court restored the patents of Tesla in 1943?"


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("Chromium is needed (Debian's package chromium).")
    with running_knowlex() as address, sync_playwright() as playwright:
        ingest(address)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(base_url=address, viewport=SIZE, locale="en", color_scheme="light")
        show_answer(page)
        save(page, "ask.png")
        show_documents(page)
        save(page, "documents.png")
        browser.close()


def ingest(address: str) -> None:
    """Send the documents, and wait until they can be asked."""
    with Knowlex(address) as client:
        ingested = client.ingest(*(PROJECT / name for name in DOCUMENTS))
    if any(document.status != "completed" for document in ingested.documents):
        sys.exit(f"A document could not be read: {ingested}")


def show_answer(page: Page) -> None:
    """Ask, and open the page of the first citation beside the answer."""
    page.goto("/")
    page.fill("#question", QUESTION)
    page.press("#question", "Enter")
    page.locator("article.turn .actions").wait_for()
    page.locator("article.turn button.marker").first.click()
    page.locator(".paper text").first.wait_for(state="attached")
    page.locator(".marks rect").first.wait_for(state="attached")
    page.locator(".paper img").first.evaluate("(image) => image.decode()")


def show_documents(page: Page) -> None:
    page.goto("/documents")
    page.locator(".library li").nth(len(DOCUMENTS) - 1).wait_for()


def save(page: Page, name: str) -> None:
    """Save what is seen with few colours, which is a third of the bytes."""
    path = IMAGES / name
    page.mouse.move(0, 0)
    page.screenshot(path=path, animations="disabled")
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(PROJECT)}: {size:,} bytes")
    if size > MAX_BYTES:
        sys.exit(f"{name} is over {MAX_BYTES:,} bytes.")


if __name__ == "__main__":
    main()
