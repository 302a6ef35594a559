"""How long after the click on a citation its page stands there, drawn and marked, in a real Chromium.

    python manage.py up --port 8080 &
    python -m benchmarks.page http://127.0.0.1:8080 questions.txt

`questions.txt` has a question a line, about documents that are there. Each answer's first citation is clicked
(cold: the page was looked at by nobody), the page is closed, and it is clicked again (warm).
Needs Chromium and Playwright (requirements-dev.txt).
"""

import argparse
import shutil
import statistics
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

_CLICK_AND_WAIT = """marker => new Promise((resolve, reject) => {
  const started = performance.now();
  const look = () => {
    const picture = document.querySelector(".viewer img");
    const mark = document.querySelector(".viewer .marks rect");
    if (picture && picture.complete && picture.naturalWidth && mark) resolve(performance.now() - started);
    else if (performance.now() - started > 20000) resolve(null);
    else requestAnimationFrame(look);
  };
  marker.click();
  look();
})"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url")
    parser.add_argument("questions", type=Path)
    arguments = parser.parse_args()
    questions = arguments.questions.read_text().splitlines()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        cold: list[float] = []
        warm: list[float] = []
        unmarked = 0
        for question in questions:
            page.goto(arguments.url)
            page.get_by_role("textbox", name="Your question").fill(question)
            page.keyboard.press("Enter")
            page.get_by_role("button", name="This answer is good").wait_for()
            if not page.locator("button.marker").count():
                continue
            for times in (cold, warm):
                milliseconds = time_click(page)
                if milliseconds is None:
                    unmarked += 1
                else:
                    times.append(milliseconds)
    for name, times in (("cold", cold), ("warm", warm)):
        ordered = sorted(times)
        print(
            f"{name}: {len(ordered)} clicks, median {statistics.median(ordered):.0f} ms, "
            f"p95 {ordered[int(0.95 * len(ordered))]:.0f} ms, worst {ordered[-1]:.0f} ms"
        )
    print(f"nothing marked: {unmarked}")


def time_click(page: Page) -> float | None:
    """Click the answer's first citation and return the milliseconds until its page is drawn and marked."""
    milliseconds: float | None = page.locator("button.marker").first.evaluate(_CLICK_AND_WAIT)
    page.get_by_role("button", name="Close the page").click()
    page.locator(".viewer").wait_for(state="detached")
    return milliseconds


if __name__ == "__main__":
    main()
