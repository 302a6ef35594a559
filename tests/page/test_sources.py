"""Sources on the page: making one, running it, and saying that what is gone may go."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.page.conftest import OpenPage
from tests.page.test_accessibility import violations
from tests.sources.test_runs import note
from tests.support import environment
from tests.support.postgres import Postgres
from tests.support.stack import Stack

SHARED = environment.FOLDER / "shared-page"


@pytest.fixture(scope="module")
def stack(postgres: Postgres) -> Iterator[Stack]:
    env = {"KNOWLEX_SOURCE_FOLDERS": str(SHARED)}
    with Stack(postgres, environment.FOLDER / "page-sources", workers=1, env=env) as stack:
        yield stack


def test_a_source_is_made_run_and_asks_before_it_deletes(stack: Stack, open_page: OpenPage):
    (SHARED / "papers").mkdir(parents=True)
    for number in range(1, 5):
        (SHARED / "papers" / f"{number}.md").write_bytes(note(number))
    (SHARED / "papers" / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    page = open_page(stack, "/documents", expected="403")
    page.get_by_text("Sources that stay in sync (0)").click()
    page.get_by_text("New source").click()
    page.get_by_label("Name", exact=True).fill("papers")
    page.get_by_label("Path").fill("/etc")
    page.get_by_role("button", name="Make the source").click()
    expect(page.get_by_role("alert")).to_contain_text("KNOWLEX_SOURCE_FOLDERS")
    page.get_by_label("Path").fill(str(SHARED / "papers"))
    page.get_by_role("button", name="Make the source").click()

    row = page.locator(".origins > ul > li")
    expect(row).to_contain_text("not run yet")
    row.get_by_role("button", name="Sync now").click()
    expect(row).to_contain_text("in sync", timeout=60_000)
    expect(row).to_contain_text("4 new · 1 skipped")
    expect(page.locator(".library li")).to_have_count(4)
    assert violations(page) == []

    for number in (1, 2):
        (SHARED / "papers" / f"{number}.md").unlink()
    row.get_by_role("button", name="Sync now").click()
    expect(row).to_contain_text("2 of 4 files are gone", timeout=60_000)
    page.on("dialog", lambda dialog: dialog.accept())
    row.get_by_role("button", name="Delete what is gone").click()
    expect(row).to_contain_text("2 documents deleted", timeout=60_000)
    expect(page.locator(".library li")).to_have_count(2)
    row.get_by_role("button", name="Delete papers").click()
    expect(page.get_by_text("Sources that stay in sync (0)")).to_be_visible()
    expect(page.locator(".library li")).to_have_count(2)
