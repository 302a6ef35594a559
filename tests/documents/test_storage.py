"""Staging, keeping and sweeping files, on a real file system and database."""

import hashlib
import os
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from hypothesis import given
from hypothesis import strategies as st

from documents.library import storage
from documents.library.storage import sweep_orphan_files
from documents.models import Collection, IngestItem, IngestJob
from documents.text.characters import MAX_FILENAME, clean_filename
from knowlex.base.errors import PayloadTooLarge
from tests.documents.http import UNKNOWN_ID


@pytest.fixture
def media(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = str(tmp_path)
    return tmp_path


def files(media: Path) -> list[str]:
    return sorted(str(path.relative_to(media)) for path in media.rglob("*") if path.is_file())


def old(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.touch()
    os.utime(path, (time.time() - 3600,) * 2)
    return path


def test_staged_file_is_hashed_and_counted_and_gone_afterwards(media: Path) -> None:
    with storage.Staging(max_bytes=6) as staging:
        staging.write(b"abc")
        staging.write(b"def")
        staged = staging.finish()
        assert staged.path.read_bytes() == b"abcdef"

    assert (staged.size_bytes, staged.checksum) == (6, hashlib.sha256(b"abcdef").hexdigest())
    assert files(media) == []


def test_first_byte_over_the_limit_ends_the_upload(media: Path) -> None:
    with storage.Staging(max_bytes=6) as staging:
        staging.write(b"abcdef")
        with pytest.raises(PayloadTooLarge):
            staging.write(b"g")

    assert files(media) == []


@pytest.mark.django_db
def test_sweep_takes_what_is_old_unlocked_and_without_a_row(media: Path) -> None:
    old(media / "incoming" / "dead.part")
    old(media / "documents" / f"{UNKNOWN_ID}.pdf")
    old(media / "documents" / "not-ours.txt")
    with storage.Staging(max_bytes=1) as staging:
        old(staging.finish().path)

        assert sweep_orphan_files() == 2
        assert len(files(media)) == 2

    assert files(media) == ["documents/not-ours.txt"]


@pytest.mark.django_db
def test_sweep_keeps_the_file_of_a_document_that_waits_until_its_job_is_forgotten(media: Path) -> None:
    collection, _ = Collection.objects.get_or_create(name="default")
    job = IngestJob.objects.create(collection=collection)
    name = f"documents/{UNKNOWN_ID}.pdf"
    IngestItem.objects.create(
        id=UNKNOWN_ID, job=job, collection=collection, position=0, filename="a.pdf", file=name
    )
    old(media / name)

    assert sweep_orphan_files() == 0
    job.delete()
    assert sweep_orphan_files() == 1
    assert files(media) == []


@pytest.mark.django_db
def test_sweep_leaves_young_files_alone(media: Path) -> None:
    young = media / "documents" / f"{UNKNOWN_ID}.pdf"
    young.parent.mkdir()
    young.touch()

    assert sweep_orphan_files() == 0
    assert young.exists()


@pytest.mark.django_db
def test_sweep_of_missing_folders_finds_nothing(media: Path) -> None:
    assert sweep_orphan_files() == 0


@given(st.text())
def test_any_file_name_becomes_one_that_can_be_stored(name: Any) -> None:
    clean = clean_filename(name)

    assert 1 <= len(clean) <= MAX_FILENAME
    assert not set("/\\\0\n\r\u202e") & set(clean)
    assert clean not in {".", ".."}
    clean.encode()
