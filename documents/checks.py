"""System checks (`manage.py check`): documents can be read, split and stored with these settings."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.exceptions import ImproperlyConfigured

from knowlex.runtime.components import component

PARTS = (
    "FILE_STORE",
    "EXTRACTOR",
    "TOKENIZER",
    "CHUNKER_FIXED",
    "CHUNKER_SENTENCE",
    "CHUNKER_SEMANTIC",
    "SENTENCE_EMBEDDER",
)


@register
def parts_can_be_built(app_configs: Sequence[Any] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Build each part as a request would; the message names the setting that is wrong."""
    return [problem for role in PARTS if (problem := _problem_of(role))]


def _problem_of(role: str) -> CheckMessage | None:
    try:
        component(role, object)
    except (ImproperlyConfigured, OSError) as exc:
        return Error(f"settings.KNOWLEX[{role!r}]: {exc}", id="documents.E001")
    return None


@register
def media_folder_can_be_written(
    app_configs: Sequence[Any] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Check that the folder, or before the first start the nearest one above it, is writable."""
    folder = Path(settings.MEDIA_ROOT).absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return []
    message = f"MEDIA_ROOT (files in KNOWLEX_DATA_DIR) cannot be written: {existing}"
    return [Error(message, hint="Set KNOWLEX_DATA_DIR to a folder of your own.", id="documents.E002")]


@register
def text_recognition_is_there(app_configs: Sequence[Any] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Warn if KNOWLEX_OCR is on without Tesseract; "auto" uses what is there."""
    required = settings.KNOWLEX["EXTRACTOR"].get("options", {}).get("ocr") == "on"
    if not required or shutil.which("tesseract"):
        return []
    message = "KNOWLEX_OCR is on, but there is no program `tesseract` on the PATH."
    return [
        Warning(message, hint="Install Tesseract: pages that are pictures stay unread.", id="documents.W001")
    ]
