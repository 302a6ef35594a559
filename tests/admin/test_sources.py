"""Sources in the admin: how they stand, without their secrets, and runs from the list."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from documents.access import FULL
from documents.models import Source, SourceItem
from documents.sources import services

pytestmark = pytest.mark.django_db
LIST = "/admin/documents/source/"


@pytest.fixture
def source(settings: Any, tmp_path: Path) -> Source:
    settings.URL_INGEST = True
    made = services.create_source(
        access=FULL, name="handbooks", collection=None, kind="webdav",
        config={"url": "https://cloud.example.org/dav", "username": "ann"}, secret="hush-hush",
    )  # fmt: skip
    counts = {"listed": 3, "added": 2, "skipped": 1, "moved": 0}
    Source.objects.filter(id=made.id).update(state="completed", counts=counts)
    SourceItem.objects.create(source=made, path="photo.jpg", state="skipped", reason="No format.")
    return made


def test_the_list_and_the_page_tell_how_it_stands_and_no_secret(admin_client: Client, source: Source):
    shown = admin_client.get(LIST).content.decode()
    assert "3 listed, 2 added, 1 skipped" in shown
    page = admin_client.get(f"{LIST}{source.id}/change/").content.decode()
    assert "https://cloud.example.org/dav" in page
    assert "photo.jpg: No format." in page
    assert "hush" not in shown + page
    assert Source.objects.get().secret not in shown + page
    assert admin_client.get(f"{LIST}add/").status_code == 403


@pytest.mark.parametrize(
    ("action", "state", "expected"),
    [
        ("run", "completed", ("pending", False, False)),
        ("try_without_changes", "completed", ("pending", True, False)),
        ("confirm_deletions", "needs_confirmation", ("pending", False, True)),
        ("confirm_deletions", "completed", ("completed", False, False)),
    ],
)
def test_runs_begin_from_the_list(
    admin_client: Client, source: Source, action: str, state: str, expected: tuple[str, bool, bool]
):
    Source.objects.update(state=state)
    admin_client.post(LIST, {"action": action, "_selected_action": [str(source.id)]})
    row = Source.objects.get()
    assert (row.state, row.dry_run, row.confirmed_at is not None) == expected


def test_a_source_is_deleted_with_its_files_records_alone(admin_client: Client, source: Source):
    admin_client.post(f"{LIST}{source.id}/delete/", {"post": "yes"})
    assert (Source.objects.count(), SourceItem.objects.count()) == (0, 0)
