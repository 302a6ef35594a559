"""Runs of a folder: what is taken, moved, replaced, deleted and left alone, and that a kill costs nothing."""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from documents.access import FULL
from documents.models import Document, IngestItem, Source, SourceItem, WebhookDelivery
from documents.sources import services
from documents.webhooks import create_webhook
from embeddings.models import Embedding
from knowlex.base.errors import Conflict, Forbidden, InvalidInput
from tests.provider import Provider
from tests.sources.conftest import MakeSource, bring, checksum, finish, killed_at, run, states, stored
from tests.support.texts import fact


def note(number: int) -> bytes:
    return f"# Note {number}\n\n{fact(number)}\n".encode()


def write(place: Path, *numbers: int) -> None:
    for number in numbers:
        (place / f"{number}.md").write_bytes(note(number))


def told() -> list[dict[str, Any]]:
    """What webhooks are sent of the ends of runs."""
    bodies = WebhookDelivery.objects.order_by("created_at").values_list("body", flat=True)
    return [json.loads(body)["data"] for body in bodies]


def counted(source: Source) -> dict[str, int]:
    """What the latest run did, without what was deleted with the documents."""
    left_out = ("listed", "known", "pages", "chunks", "vectors")
    return {name: n for name, n in source.counts.items() if n and name not in left_out}


def test_a_folder_becomes_documents_and_stays_as_it_is(place: Path, source: Source, provider: Provider):
    write(place, *range(1, 11))
    (place / "deep" / "down").mkdir(parents=True)
    (place / "deep" / "down" / "page.html").write_text(f"<html><body><p>{fact(20)}</p></body></html>")
    ended = run(source)
    assert (ended.state, counted(ended)) == ("completed", {"added": 11})
    assert len(stored()) == 11
    assert set(states(source).values()) == {"taken"}
    asked = provider.asked().total()

    again = run(source)
    assert (again.state, counted(again)) == ("completed", {"unchanged": 11})
    assert provider.asked().total() == asked


def test_what_changes_moves_and_goes_is_followed(place: Path, source: Source, provider: Provider):
    write(place, *range(1, 11))
    run(source)
    ids = {row.original_filename: row.id for row in Document.objects.all()}
    (place / "1.md").write_bytes(note(101))
    (place / "moved").mkdir()
    (place / "2.md").rename(place / "moved" / "second.md")
    (place / "3.md").unlink()
    (place / "copy.md").write_bytes(note(4))
    os.utime(place / "5.md")
    provider.forget_log()

    ended = run(source)
    assert counted(ended) == {
        "unchanged": 7, "replaced": 1, "moved": 1, "present": 1, "deleted": 1,
    }  # fmt: skip
    assert (ended.counts["pages"], ended.counts["chunks"], ended.counts["vectors"]) == (1, 1, 1)
    names = stored()
    assert names.pop(checksum(note(101))) == "1.md"
    assert names.pop(checksum(note(2))) == "second.md"
    assert set(names) == {checksum(note(n)) for n in range(4, 11)}
    now = {row.original_filename: row.id for row in Document.objects.all()}
    assert (now["1.md"], now["second.md"]) == (ids["1.md"], ids["2.md"])
    assert provider.asked().total() == 1  # of the changed file alone


def test_a_moved_document_is_found_by_its_new_name(place: Path, source: Source):
    (place / "harbour.md").write_bytes(note(1))
    write(place, *range(2, 8))
    run(source)
    (place / "harbour.md").rename(place / "zeppelin.md")
    assert counted(run(source)) == {"unchanged": 6, "moved": 1}
    found = Document.objects.raw(
        "SELECT d.id FROM documents_document d JOIN documents_chunk c ON c.document_id = d.id "
        "JOIN embeddings_lexicalentry l ON l.chunk_id = c.id "
        "WHERE 'zeppelin' = ANY(tsvector_to_array(l.lexemes))"
    )
    assert [row.original_filename for row in found] == ["zeppelin.md"]


def test_files_that_are_no_documents_are_skipped_with_a_reason(place: Path, source: Source, settings):
    settings.MAX_UPLOAD_BYTES = 2**20
    write(place, 1)
    (place / "photo.jpg").write_bytes(b"\xff\xd8\xff" * 100)
    (place / "empty.md").write_bytes(b"")
    (place / "large.txt").write_bytes(b"word " * 2**18)
    (place / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    (place / ".hidden.md").write_bytes(note(2))
    ended = run(source)
    assert (ended.state, counted(ended)) == ("completed", {"added": 2, "skipped": 4})
    reasons = dict(SourceItem.objects.filter(source=source).exclude(reason="").values_list("path", "reason"))
    assert reasons.pop("broken.pdf")
    assert reasons == {
        "photo.jpg": "Its name tells no format that is read here.",
        "empty.md": "It is empty.",
        "large.txt": "File exceeds 1 MB limit.",
    }
    attempts = IngestItem.objects.get(filename="broken.pdf").attempts
    assert counted(run(source)) == {"unchanged": 2, "skipped": 4}
    assert IngestItem.objects.get(filename="broken.pdf").attempts == attempts  # it is not read again


def test_a_source_never_leaves_its_folder(
    place: Path, source: Source, make_source: MakeSource, tmp_path: Path
):
    secret = tmp_path / "secret.md"
    secret.write_bytes(note(66))
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "letter.md").write_bytes(note(67))
    write(place, 1)
    (place / "link.md").symlink_to(secret)
    (place / "folder").symlink_to(tmp_path / "others")
    (place / "inside.md").symlink_to(place / "1.md")
    run(source)
    assert set(stored()) == {checksum(note(1))}
    assert states(source) == {
        "1.md": "taken",
        "inside.md": "taken",
        "link.md": "skipped",
        "folder": "skipped",
    }
    with pytest.raises(Forbidden, match="KNOWLEX_SOURCE_FOLDERS"):
        make_source("folder", {"path": str(tmp_path / "others")}, name="others")
    with pytest.raises(Forbidden, match="KNOWLEX_SOURCE_FOLDERS"):
        make_source("folder", {"path": f"{place}/../../others"}, name="others")
    with pytest.raises(InvalidInput, match="absolute"):
        make_source("folder", {"path": "papers"}, name="others")
    elsewhere = tmp_path / "shared" / "way out"
    elsewhere.symlink_to(tmp_path / "others")
    with pytest.raises(Forbidden, match="KNOWLEX_SOURCE_FOLDERS"):
        make_source("folder", {"path": str(elsewhere)}, name="others")


def test_a_folder_that_is_not_allowed_any_more_is_not_read(place: Path, source: Source, settings):
    write(place, 1)
    run(source)
    settings.SOURCE_FOLDERS = []
    ended = run(source)
    assert ended.state == "failed"
    assert "KNOWLEX_SOURCE_FOLDERS" in ended.error
    assert len(stored()) == 1


def test_an_empty_or_missing_folder_deletes_nothing(place: Path, source: Source):
    write(place, *range(1, 6))
    run(source)
    away = place.with_name("away")
    place.rename(away)
    gone = run(source)
    assert gone.state == "failed"
    assert "not there" in gone.error
    place.mkdir()
    asking = run(source)
    assert (asking.state, asking.counts["gone"]) == ("needs_confirmation", 5)
    assert "5 of 5 files are gone" in asking.error
    assert len(stored()) == 5
    assert run(source).state == "needs_confirmation"  # and goes on asking
    place.rmdir()
    away.rename(place)
    assert (back := run(source)).state == "completed"
    assert counted(back) == {"unchanged": 5}


def test_a_confirmation_is_for_what_was_asked_about_alone(place: Path, source: Source):
    write(place, *range(1, 11))
    run(source)
    for number in (1, 2, 3):
        (place / f"{number}.md").unlink()
    assert run(source).state == "needs_confirmation"
    for number in (4, 5, 6):
        (place / f"{number}.md").unlink()
    (place / "1.md").write_bytes(note(1))
    ended = run(source, confirm_deletions=True)
    assert (ended.state, ended.counts["deleted"], ended.counts["gone"]) == ("needs_confirmation", 2, 3)
    assert set(stored()) == {checksum(note(n)) for n in (1, *range(4, 11))}
    assert run(source).state == "needs_confirmation"  # it held once
    ended = run(source, confirm_deletions=True)
    assert (ended.state, counted(ended)) == ("completed", {"unchanged": 5, "deleted": 3})


def test_a_fifth_may_go_without_a_question(place: Path, source: Source):
    write(place, *range(1, 11))
    run(source)
    for number in (1, 2):
        (place / f"{number}.md").unlink()
    assert (run(source).state, len(stored())) == ("completed", 8)


def test_documents_that_were_brought_in_by_hand_stay(place: Path, source: Source):
    by_hand = bring(note(1), "by hand.md")
    other = bring(note(50), "other.md")
    write(place, *range(1, 8))
    ended = run(source)
    assert counted(ended) == {"added": 6, "present": 1}
    (place / "1.md").unlink()
    run(source)
    assert {by_hand, other} <= set(Document.objects.values_list("id", flat=True))
    assert stored()[checksum(note(1))] == "by hand.md"


def test_a_dry_run_counts_and_changes_nothing(place: Path, source: Source, provider: Provider):
    write(place, *range(1, 6))
    run(source)
    before, asked = stored(), provider.asked().total()
    (place / "1.md").write_bytes(note(101))
    (place / "2.md").rename(place / "second.md")
    for number in (3, 4):
        (place / f"{number}.md").unlink()
    write(place, 6)
    tried = run(source, dry_run=True)
    assert (tried.state, tried.dry_run) == ("completed", True)
    assert counted(tried) == {"unchanged": 1, "replaced": 1, "moved": 1, "added": 1, "gone": 2}
    assert (stored(), provider.asked().total()) == (before, asked)
    done = run(source)
    assert counted(done) == {"unchanged": 1, "replaced": 1, "moved": 1, "added": 1, "gone": 2}
    assert done.state == "needs_confirmation"


def test_two_sources_share_what_both_have(
    place: Path, source: Source, make_source: MakeSource, provider: Provider
):
    second = place.with_name("second")
    second.mkdir()
    other = make_source("folder", {"path": str(second)}, name="second")
    write(place, *range(1, 8))
    write(second, 1)
    run(source)
    assert counted(run(other)) == {"present": 1}
    (place / "1.md").unlink()
    assert run(source).state == "completed"
    assert checksum(note(1)) in stored()  # the second one still has it
    (second / "1.md").unlink()
    run(other)
    run(other, confirm_deletions=True)
    assert checksum(note(1)) not in stored()


def test_a_text_that_is_another_format_by_its_new_name_is_read_anew(place: Path, source: Source):
    write(place, *range(1, 7))
    run(source)
    (place / "1.md").rename(place / "1.txt")
    run(source)
    row = Document.objects.get(checksum=checksum(note(1)))
    assert (row.source, row.original_filename) == ("TEXT", "1.txt")


def test_the_end_of_a_run_is_told(place: Path, source: Source):
    create_webhook(access=FULL, url="https://hooks.example/", events=["sync.ended"])
    write(place, 1)
    run(source)
    place.rename(place.with_name("away"))
    run(source)
    first, second = told()
    assert (first["state"], first["name"], first["collection"]) == ("completed", "folder", "default")
    assert (first["counts"]["added"], first["error"]) == (1, None)
    assert (second["state"], "not there" in second["error"]) == ("failed", True)


def test_a_run_that_is_under_way_is_not_begun_twice(place: Path, source: Source):
    services.start_run(source.name, access=FULL)
    assert services.start_run(source.name, access=FULL).state == "pending"
    with pytest.raises(Conflict):
        services.start_run(source.name, access=FULL, dry_run=True)
    assert finish(source).state == "completed"


def test_a_run_does_not_wait_for_a_document_that_is_whole_already(place: Path, source: Source):
    """As older versions left a document that was replaced while it was embedded."""
    write(place, 1)
    run(source)
    IngestItem.objects.update(status="processing", stage="embedding", ended_at=None)
    assert run(source).state == "completed"
    assert IngestItem.objects.get().status == "completed"


def test_a_schedule_runs_the_source_by_itself(place: Path, make_source: MakeSource, settings):
    source = make_source("folder", {"path": str(place)}, every_minutes=10)
    write(place, 1)
    from embeddings.ingest.sync import start_due

    assert start_due() == 1
    ended = finish(source)
    assert ended.state == "completed"
    assert 599 < (ended.next_run_at - ended.ended_at).total_seconds() <= 601
    assert start_due() == 0
    Source.objects.update(next_run_at=ended.ended_at)
    assert start_due() == 1


def edit(place: Path) -> None:
    (place / "1.md").write_bytes(note(101))
    (place / "2.md").rename(place / "second.md")
    (place / "3.md").unlink()
    write(place, 11, 12)
    (place / "copy.md").write_bytes(note(4))


@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.slow)])
def test_a_kill_at_any_step_is_safe_to_run_again(
    place: Path, source: Source, provider: Provider, chance: random.Random, step: int
):
    """Killed before and after each statement that records progress, in a real process."""
    write(place, *range(1, 11))
    run(source)
    wanted = {checksum(note(n)) for n in (101, 2, *range(4, 13))}
    moment, was_killed = chance.randrange(step), True
    while was_killed:
        edit(place)
        provider.forget_log()
        services.start_run(source.name, access=FULL)
        was_killed = killed_at(source, moment)
        ended = finish(source)
        assert (ended.state, ended.error) == ("completed", ""), moment
        assert set(stored()) == wanted, moment
        assert Embedding.objects.count() == len(wanted)
        assert provider.asked().total() == 3, moment
        for path in place.iterdir():
            path.unlink()
        write(place, *range(1, 11))
        if run(source).state == "needs_confirmation":
            run(source, confirm_deletions=True)
        moment += step
    assert moment > 40


@pytest.mark.parametrize("attempts", [5])
def test_a_run_that_kills_its_worker_each_time_is_given_up(place: Path, source: Source, attempts: int):
    write(place, 1)
    services.start_run(source.name, access=FULL)
    for _ in range(attempts):
        assert killed_at(source, 0)
    create_webhook(access=FULL, url="https://hooks.example/", events=["sync.ended"])
    ended = finish(source)
    assert [one["state"] for one in told()] == ["failed"]
    assert (ended.state, ended.error) == (
        "failed", "The worker ended 5 times without a result while it had this source in hand.",
    )  # fmt: skip
    assert run(source).state == "completed"
