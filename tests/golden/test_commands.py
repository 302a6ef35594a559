"""The help of every management command of ours, and how commands end that are used wrongly."""

import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import ManagementUtility, get_commands

from tests.golden.comparing import assert_golden
from tests.support.environment import PROJECT

OUR_APPS = {
    config.name
    for config in apps.get_app_configs()
    if Path(config.path).is_relative_to(PROJECT) and "site-packages" not in config.path
}
OURS = sorted(name for name, app in get_commands().items() if app in OUR_APPS)
EVERY_COMMANDS = {
    "--help", "--version", "--verbosity", "--settings", "--pythonpath", "--traceback", "--no-color",
    "--force-color", "--skip-checks",
}  # fmt: skip
MISUSES = [
    ["ingest"],
    ["ingest", "a.md", "--chunk-size", "large"],
    ["create_api_key", "--scope", "odd", "reader"],
    ["create_api_key", "--expires", "never", "reader"],
    ["export_collection"],
    ["vector_index", "improve"],
    ["embedding_model", "improve"],
    ["evaluate"],
    ["explain"],
    ["no_such_command"],
]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """No option's help is broken into lines."""
    monkeypatch.setenv("COLUMNS", "1000")


def ran(*words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `manage.py words`, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            ManagementUtility(["manage.py", *words]).execute()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(bool(end.code))
    return code, out.getvalue(), err.getvalue()


def own_part(help_text: str) -> str:
    """Without the options that Django gives every command."""
    lines, left_out = [], False
    for line in help_text.splitlines():
        if line.startswith("usage:"):
            line = re.sub(r" \[--version\].*?\[--force-color\]( \[--skip-checks\])?", " […]", line)
        named = re.match(r"\s+(?:-\w(?: \S+)?, )?(--[\w-]+)", line)
        left_out = named[1] in EVERY_COMMANDS if named else left_out and line.startswith("    ")
        if not left_out:
            lines.append(line.rstrip())
    return "\n".join(lines)


@pytest.mark.parametrize("name", OURS)
def test_the_help_of_a_command(name: str):
    code, out, err = ran(name, "--help")
    assert err == ""
    assert_golden(f"commands/{name}.txt", f"exit code {code}\n\n{own_part(out)}")


def test_how_misused_commands_end():
    parts = []
    for words in MISUSES:
        code, out, err = ran(*words)
        said = (out + err).strip().splitlines()[-1]
        parts.append(f"$ manage.py {' '.join(words)}\nexit code {code}\n{said.partition(' (choose')[0]}")
    assert_golden("commands/misused.txt", "\n\n".join(parts))


@pytest.mark.parametrize("words", ["help --commands", "up --port x"])
def test_manage_py_itself(words: str):
    """A process of its own, as a user starts it."""
    done = subprocess.run(
        [sys.executable, "manage.py", *words.split()],
        cwd=PROJECT, env=dict(os.environ), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    said = [line for line in (done.stdout + done.stderr).splitlines() if "help" not in words or line in OURS]
    assert_golden(
        f"commands/manage-py-{words.replace(' --', '-').replace(' ', '-')}.txt",
        "\n".join([f"exit code {done.returncode}", *said]),
    )
