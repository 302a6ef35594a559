"""What a process that reads strangers' files could do, were it taken over: nothing but compute and answer."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from documents.extractors.sandbox import jail

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's filter is Linux's")
_ROOT = Path(jail.__file__).parents[2]
_ATTEMPTS = f"""
import os, signal, socket, sys
sys.path.insert(0, {str(_ROOT)!r})
folder = sys.argv[1]
attempts = {{
    "open": lambda: open(folder + "/secret").read(),
    "look": lambda: os.stat(folder + "/secret"),
    "list": lambda: os.listdir(folder),
    "delete": lambda: os.unlink(folder + "/secret"),
    "rename": lambda: os.rename(folder + "/secret", folder + "/known"),
    "make": lambda: os.mkdir(folder + "/new"),
    "link": lambda: os.symlink("/", folder + "/link"),
    "expose": lambda: os.chmod(folder + "/secret", 0o777),
    "connect": lambda: socket.socket(),
    "talk": lambda: socket.socketpair(),
    "fork": lambda: os.fork(),
    "run": lambda: os.execv("/bin/true", ["true"]),
    "end": lambda: os.kill(os.getppid(), signal.SIGTERM),
}}
"""
_IN_JAIL = """
from documents.extractors.sandbox.jail import lock_in
lock_in(cpu_s=10, user_s=0, wall_s=30, memory_bytes=1 << 30)
"""
_TRY = """
for name, attempt in attempts.items():
    try:
        attempt()
    except OSError:
        continue
    os.write(1, name.encode() + b" ")
"""
Attempt = Callable[[list[str]], set[str]]


@pytest.fixture
def succeeding(tmp_path: Path) -> Attempt:
    """Runs a command that tries all of them in a folder with a secret; returns what it could do."""
    (tmp_path / "secret").write_text("a")

    def run(command: list[str]) -> set[str]:
        done = subprocess.run([*command, str(tmp_path)], stdout=subprocess.PIPE, timeout=60, check=True)
        return set(done.stdout.decode().split())

    return run


def test_a_jailed_reader_reaches_nothing(succeeding: Attempt, tmp_path: Path) -> None:
    assert succeeding([sys.executable, "-c", _ATTEMPTS + _IN_JAIL + _TRY]) == set()
    assert os.listdir(tmp_path) == ["secret"]


def test_text_recognition_reads_but_changes_nothing_and_speaks_to_nobody(succeeding: Attempt) -> None:
    python = os.path.realpath(sys.executable)
    attempts = _ATTEMPTS + "del attempts['fork'], attempts['run']\n" + _TRY
    command = [sys.executable, "-I", "-S", str(jail.__file__), python, "-c", attempts]
    assert succeeding(command) == {"open", "look", "list"}
