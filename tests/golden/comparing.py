"""Golden files: what Knowlex does, kept as text, so that a change of the code is seen to change nothing.

`KNOWLEX_WRITE_GOLDEN=1 pytest tests/golden` writes them anew; `git diff` then shows what has changed.
"""

import difflib
import os
import re
from itertools import zip_longest
from pathlib import Path

FILES = Path(__file__).parent / "files"
TO_WRITE = os.environ.get("KNOWLEX_WRITE_GOLDEN") == "1"
ADVICE = "If this is meant, write it anew: KNOWLEX_WRITE_GOLDEN=1 pytest tests/golden"
MOST_BYTES = 1_000_000
MOST_DIFF_LINES = 60
TOLERANCE = 0.03  # of a score: another processor rounds the model's arithmetic another way
_DECIMAL = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def assert_golden(name: str, text: str) -> None:
    """The text is that of `files/<name>`, decimal fractions within the tolerance."""
    path, text = FILES / name, text.rstrip("\n") + "\n"
    assert len(text.encode()) < MOST_BYTES, f"{name} is too large for a golden file"
    before = path.read_text("utf-8") if path.exists() else ""
    now = _with_close_decimals_of(before, text)
    if now == before:
        return
    if TO_WRITE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(now, "utf-8")
        return
    raise AssertionError(f"{name} is not what it was.\n{_diff(before, now)}\n{ADVICE}")


def _with_close_decimals_of(before: str, text: str) -> str:
    """The text, but lines that differ from the file's in nothing but the last digits are the file's."""
    old_lines, new_lines = before.splitlines(), text.splitlines()
    matcher = difflib.SequenceMatcher(
        None, [_DECIMAL.sub("0.0", one) for one in old_lines], [_DECIMAL.sub("0.0", one) for one in new_lines]
    )
    for old, new, size in matcher.get_matching_blocks():
        for offset in range(size):
            if _close(old_lines[old + offset], new_lines[new + offset]):
                new_lines[new + offset] = old_lines[old + offset]
    return "\n".join(new_lines) + "\n"


def _close(one: str, other: str) -> bool:
    pairs = zip_longest(_DECIMAL.findall(one), _DECIMAL.findall(other), fillvalue="inf")
    return all(abs(float(a) - float(b)) <= TOLERANCE * max(1.0, abs(float(a))) for a, b in pairs)


def _diff(before: str, now: str) -> str:
    lines = list(
        difflib.unified_diff(before.splitlines(), now.splitlines(), "golden", "now", lineterm="", n=3)
    )
    more = [f"… and {len(lines) - MOST_DIFF_LINES} lines more"] if len(lines) > MOST_DIFF_LINES else []
    return "\n".join([*lines[:MOST_DIFF_LINES], *more])
