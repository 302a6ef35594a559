"""`manage.py check` names the setting that is wrong."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from documents.checks import (
    PARTS,
    media_folder_can_be_written,
    parts_can_be_built,
    text_recognition_is_there,
)


def test_shipped_settings_are_fine() -> None:
    assert parts_can_be_built() == []


@pytest.mark.parametrize("role", PARTS)
@pytest.mark.parametrize(
    "spec",
    [
        {"class": "documents.no_such_module.Part"},
        {"class": "documents.types.NoSuchClass"},
        {"class": "documents.types.Extraction", "options": {"no_such_option": 1}},
    ],
)
def test_part_that_cannot_be_built_is_named(settings: LazySettings, role: str, spec: dict[str, Any]) -> None:
    settings.KNOWLEX = settings.KNOWLEX | {role: spec}

    with pytest.raises(SystemCheckError, match=f"KNOWLEX\\['{role}'\\]"):
        call_command("check")


def test_option_out_of_range_is_named(settings: LazySettings) -> None:
    spec = settings.KNOWLEX["EXTRACTOR"] | {"options": {"pdf_reader": "acrobat"}}
    settings.KNOWLEX = settings.KNOWLEX | {"EXTRACTOR": spec}

    (problem,) = parts_can_be_built()

    assert "pdf_reader" in problem.msg


def test_media_folder_may_still_be_made(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "not" / "yet"

    assert media_folder_can_be_written() == []


def test_media_folder_below_a_file_is_refused(settings: LazySettings, tmp_path: Path) -> None:
    blocker = tmp_path / "data"
    blocker.write_text("a file")
    settings.MEDIA_ROOT = blocker / "files"

    (problem,) = media_folder_can_be_written()

    assert problem.id == "documents.E002"
    assert "KNOWLEX_DATA_DIR" in problem.msg


def test_counting_on_text_recognition_that_is_missing_is_a_warning(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert text_recognition_is_there() == []
    spec = settings.KNOWLEX["EXTRACTOR"] | {"options": {"ocr": "on"}}
    settings.KNOWLEX = settings.KNOWLEX | {"EXTRACTOR": spec}
    (warning,) = text_recognition_is_there()
    assert "KNOWLEX_OCR is on" in warning.msg
