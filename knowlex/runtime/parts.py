"""How the parts that `up` keeps running are: `up` writes it, its web processes tell it."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class PartState:
    """state: `starting` until it serves; `waiting` for the time to be started again.

    restarts: how often it was started again. last_end: such as "was killed by SIGKILL", and when, in UTC; ""
    where it has not ended yet.
    """

    state: Literal["starting", "running", "waiting"]
    restarts: int = 0
    last_end: str = ""
    last_end_at: str = ""


def states_file(data_dir: Path) -> Path:
    return data_dir / "parts.json"


def write_states(data_dir: Path, states: Mapping[str, PartState]) -> None:
    """Write them for the children of this process. Raises OSError."""
    body = {"pid": os.getpid(), "parts": {part: asdict(state) for part, state in states.items()}}
    fresh = data_dir / "parts.new"
    fresh.write_text(json.dumps(body))
    fresh.replace(states_file(data_dir))


def read_states(data_dir: Path) -> dict[str, PartState]:
    """Return the state of each part, by its name; none in a process that no `up` started."""
    try:
        body = json.loads(states_file(data_dir).read_text())
        if body["pid"] != os.getppid():  # left behind by an `up` that was killed
            return {}
        return {part: PartState(**state) for part, state in body["parts"].items()}
    except (OSError, ValueError, KeyError, TypeError):  # TypeError: of another release
        return {}
