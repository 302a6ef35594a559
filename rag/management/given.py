"""Configurations as a command line gives them: files, and settings one by one."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from knowlex.base.errors import InvalidInput
from knowlex.web.json_body import parse_json
from rag.evaluation.configurations import Configuration, read_configurations

MAX_FILE_BYTES = 64 * 1024


def read_given(files: Sequence[str], settings: Sequence[str]) -> list[Configuration]:
    """One or two; without any, the server's own settings. Raises InvalidInput, OSError."""
    given = [_of_file(Path(file)) for file in files]
    for text in settings:
        _add(given, text)
    return read_configurations(given or None, "the configurations")


def _of_file(path: Path) -> dict[str, Any]:
    """Named after the file, unless it says otherwise; of one object of settings alone, too."""
    with path.open("rb") as file:
        raw = file.read(MAX_FILE_BYTES)
    try:
        given = parse_json(raw)
    except InvalidInput as exc:
        raise InvalidInput(f"{path}: {exc.message.replace('Request body', 'The file')}") from None
    if not isinstance(given, dict):
        raise InvalidInput(f"{path}: The file must hold an object.")
    if "settings" in given:
        return {"name": path.stem, **given}
    return {"name": given.pop("name", path.stem), "settings": given}


def _add(given: list[dict[str, Any]], text: str) -> None:
    left, equals, value = text.partition("=")
    name, colon, key = left.rpartition(":")
    if not (equals and colon and name and key):
        raise InvalidInput(f"--set {text} must be NAME:KEY=VALUE, for example plain:rerank=false.")
    found = next((one for one in given if one.get("name") == name), None)
    if found is None:
        found = {"name": name, "settings": {}}
        given.append(found)
    if isinstance(found["settings"], dict):
        found["settings"][key] = _value(value)


def _value(text: str) -> Any:
    """A number, true or false, as JSON writes them; else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
