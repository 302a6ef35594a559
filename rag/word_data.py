"""Word lists and patterns that are data: files with lines `key: words or a regular expression`."""

from pathlib import Path


def read_lines(path: Path) -> dict[str, list[str]]:
    """Return what follows each key, line by line. Lines that begin with # are comments."""
    lines_by_key: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            key, _, rest = line.partition(":")
            lines_by_key.setdefault(key.strip(), []).append(rest.strip())
    return lines_by_key


def read_patterns(path: Path) -> dict[str, str]:
    """Return a regular expression for each key, whose lines are the alternatives."""
    return {key: "|".join(lines) for key, lines in read_lines(path).items()}


def read_table(path: Path) -> dict[str, str]:
    """Return the key of each word."""
    return {word: key for key, lines in read_lines(path).items() for line in lines for word in line.split()}
